/** A node on this machine: the ports over real files, mounts and programs, below one data folder. */
import { AppError } from "@/lib/errors";
import { systemClock, systemRandom } from "@/server/hosts/clock";
import { nodeHash } from "@/server/hosts/hash";
import { StoppableExec } from "@/server/hosts/stoppable-exec";
import type { HostUtils, MountInterface } from "@/server/volume/mount";
import type { HostPorts, Log } from "@/server/volume/ports";
import { Access } from "./access";
import { LinuxBlockTools } from "./block-tools";
import { mountCapability } from "./capabilities";
import type { MountCapability } from "./capabilities";
import { LinuxExec } from "./exec";
import { LinuxFiles } from "./files";
import { ForeignCalls } from "./foreign-call";
import { linuxHostUtils } from "./host-utils";
import { systemInspector, trustedUids } from "./inspector";
import { LoopDevices } from "./loop";
import { LoopTable } from "./loop-table";
import { MountReader } from "./mount-reader";
import { LinuxMounter } from "./mounter";
import { NamespaceExec } from "./namespace-exec";
import { openDataFolder } from "./root";
import type { DataFolder } from "./root";
import { openUserNamespace } from "./user-namespace";
import type { UserNamespace } from "./user-namespace";
import { LinuxWatcher } from "./watcher";

export interface LinuxHostOptions {
  /** The data folder: made when missing, refused when it is somebody else's. */
  readonly root: string;
  /** Paths and devices that a person allowed (`--allow-path`, `--allow-device`). */
  readonly allowedPaths?: readonly string[];
  readonly allowedDevices?: readonly string[];
  readonly log: Log;
  /** Takes this way, without trying which is the best one. */
  readonly mode?: "root" | "user-namespace";
  readonly foreignTimeoutMs?: number;
  readonly rescanMs?: number;
}

export interface LinuxHost {
  readonly root: string;
  readonly capability: MountCapability;
  readonly ports: HostPorts;
  readonly mounter: MountInterface;
  readonly hostUtils: HostUtils;
  readonly access: Access;
  readonly loop: LoopDevices;
  readonly foreignCalls: ForeignCalls;
  readonly namespace: UserNamespace | undefined;
  /** Looks at any path, for the check of who could have written a driver. */
  readonly inspector: typeof systemInspector;
  readonly trustedUids: readonly number[];
  readonly longestDriverName: number;
  /** Cancels what plugins run, and resolves when it has ended; from now on none of it starts. Tools for devices run to their end. */
  stopPrograms(): Promise<void>;
  /** Gives the data folder up. Mounts stay, as they do when a kubelet ends; so does the holder of a user namespace. */
  close(): Promise<void>;
}

/** Throws AppError `precondition` when the folder is refused or no mount can be made here, with the reason. */
export async function createLinuxHost(options: LinuxHostOptions): Promise<LinuxHost> {
  const capability = options.mode === undefined ? await mountCapability(new LinuxExec(options.log)) : chosen(options.mode);
  if (capability.mode === "none") throw new AppError("precondition", `mounts are not possible here: ${capability.reason}`);
  const folder = await openDataFolder(options.root);
  try {
    return await hostIn(folder, capability, options);
  } catch (error) {
    await folder.release();
    throw error;
  }
}

function chosen(mode: "root" | "user-namespace"): MountCapability {
  return { mode, reason: "chosen", blockDevices: mode === "root" };
}

async function hostIn(folder: DataFolder, capability: MountCapability, options: LinuxHostOptions): Promise<LinuxHost> {
  const { root } = folder;
  const exec = new LinuxExec(options.log);
  const namespace = capability.mode === "user-namespace" ? await openUserNamespace(root, systemClock) : undefined;
  const prefix = namespace?.prefix ?? "";
  const { allowedPaths, allowedDevices } = options;
  const table = new LoopTable(root, exec);
  const access = await Access.create({ root, allowedPaths, allowedDevices, loops: table });
  const mounts = new MountReader(namespace?.holderPid ?? "self");
  const foreignCalls = new ForeignCalls({ log: options.log, timeoutMs: options.foreignTimeoutMs });
  const files = new LinuxFiles({ access, mounts, foreignCalls, exec, log: options.log, prefix });
  const blockTools = new LinuxBlockTools({ access, exec, mounts });
  const mounter = new LinuxMounter({ access, files, mounts, exec, blockTools, enter: namespace?.enter });
  const programs = new StoppableExec(namespace === undefined ? exec : new NamespaceExec(exec, namespace));
  const watcher = new LinuxWatcher({ access, prefix, rescanMs: options.rescanMs });
  return {
    root,
    capability,
    ports: {
      files,
      exec: programs,
      blockTools,
      watcher,
      clock: systemClock,
      random: systemRandom,
      hash: nodeHash,
      log: options.log,
    },
    mounter,
    hostUtils: linuxHostUtils(files, mounter),
    access,
    loop: new LoopDevices({ access, files, exec, table }),
    foreignCalls,
    namespace,
    inspector: systemInspector,
    trustedUids: trustedUids(),
    longestDriverName: folder.longestDriverName,
    stopPrograms: () => programs.stop(),
    close: async () => {
      foreignCalls.close();
      await folder.release();
    },
  };
}
