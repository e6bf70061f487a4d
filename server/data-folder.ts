/** The data folder: whose it is, what lies in it, and the token of this start. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, realpath, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, codeOf, messageOf } from "@/lib/errors";
import { holdFolder, lockName, markerName, type HeldFolder } from "@/server/hosts/linux";
import { sampleParts, sampleRecordName } from "@/server/sample";

/** The node's root, where volumes lie. */
export const nodeFolderName = "node";

/**
 * What Voldeck makes in the data folder, in the order of removal. Marker and lock, which make the folder ours, go last; anything
 * else in it is the person's.
 */
const ownNames = [nodeFolderName, "apiserver", ...sampleParts, "token", sampleRecordName];
const ownPatterns = [/^journal\.sqlite(-wal|-shm|-journal)?$/, /^token\.\d+$/, /^\.voldeck-removed-/, /^\.voldeck-sample\.new$/];

/** Names of a data folder's entries, sorted into what Voldeck made and what it did not; without marker and lock. */
export function sortEntries(names: readonly string[]): { readonly own: readonly string[]; readonly others: readonly string[] } {
  const isOurs = (name: string) => ownNames.includes(name) || ownPatterns.some((pattern) => pattern.test(name));
  const rest = names.filter((name) => name !== markerName && !name.startsWith(lockName)).sort();
  const own = [...ownNames.filter((name) => rest.includes(name)), ...rest.filter((name) => isOurs(name) && !ownNames.includes(name))];
  return { own, others: rest.filter((name) => !isOurs(name)) };
}

/**
 * Makes the folder (0700) when missing, and holds it for this process. Throws AppError `precondition` when it is not ours: not
 * empty and without our marker, another user's, open to others (the token and the mounts below would be theirs too), or held by
 * another process.
 */
export async function openDataFolder(folder: string, uid: number): Promise<HeldFolder> {
  await requireOwner(folder, uid);
  return holdFolder(folder, 0o700);
}

async function requireOwner(folder: string, uid: number): Promise<void> {
  const found = await made(folder);
  if (!found.isDirectory()) throw new AppError("precondition", `${folder} is not a folder`);
  if (found.uid !== uid) throw new AppError("precondition", `${folder} belongs to another user (uid ${found.uid})`);
  if ((found.mode & 0o022) !== 0) throw new AppError("precondition", `${folder} can be written by others: chmod go-w ${folder}`);
}

async function made(folder: string) {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await stat(await realpath(folder));
  } catch (error) {
    throw new AppError("precondition", `the data folder can't be made or read: ${messageOf(error)}`, { cause: error });
  }
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
