/** File calls at a place that was walked to, on a local file system. None follows a link at the end. */
import type { BigIntStats, Stats } from "node:fs";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { asFileError, fileError } from "@/server/hosts/file-errors";
import type { DirEntry, FileKind, FileStat, FsInfo } from "@/server/volume/ports";
import { deviceText, fsInfoOf } from "./foreign-answers";
import { directoryFlags } from "./walk";
import type { LocalPlace } from "./walk";

/** O_PATH, which Node does not name: a handle to the thing itself, good for chmod and statfs. */
export const pathFlag = 0o10000000;

export async function open(place: LocalPlace, flags: number): Promise<FileHandle> {
  return fs.open(place.at, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
}

export async function readDirectory(place: LocalPlace): Promise<readonly DirEntry[]> {
  const directory = await open(place, directoryFlags);
  try {
    const self = `/proc/self/fd/${directory.fd}`;
    const entries = await fs.readdir(self, { withFileTypes: true });
    return sortEntries(entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })));
  } finally {
    await directory.close();
  }
}

export async function readRegularFile(place: LocalPlace, shown: string): Promise<Uint8Array> {
  const { stat } = place;
  if (stat?.isDirectory() === true) throw fileError("read", shown, "EISDIR");
  const file = await open(place, constants.O_RDONLY);
  try {
    if (!(await file.stat()).isFile()) throw fileError("open", shown, "ENXIO");
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

export async function writeRegularFile(
  { place, shown }: { readonly place: LocalPlace; readonly shown: string },
  data: Uint8Array | string,
  mode: number,
): Promise<void> {
  if (place.stat?.isDirectory() === true) throw fileError("open", shown, "EISDIR");
  const file = await open(place, constants.O_WRONLY | constants.O_CREAT);
  try {
    if (!(await file.stat()).isFile()) throw fileError("open", shown, "ENXIO");
    await file.chmod(mode);
    await file.truncate(0);
    await file.writeFile(data).catch((error: unknown) => {
      throw asFileError(error, "write", shown);
    });
  } finally {
    await file.close();
  }
}

export async function createEmptyFile(place: LocalPlace, mode: number): Promise<void> {
  const file = await open(place, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

export async function makeDirectory(at: string, mode: number): Promise<void> {
  await fs.mkdir(at, mode);
  const made = await fs.lstat(at);
  // Only this process's own umask can have changed the mode; an inherited set-gid stays.
  if ((made.mode & 0o777) !== (mode & 0o777)) await changeMode(at, (made.mode & 0o7000) | mode);
}

/** There is no chmod that refuses links: a handle to the thing itself stands in. */
export async function changeMode(at: string, mode: number): Promise<void> {
  const handle = await fs.open(at, pathFlag | constants.O_NOFOLLOW);
  try {
    if ((await handle.stat()).isSymbolicLink()) throw Object.assign(new Error("a link"), { code: "ELOOP" });
    await fs.chmod(`/proc/self/fd/${handle.fd}`, mode);
  } finally {
    await handle.close();
  }
}

export async function unlinkAt(place: LocalPlace): Promise<void> {
  if (place.stat?.isDirectory() === true) throw Object.assign(new Error("a directory"), { code: "EISDIR" });
  await fs.unlink(place.at);
}

export async function statFileSystem(place: LocalPlace): Promise<FsInfo> {
  const handle = await fs.open(place.at, pathFlag | constants.O_NOFOLLOW);
  try {
    const stat = await fs.statfs(`/proc/self/fd/${handle.fd}`, { bigint: true });
    return fsInfoOf({ ...stat });
  } finally {
    await handle.close();
  }
}

export function statOf(stat: BigIntStats): FileStat {
  return {
    kind: kindOf(stat),
    mode: Number(stat.mode & 0o7777n),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    sizeBytes: stat.size,
    modifiedMs: Number(stat.mtimeMs),
    device: deviceText(stat.dev),
    ...(stat.isBlockDevice() || stat.isCharacterDevice() ? { deviceNumber: deviceText(stat.rdev) } : {}),
    inode: stat.ino,
  };
}

type KindAnswers = Pick<
  Stats,
  "isFile" | "isDirectory" | "isSymbolicLink" | "isSocket" | "isFIFO" | "isBlockDevice" | "isCharacterDevice"
>;

export function kindOf(entry: KindAnswers): FileKind {
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isSocket()) return "socket";
  if (entry.isFIFO()) return "fifo";
  if (entry.isBlockDevice()) return "block-device";
  return entry.isCharacterDevice() ? "char-device" : "file";
}

export function sortEntries(entries: readonly DirEntry[]): readonly DirEntry[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}
