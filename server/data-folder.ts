/** The data folder: who owns it, and the token of this start. */
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, codeOf } from "@/lib/errors";

/**
 * Makes the folder (0700) when missing. Throws AppError `precondition` when it belongs to somebody else, is no folder, or
 * others may write to it: the token and the mounts below would be theirs too.
 */
export async function prepareDataFolder(folder: string, uid: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stat = await lstat(folder);
  if (!stat.isDirectory()) throw new AppError("precondition", `${folder} is not a folder`);
  if (stat.uid !== uid) throw new AppError("precondition", `${folder} belongs to another user (uid ${stat.uid})`);
  if ((stat.mode & 0o022) !== 0) throw new AppError("precondition", `${folder} can be written by others: chmod go-w ${folder}`);
}

/** A fresh 256-bit token, kept in the file `token` (0600), replaced whole. */
export async function writeToken(folder: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const path = join(folder, "token");
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, `${token}\n`, { mode: 0o600, flag: "wx" }).catch(async (error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
    await writeFile(fresh, `${token}\n`, { mode: 0o600 });
  });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
  return token;
}
