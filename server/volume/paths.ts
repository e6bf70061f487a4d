/** Names inside paths. Source: k8s.io/utils/strings/escape.go. */

/** A plugin's or driver's name as one element of a path. */
export function escapeQualifiedName(name: string): string {
  return name.replaceAll("/", "~");
}

/** The inverse, as far as there is one: a `~` of the name itself becomes a slash too. */
export function unescapeQualifiedName(name: string): string {
  return name.replaceAll("~", "/");
}

/** The first two elements between slashes; a name without a slash is all second element. */
export function splitQualifiedName(name: string): readonly [string, string] {
  const [first = "", second] = name.split("/");
  return second === undefined ? ["", first] : [first, second];
}
