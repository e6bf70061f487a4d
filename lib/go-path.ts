/** Paths as Go's path/filepath treats them on Linux. Purely lexical. */

/** filepath.Clean: no double slashes, no `.`, no `..` that has something before it; "." when nothing is left. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith("/");
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!rooted) kept.push(part);
  }
  return `${rooted ? "/" : ""}${kept.join("/")}` || ".";
}

/** filepath.Join: empty elements are left out, the result is clean; "" when all are empty. */
export function joinPath(...elements: readonly string[]): string {
  const filled = elements.filter((element) => element !== "");
  return filled.length === 0 ? "" : cleanPath(filled.join("/"));
}

/** filepath.Dir: all but the last element, clean; "." for a bare name or nothing. */
export function dirName(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf("/") + 1));
}

/** filepath.Base: the last element without slashes after it; "." for "", "/" for slashes alone. */
export function baseName(path: string): string {
  if (path === "") return ".";
  const trimmed = path.replace(/\/+$/, "");
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** mount.PathWithinBase: whether a path is the base or lies below it. */
export function isPathWithin(path: string, base: string): boolean {
  const [inner, outer] = [cleanPath(path), cleanPath(base)];
  if (outer === "/") return inner.startsWith("/");
  return inner === outer || inner.startsWith(`${outer}/`);
}
