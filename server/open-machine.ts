/** What mounts here: root or a user namespace of this machine, or memory, plainly labelled simulated. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "@/lib/errors";
import type { NodeReport } from "@/lib/node-report";
import { systemClock, systemRandom } from "@/server/hosts/clock";
import { createLinuxHost, systemInspector, trustedUids } from "@/server/hosts/linux";
import { createSimulatedHost, type Seed } from "@/server/hosts/memory";
import type { LoopPort } from "@/server/node/loop-disks";
import type { Options } from "@/server/options";
import type { HostUtils, MountInterface } from "@/server/volume/mount";
import { newDriverCheck } from "@/server/volume/plugins/flexvolume/driver-check";
import type { HostPorts, Log } from "@/server/volume/ports";

export interface Machine {
  readonly root: string;
  readonly mode: NodeReport["mounter"];
  readonly ports: HostPorts;
  readonly mounter: MountInterface;
  readonly hostUtils: HostUtils;
  readonly checkDriver: ReturnType<typeof newDriverCheck>;
  readonly loop: LoopPort | { readonly missing: string };
  /** Cancels what plugins run, such as a driver that hangs. */
  stopPrograms(): Promise<void>;
  close(): Promise<void>;
}

export async function openMachine(options: Options, log: Log): Promise<Machine> {
  const root = join(options.dataFolder, "node");
  return options.simulated ? simulated(root, options, log) : linux(root, options, log);
}

async function linux(root: string, options: Options, log: Log): Promise<Machine> {
  const host = await createLinuxHost({
    root,
    allowedPaths: [join(options.dataFolder, "flexvolume"), ...options.allowPaths],
    allowedDevices: options.allowDevices,
    log,
  });
  const { capability, ports } = host;
  return {
    root: host.root,
    mode: capability.mode === "root" ? "root" : "user namespace",
    ports,
    mounter: host.mounter,
    hostUtils: host.hostUtils,
    checkDriver: newDriverCheck(systemInspector, trustedUids()),
    loop: capability.blockDevices ? host.loop : { missing: "a loop device needs root" },
    stopPrograms: () => host.stopPrograms(),
    close: () => host.close(),
  };
}

/** The same limits as on the real machine, which is read once, for the names of its drivers, and never changed. */
async function simulated(root: string, options: Options, log: Log): Promise<Machine> {
  const drivers = join(options.dataFolder, "flexvolume");
  const { ports, mounter, hostUtils, inspector } = createSimulatedHost({
    rootDir: root,
    allowedPaths: [drivers, ...options.allowPaths],
    allowedDevices: options.allowDevices,
    files: await driverSeeds(drivers),
    clock: systemClock,
    random: systemRandom,
    log,
  });
  return {
    root,
    mode: "simulated",
    ports,
    mounter,
    hostUtils,
    checkDriver: newDriverCheck(inspector, [0]),
    loop: { missing: "loop devices are not simulated" },
    stopPrograms: async () => {},
    close: async () => {},
  };
}

/** Files without what is in them: no driver runs. No link is followed. */
async function driverSeeds(folder: string): Promise<Record<string, Seed>> {
  const seeds: Record<string, Seed> = {};
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) seeds[path] = { kind: "directory" };
    if (entry.isFile()) seeds[path] = { kind: "file", mode: (await stat(path)).mode & 0o755 };
  }
  return seeds;
}
