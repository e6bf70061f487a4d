/** Absolute POSIX paths as texts. Nothing here touches a disk. */
import { posix } from "node:path";

export const joinPath = posix.join;
export const baseName = posix.basename;
export const parentOf = posix.dirname;

/** Cleaned and absolute; throws nothing: a relative path is taken from the root. */
export function cleanPath(path: string): string {
  const clean = posix.normalize(`/${path}`);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}

export function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** True for the folder itself and for everything below it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
