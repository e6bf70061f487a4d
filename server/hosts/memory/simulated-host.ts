/** The machine of a node that is only simulated: files and mounts in memory, the time and the log those of the process. */
import type { HostUtils, MountInterface } from "@/server/volume/mount";
import { FileError, type Clock, type Exec, type HostPorts, type Log, type Random } from "@/server/volume/ports";
import { MemoryFiles, type Seed } from "./files";
import { memoryPorts } from "./memory-host";

export interface SimulatedHostOptions {
  readonly rootDir: string;
  readonly allowedPaths: readonly string[];
  readonly allowedDevices: readonly string[];
  /** What lies on its disk at the start. */
  readonly files: Readonly<Record<string, Seed>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface SimulatedHost {
  readonly ports: HostPorts;
  readonly mounter: MountInterface;
  readonly hostUtils: HostUtils;
  /** Sees all of the tree, whatever the limits. */
  readonly inspector: MemoryFiles;
}

export function createSimulatedHost({ rootDir, clock, random, log, ...options }: SimulatedHostOptions): SimulatedHost {
  const allowedPaths = [rootDir, ...options.allowedPaths];
  const { ports, mounter, hostUtils, files, tree } = memoryPorts({ ...options, rootDir, allowedPaths }, { clock, random, log, exec: programsDoNotRun });
  files.seed({ [rootDir]: { kind: "directory" }, ...options.files });
  return { ports, mounter, hostUtils, inspector: new MemoryFiles({ tree }) };
}

/** Programs would act on the real machine, which a simulated node never touches. */
export const programsDoNotRun: Exec = {
  run: async (command) => {
    throw new FileError("ENOSYS", `${command} is not run: this node is simulated and runs no programs`, command);
  },
};
