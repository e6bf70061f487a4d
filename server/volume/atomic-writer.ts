/**
 * Writes a set of files so that a reader sees either all of the old or all of the new ones. The files lie in a directory named after the
 * time; `..data` is a link to it and is swapped by one rename; each file or folder at the top is a link through `..data`.
 * Source: pkg/volume/util/atomic_writer.go of v1.37.2. Ours also clears away what a killed write left.
 */
import { equalBytes, utf8Bytes } from "@/lib/bytes";
import { codeOf } from "@/lib/errors";
import { cleanPath } from "@/lib/go-path";
import { goQuote } from "@/lib/go-text";
import { utf8Length } from "@/lib/names";
import { VolumeError } from "@/server/volume/errors";
import { removePath } from "@/server/volume/mount-cleanup";
import type { Files, HostPorts } from "@/server/volume/ports";

export interface FileProjection {
  readonly data: Uint8Array | string;
  /** Permission bits. */
  readonly mode: number;
  /** Owner of the file; unchanged when absent. */
  readonly fsUser?: number;
}

/** Files by their path below the volume. */
export type Payload = ReadonlyMap<string, FileProjection>;

type WriterPorts = Pick<HostPorts, "files" | "clock" | "random">;

const dataDirName = "..data";
const newDataDirName = "..data_tmp";
const timestampDir = /^\.\.\d{4}_\d{2}_\d{2}_\d{2}_\d{2}_\d{2}\.\d+$/;
const maxPathBytes = 4096;
const maxFileNameBytes = 255;

export interface AtomicWrite {
  /** Must be there. */
  readonly targetDir: string;
  readonly payload: Payload;
  /** Runs once the new files are written and before anybody sees them; not when nothing changed. */
  readonly setPermissions?: () => Promise<void>;
}

/**
 * Nothing is written when the content of every file is what is there; missing links come back all the same. A change of modes alone is not
 * seen. Throws VolumeError for a path that is not allowed, else the error of the file system.
 */
export async function writeAtomically(ports: WriterPorts, write: AtomicWrite): Promise<void> {
  const { files } = ports;
  const { targetDir } = write;
  const payload = validPayload(write.payload);
  const oldName = await readCurrent(files, targetDir);
  await clearKilledWrites(files, targetDir, oldName);

  const oldDir = oldName === undefined ? undefined : `${targetDir}/${oldName}`;
  const stale = oldDir === undefined ? new Set<string>() : await stalePaths(files, oldDir, payload);
  const changed = oldDir === undefined || (await contentDiffers(files, oldDir, payload)) || stale.size > 0;
  if (changed) await writeNew(ports, { ...write, payload });

  await makeVisible(files, targetDir, payload);
  for (const name of stale) if (!name.includes("/")) await removePath(files, `${targetDir}/${name}`);
  if (changed && oldDir !== undefined) await files.removeAll(oldDir);
}

/** The payload under clean paths. Throws VolumeError for the first path that is not allowed. */
export function validPayload(payload: Payload): Payload {
  const clean = new Map<string, FileProjection>();
  for (const [path, file] of payload) {
    validatePath(path);
    clean.set(cleanPath(path), file);
  }
  return clean;
}

function validatePath(path: string): void {
  const invalid = (what: string): VolumeError => new VolumeError(`invalid path: must ${what}`);
  if (path === "") throw invalid(`not be empty: ${goQuote(path)}`);
  if (path.startsWith("/")) throw invalid(`be relative path: ${path}`);
  if (utf8Length(path) > maxPathBytes) throw invalid(`be less than or equal to ${maxPathBytes} characters`);
  const parts = path.split("/");
  for (const part of parts) {
    if (part === "..") throw invalid(`not contain '..': ${path}`);
    if (utf8Length(part) > maxFileNameBytes) {
      throw new VolumeError(`invalid path: filenames must be less than or equal to ${maxFileNameBytes} characters`);
    }
  }
  if (parts[0]?.startsWith("..")) throw invalid(`not start with '..': ${path}`);
}

/**
 * The name that `..data` points to; undefined before the first write. A link that leads elsewhere is none of ours, and is replaced: what it
 * names would be removed as the old data.
 */
