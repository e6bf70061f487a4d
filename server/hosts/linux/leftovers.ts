/**
 * What a node's work left on this machine below a data folder: mounts, loop devices, and the processes that keep a user namespace. Found
 * by looking, so that it holds after a crash too.
 */
import { readdir, readFile, readlink } from "node:fs/promises";
import { AppError, codeOf, messageOf } from "@/lib/errors";
import { systemClock } from "@/server/hosts/clock";
import { isWithin, joinPath } from "@/server/hosts/paths";
import type { MountInfo } from "@/server/volume/mount";
import type { Log } from "@/server/volume/ports";
import { Access } from "./access";
import { LinuxBlockTools } from "./block-tools";
import { LinuxExec } from "./exec";
import { LinuxFiles } from "./files";
import { ForeignCalls } from "./foreign-call";
import { LoopDevices } from "./loop";
import type { LoopDevice } from "./loop";
import { LoopTable } from "./loop-table";
import { MountReader } from "./mount-reader";
import { LinuxMounter } from "./mounter";
import { identityOf, isRunning } from "./process-identity";
import type { ProcessIdentity } from "./process-identity";
import { findHolder } from "./user-namespace";

export interface LeftoverProcess {
  readonly pid: number;
  readonly name: string;
}

export interface Leftovers {
  /** Of this machine's mount table, in the order they were mounted. */
  readonly mounts: readonly MountInfo[];
  /** In the user namespace; they go with its last process. */
  readonly namespaceMounts: readonly MountInfo[];
  readonly processes: readonly LeftoverProcess[];
  readonly loops: readonly LoopDevice[];
  /** Why nothing may be undone: mounts below the folder, or of our disks, that are not ours. */
  readonly obstacles: readonly string[];
  readonly files: LinuxFiles;
  /**
   * Unmounts, ends the processes, and detaches, in this order; what is gone already is no failure. Throws AppError `precondition`, naming
   * what stayed, when something is in use; then the rest was not begun.
   */
  undo(): Promise<void>;
  close(): void;
}

export interface LeftoverPlaces {
  /** Absolute, without links. */
  readonly data: string;
  /** The node's root below it. */
  readonly node: string;
}

/** Folders of a node's root that only this program mounts in. */
const mountFolders = ["pods", "plugins"];
const waitMs = 5000;
const pollMs = 20;

export async function findLeftovers({ data, node }: LeftoverPlaces, log: Log): Promise<Leftovers> {
  const exec = new LinuxExec(log);
  const loopTable = new LoopTable(data, exec);
  const access = await Access.create({ root: data, loops: loopTable });
  const mountReader = new MountReader();
  const foreignCalls = new ForeignCalls({ log });
  const files = new LinuxFiles({ access, mounts: mountReader, foreignCalls, exec, log });
  const mounter = new LinuxMounter({ access, files, mounts: mountReader, exec, blockTools: new LinuxBlockTools({ access, exec, mounts: mountReader }) });
  const loop = new LoopDevices({ access, files, exec, table: loopTable });

  const table = await mountReader.read();
  const below = table.filter((row) => row.mountPoint !== data && isWithin(data, row.mountPoint));
  const mounts = below.filter((row) => mountFolders.some((name) => row.mountPoint.startsWith(`${joinPath(node, name)}/`)));
  const loops = await loop.list();
  const holder = await findHolder(node);
  const identities = holder === undefined ? [] : await processesBeside(holder);
  return {
    mounts,
    loops,
    files,
    namespaceMounts: holder === undefined ? [] : await mountsOnlyIn(holder, { table, data }),
    processes: identities.map(({ identity, name }) => ({ pid: identity.pid, name })),
    obstacles: [
      ...below.filter((row) => !mounts.includes(row)).map((row) => `${row.mountPoint} is a mount that Voldeck did not make`),
      ...loops.flatMap(({ device }) =>
        table
          .filter((row) => row.source === device && !isWithin(data, row.mountPoint))
          .map((row) => `${device} is mounted on ${row.mountPoint}, which Voldeck did not do`),
      ),
    ],
    undo: async () => {
      await forEachOf([...mounts].reverse(), ({ mountPoint }) => mounter.unmount(mountPoint));
      await forEachOf([...mounts].reverse(), ({ mountPoint }) => removeMountPoint(files, mountPoint));
      await forEachOf(identities, ({ identity }) => end(identity));
      await forEachOf(loops, ({ device }) => detachWhenFree(loop, device));
      // The kernel puts the detaching of a device that is open off to its last user.
      const stillThere = await until(async () => ((await loop.list()).length === 0 ? undefined : loop.list()));
      if (stillThere) throw inUse(stillThere.map(({ device, file }) => `${device} over ${file} is in use`));
    },
    close: () => foreignCalls.close(),
  };
}

