/** Paths of pods on Windows nodes, as far as the API's users see them. Source: pkg/volume/util/util.go of v1.37.2. */
import { cleanPath } from "@/lib/go-path";

/** `/var/lib` becomes `c:\\var\\lib`. */
export function getWindowsPath(path: string): string {
  const windowsPath = path.replaceAll("/", "\\");
  return windowsPath.startsWith("\\") ? `c:${windowsPath}` : windowsPath;
}

/** `\\\\server\\share`, a pipe or the like; only on Windows. */
export function isWindowsUNCPath(goos: string, path: string): boolean {
  return goos === "windows" && path.startsWith("\\\\");
}

/** A path from the root of a drive that it does not name; only on Windows. */
export function isWindowsLocalPath(goos: string, path: string): boolean {
  if (goos !== "windows" || isWindowsUNCPath(goos, path) || path.includes(":")) return false;
  return path.startsWith("/") || path.startsWith("\\");
}

export function makeAbsolutePath(goos: string, path: string): string {
  if (goos !== "windows") return cleanPath(`/${path}`);
  if (path.includes(":")) return path;
  return path.startsWith("/") || path.startsWith("\\") ? `c:${path}` : `c:\\${path}`;
}
