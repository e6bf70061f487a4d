/**
 * Looks at any path of the machine, and only looks: who owns the folders above a driver is asked of paths outside of what this program may
 * touch. No content is read.
 */
import { lstat, realpath } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { asFileError } from "@/server/hosts/file-errors";
import type { Files } from "@/server/volume/ports";
import { statOf } from "./local-files";

export const systemInspector: Pick<Files, "lstat" | "realPath"> = {
  async lstat(path) {
    try {
      return statOf(await lstat(path, { bigint: true }));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw asFileError(error, "lstat", path);
    }
  },

  async realPath(path) {
    return realpath(path).catch((error: unknown) => {
      throw asFileError(error, "lstat", path);
    });
  },
};

/** Whose programs this process may run: root's and its own user's. */
export function trustedUids(): readonly number[] {
  return [...new Set([0, process.geteuid?.() ?? 0])];
}
