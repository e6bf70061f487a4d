/** The data folder: ours by its marker file, never a kubelet's, and held by one process at a time. */
import { chmod, mkdir, readdir, readFile, realpath, unlink, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { AppError, codeOf } from "@/lib/errors";
import { joinPath } from "@/server/hosts/paths";
import { lockFile, unlockFile } from "./file-lock";
import { identityOf, isRunning, processIdentitySchema } from "./process-identity";
import type { ProcessIdentity } from "./process-identity";

export const markerName = ".voldeck-root";
export const lockName = ".voldeck-lock";
const markerText = `${JSON.stringify({ application: "voldeck", format: 1 })}\n`;
/** Files that only a kubelet's folder has. */
const kubeletNames = [
  "actuated_pods_state",
  "allocated_pods_state",
  "checkpoints",
  "cpu_manager_state",
  "device-plugins",
  "dra_manager_state",
  "kubeadm-flags.env",
  "memory_manager_state",
  "pki",
  "pod-resources",
  "pod_status_manager_state",
];
/** sun_path holds 108 bytes, the last of them a zero. */
const socketPathBytes = 107;
/** Long enough for the names of real drivers; shorter is refused at start instead of failing at the first socket. */
const shortestDriverName = 20;

/** A folder that carries our marker and is held by this process. */
export interface HeldFolder {
  /** Absolute, without links. */
  readonly root: string;
  /** Gives the folder up for another process. */
  release(): Promise<void>;
}

export interface DataFolder extends HeldFolder {
  /** How long a CSI driver's name may be, in bytes, for its socket path to fit. */
  readonly longestDriverName: number;
}

/**
 * Makes or opens the folder that a node's volumes lie in. Throws AppError `precondition` when the folder is somebody else's (not empty and
 * without our marker, or with a kubelet's files), when its path is too long for the sockets in it, or when another process holds it.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const root = await madeFolder(path, 0o750);
  const longestDriverName = socketPathBytes - Buffer.byteLength(joinPath(root, "plugins", "/", "csi.sock")) - 1;
  if (longestDriverName < shortestDriverName) {
    throw new AppError(
      "precondition",
      `the data folder's path is too long: a CSI socket below ${root} would pass ${socketPathBytes} bytes; choose a shorter path`,
    );
  }
  return { ...(await held(root, 0o750)), longestDriverName };
}

/**
 * Makes or opens any folder of ours; a folder that was empty gets the mode. Throws AppError `precondition` when it is somebody else's or
 * another process holds it.
 */
export async function holdFolder(path: string, mode: number): Promise<HeldFolder> {
  return held(await madeFolder(path, mode), mode);
}

async function madeFolder(path: string, mode: number): Promise<string> {
  if (!path.startsWith("/")) throw new AppError("invalid", `the data folder must be an absolute path, not ${path}`);
  await mkdir(path, { recursive: true, mode });
  const root = await realpath(path);
  if (root === "/") throw new AppError("precondition", "the data folder can't be the root of the file system");
  return root;
}

async function held(root: string, mode: number): Promise<HeldFolder> {
  await requireOurs(root, mode);
  const lock = joinPath(root, lockName);
  const file = await takeLock(lock, root);
  return {
    root,
    release: async () => {
      await unlink(lock).catch(keepMissing);
      await unlockFile(file);
    },
  };
}

function keepMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

/** Writes the marker into an empty folder; refuses a folder that is not ours. */
async function requireOurs(root: string, mode: number): Promise<void> {
  // A lock alone is what a removal that was cut short leaves.
  const names = (await readdir(root)).filter((name) => !name.startsWith(lockName));
  const foreign = names.find((name) => kubeletNames.includes(name));
  if (foreign !== undefined) {
    throw new AppError("precondition", `${root} holds ${foreign}, a kubelet's file: Voldeck never works in a kubelet's folder`);
  }
  if (names.includes(markerName)) {
    const marker = await readFile(joinPath(root, markerName), "utf8");
    if (marker === markerText) return;
    throw new AppError("precondition", `${joinPath(root, markerName)} is not a marker that this version knows`);
  }
  if (names.length > 0) {
    throw new AppError("precondition", `${root} is not empty and has no ${markerName}: choose an empty folder or one made by Voldeck`);
  }
  await writeFile(joinPath(root, markerName), markerText, { flag: "wx", mode: 0o644 }).catch((error: unknown) => {
    // Another process found it empty at the same moment; the lock tells who gets it.
    if (codeOf(error) !== "EEXIST") throw error;
  });
  await chmod(root, mode);
}

/** The kernel keeps the lock; the text in it is for people, and for versions that had only the text. */
async function takeLock(lock: string, root: string): Promise<FileHandle> {
  const own = await identityOf(process.pid);
  if (own === undefined) throw new AppError("internal", "/proc does not show this process");
  const file = await lockFile(lock);
  if (file === undefined) throw await inUse(root, await readHolder(lock));
  try {
    const holder = await readHolder(lock);
    if (holder !== undefined && holder.pid !== own.pid && (await isRunning(holder))) throw await inUse(root, holder);
    await file.truncate(0);
    await file.write(`${JSON.stringify(own)}\n`, 0);
    return file;
  } catch (error) {
    await unlockFile(file);
    throw error;
  }
}

/** A process of another PID namespace has a number there that means another one here, or none. */
async function inUse(root: string, holder: ProcessIdentity | undefined): Promise<AppError> {
  const isSeen = holder !== undefined && (await isRunning(holder));
  const who = isSeen ? `process ${holder.pid}` : "another process, which can't be seen from here";
  return new AppError("precondition", `${root} is in use by ${who}`);
}

/** Who the text names; undefined for a text that was cut short or is none of ours. */
async function readHolder(lock: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(lock, "utf8").catch(keepMissing);
  try {
    return text === undefined ? undefined : processIdentitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
