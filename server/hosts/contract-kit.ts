/** What the contract suites need of a host, whichever it is. Only tests import this. */
import { afterAll, it } from "vitest";
import type { MountInterface } from "@/server/volume/mount";
import type { FileKind, HostPorts } from "@/server/volume/ports";

export const programNames = [
  "echo-args", "exit-3", "noisy", "both-streams", "where", "hang", "stubborn", "stubborn-child", "killed", "leaves-daemon", "reads-input", "not-executable",
] as const;
export type ProgramName = (typeof programNames)[number];

export interface ContractHost {
  /** An empty folder of the host's own. */
  readonly root: string;
  /** The allowed folder that it lies in, or is. */
  readonly allowedRoot: string;
  /** An existing folder that nobody allowed. */
  readonly outside: string;
  readonly ports: HostPorts;
  readonly mounter: MountInterface;
  program(name: ProgramName): string;
  putSpecial(path: string, kind: FileKind): Promise<void>;
  makeDevice(sizeBytes: bigint): Promise<string>;
  growDevice(device: string, sizeBytes: bigint): Promise<void>;
  /** Writes bytes that no tool recognises into the first or the last MiB. */
  scribble(device: string, where: "start" | "end"): Promise<void>;
  /** Makes a block device that nobody allowed. */
  foreignDevice(): Promise<string>;
  /** Takes everything down; throws when a test left something mounted. */
  cleanUp(): Promise<void>;
}

export interface ContractFactory {
  readonly name: string;
  create(): Promise<ContractHost>;
  /** Why mounts, or devices, can't be tested here. */
  readonly withoutMounts?: string;
  readonly withoutDevices?: string;
}

export type Case = (name: string, run: (host: ContractHost) => Promise<void>) => void;

/** A counter of cases: each gets a host of its own, cleaned up afterwards. The number is printed at the end of the port's suite. */
export function casesOf(port: string, factory: ContractFactory, reason: string | undefined): Case {
  let count = 0;
  afterAll(() => {
    console.log(`contract ${factory.name}: ${port} ${count} cases${reason === undefined ? "" : `, skipped: ${reason}`}`);
  });
  return (name, run) => {
    count += 1;
    it.skipIf(reason !== undefined)(name, async () => {
      const host = await factory.create();
      try {
        await run(host);
      } finally {
        await host.cleanUp();
      }
    });
  };
}

export const mebibyte = 1n << 20n;
