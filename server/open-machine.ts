/** What mounts here: root or a user namespace of this machine, or memory, plainly labelled simulated. */
import { join } from "node:path";
import type { NodeReport } from "@/lib/node-report";
import { createLinuxHost, systemInspector, trustedUids } from "@/server/hosts/linux";
import { createMemoryHost } from "@/server/hosts/memory";
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
  return options.simulated ? simulated(root) : linux(root, options, log);
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
    loop: capability.blockDevices ? host.loop : { missing: "loop devices need root" },
    stopPrograms: () => host.stopPrograms(),
    close: () => host.close(),
  };
}

function simulated(root: string): Machine {
  const { ports, mounter, hostUtils, files } = createMemoryHost({ rootDir: root });
  return {
    root,
    mode: "simulated",
    ports,
    mounter,
    hostUtils,
    checkDriver: newDriverCheck(files, [0]),
    loop: { missing: "loop devices are not simulated" },
    stopPrograms: async () => {},
    close: async () => {},
  };
}