async function readCurrent(files: Files, targetDir: string): Promise<string | undefined> {
  try {
    const name = await files.readLink(`${targetDir}/${dataDirName}`);
    return timestampDir.test(name) ? name : undefined;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Directories and links that a write made and, killed, did not take away. A killed write would otherwise block or litter the next. */
async function clearKilledWrites(files: Files, targetDir: string, current: string | undefined): Promise<void> {
  for (const { name, kind } of await files.readDir(targetDir)) {
    const path = `${targetDir}/${name}`;
    if (kind === "directory" && timestampDir.test(name) && name !== current) await files.removeAll(path);
    if (kind === "symlink" && (name === newDataDirName || (await pointsNowhere(files, path, name)))) await files.unlink(path);
  }
}

/** A link of ours whose file is no longer in the data. */
async function pointsNowhere(files: Files, path: string, name: string): Promise<boolean> {
  if ((await files.readLink(path)) !== `${dataDirName}/${name}`) return false;
  return (await files.stat(path)) === undefined;
}

/** Paths below the old data that the new payload does not have, folders included. */
async function stalePaths(files: Files, oldDir: string, payload: Payload): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (const file of payload.keys()) {
    for (let path = file; path !== ""; path = path.slice(0, Math.max(path.lastIndexOf("/"), 0))) kept.add(path);
  }
  const stale = new Set<string>();
  await walk("");
  return stale;

  async function walk(folder: string): Promise<void> {
    const entries = await files.readDir(folder === "" ? oldDir : `${oldDir}/${folder}`).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    for (const { name, kind } of entries) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (!kept.has(path)) stale.add(path);
      if (kind === "directory") await walk(path);
    }
  }
}

async function contentDiffers(files: Files, oldDir: string, payload: Payload): Promise<boolean> {
  for (const [path, { data }] of payload) {
    const full = `${oldDir}/${path}`;
    // A look that fails for another reason than absence fails again, with its own words, when the file is read.
    if (await files.lstat(full).then((stat) => stat === undefined, () => false)) return true;
    const wanted = typeof data === "string" ? utf8Bytes(data) : data;
    if (!equalBytes(wanted, await files.readFile(full))) return true;
  }
  return false;
}

async function writeNew(ports: WriterPorts, { targetDir, payload, setPermissions }: AtomicWrite): Promise<void> {
  const { files } = ports;
  const name = timestampName(ports);
  const dir = `${targetDir}/${name}`;
  await files.mkdirAll(dir, 0o755);
  await files.chmod(dir, 0o755);
  for (const [path, file] of payload) await writeFile(files, `${dir}/${path}`, file);
  await setPermissions?.();

  const newLink = `${targetDir}/${newDataDirName}`;
  try {
    await files.symlink(name, newLink);
    await files.rename(newLink, `${targetDir}/${dataDirName}`);
  } catch (error) {
    await removePath(files, newLink).catch(() => undefined);
    await files.removeAll(dir).catch(() => undefined);
    throw error;
  }
}

async function writeFile(files: Files, path: string, { data, mode, fsUser }: FileProjection): Promise<void> {
  const clean = cleanPath(path);
  await files.mkdirAll(clean.slice(0, clean.lastIndexOf("/")), 0o777);
  await files.writeFile(clean, data, mode & 0o777);
  if (fsUser !== undefined) await files.chown(clean, fsUser, -1);
}

/** `..2026_07_21_10_30_00.123456789`, in UTC. */
function timestampName({ clock, random }: WriterPorts): string {
  const time = new Date(clock.nowMs()).toISOString().slice(0, 19).replace(/[-:T]/g, "_");
  return `..${time}.${Math.floor(random.next() * 2 ** 32)}`;
}

async function makeVisible(files: Files, targetDir: string, payload: Payload): Promise<void> {
  const names = new Set([...payload.keys()].map((path) => path.split("/", 1)[0] ?? path));
  for (const name of names) {
    const link = `${targetDir}/${name}`;
    if (!(await files.lstat(link))) await files.symlink(`${dataDirName}/${name}`, link);
  }
}