/**
 * With it go the copies of the mount in other namespaces, such as a container runtime's: they would keep its device busy. What is not
 * empty is left for whoever removes the rest.
 */
async function removeMountPoint(files: LinuxFiles, mountPoint: string): Promise<void> {
  try {
    const { kind } = await files.lstat(mountPoint) ?? {};
    if (kind === "directory") await files.rmdir(mountPoint);
    else if (kind === "file") await files.unlink(mountPoint);
  } catch (error) {
    if (codeOf(error) !== "ENOTEMPTY") throw error;
  }
}

/** The mounts of a namespace go a moment after its last process. */
async function detachWhenFree(loop: LoopDevices, device: string): Promise<void> {
  const busy = await until(async () => {
    try {
      await loop.detach(device);
      return undefined;
    } catch (error) {
      if (codeOf(error) === "EBUSY") return error;
      throw error;
    }
  });
  if (busy) throw busy;
}

/** Everything is tried, so that the person sees all that is in the way at once. */
async function forEachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const item of items) await act(item).catch((error: unknown) => void failures.push(messageOf(error)));
  if (failures.length > 0) throw inUse(failures);
}

function inUse(failures: readonly string[]): AppError {
  return new AppError("precondition", failures.join("\n"));
}

/** By pid and start time; a process that ended meanwhile is as good as ended. */
async function end(identity: ProcessIdentity): Promise<void> {
  if (!(await isRunning(identity))) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
  const left = await until(async () => ((await isRunning(identity)) ? identity : undefined));
  if (left) throw inUse([`process ${identity.pid} does not end`]);
}

/** Asks until nothing is left; else what was left at the end. */
async function until<T>(left: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = systemClock.nowMs() + waitMs;
  for (;;) {
    const answer = await left();
    if (answer === undefined || systemClock.nowMs() > deadline) return answer;
    await systemClock.sleep(pollMs);
  }
}

/** The holder, and what drivers left running in its namespace; the holder last. */
async function processesBeside(holder: ProcessIdentity): Promise<readonly { identity: ProcessIdentity; name: string }[]> {
  const namespaceOf = (pid: string | number) => readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined);
  const namespace = await namespaceOf(holder.pid);
  const found: { identity: ProcessIdentity; name: string }[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    if (namespace === undefined || Number(pid) === holder.pid || (await namespaceOf(pid)) !== namespace) continue;
    const identity = await identityOf(Number(pid));
    if (identity) found.push({ identity, name: await nameOf(identity) });
  }
  return [...found, { identity: holder, name: await nameOf(holder) }];
}

async function nameOf({ pid }: ProcessIdentity): Promise<string> {
  return (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
}

/** A new namespace begins with a copy of the machine's table. */
async function mountsOnlyIn(holder: ProcessIdentity, { table, data }: { table: readonly MountInfo[]; data: string }): Promise<readonly MountInfo[]> {
  const copied = new Set(table.map(placeOf));
  const rows = await new MountReader(holder.pid).read();
  return rows.filter((row) => isWithin(data, row.mountPoint) && !copied.has(placeOf(row)));
}

function placeOf({ mountPoint, device, root }: MountInfo): string {
  return JSON.stringify([mountPoint, device, root]);
}
