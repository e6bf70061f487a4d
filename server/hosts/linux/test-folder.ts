/** Folders for tests of this machine. Short paths: a data folder must leave room for socket paths. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function isolatedFolder(): string {
  return mkdtempSync(join(realpathSync(tmpdir()), "vd-"));
}

/** Deletes a test's folder, on its own file system only. */
export function removeFolder(folder: string): void {
  execFileSync("rm", ["-rf", "--one-file-system", "--", folder]);
}
