/** Loop devices over files of the data folder. */
import { fileError, refusedError } from "@/server/hosts/file-errors";
import { VolumeError } from "@/server/volume/errors";
import type { Exec, ExecResult } from "@/server/volume/ports";
import type { Access } from "./access";
import { endOf } from "./exec";
import type { LinuxFiles } from "./files";
import { isClaimed } from "./host-utils";
import type { LoopDevice, LoopTable, OwnLoop } from "./loop-table";
import { readEveryMountTable } from "./mount-reader";
import { holdsDevice } from "./mount-table";

export type { LoopDevice } from "./loop-table";

const timeoutMs = 30_000;

export interface LoopDevicesOptions {
  readonly access: Access;
  readonly files: LinuxFiles;
  readonly exec: Exec;
  readonly table: LoopTable;
}

export class LoopDevices {
  constructor(private readonly options: LoopDevicesOptions) {}

  /**
   * The device over a file; the one that is there already, or a new one. Throws EACCES for files outside of the root, VolumeError when a
   * device over a part of the file is in the way.
   */
  async attach(file: string): Promise<string> {
    const real = await this.options.files.realPath(file);
    if (!real.startsWith(`${this.options.access.root}/`)) throw refusedError("losetup", file);
    return (await this.run(["--nooverlap", "-f", "--show", real])).output.trim();
  }

  /** Takes over the size of the file after it grew. */
  async refreshSize(device: string): Promise<void> {
    await this.requireOwn(device);
    await this.run(["-c", device]);
  }

  /**
   * Throws EBUSY while the device is mounted or otherwise claimed, in whatever mount namespace, or its node is bound in one that can be
   * seen: the kernel would say yes and detach it only when its last user is gone.
   */
  async detach(device: string): Promise<void> {
    const { number } = await this.requireOwn(device);
    const rows = await readEveryMountTable();
    const isMounted = rows.some((row) => holdsDevice(row, { path: device, number }));
    if (isMounted || (await isClaimed(device))) throw fileError("losetup", device, "EBUSY");
    await this.run(["-d", device]);
  }

  async find(file: string): Promise<readonly string[]> {
    const { output } = await this.run(["-n", "-O", "NAME", "-j", file]);
    return output.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  }

  /** The loop devices whose files lie in the root. */
  async list(): Promise<readonly LoopDevice[]> {
    return (await this.options.table.own()).map(({ device, file, deleted }) => ({ device, file, deleted }));
  }

  private async requireOwn(device: string): Promise<OwnLoop> {
    const own = (await this.options.table.own()).find((loop) => loop.device === device);
    if (own === undefined) throw refusedError("losetup", device);
    return own;
  }

  private async run(args: readonly string[]): Promise<ExecResult> {
    const result = await this.options.exec.run("losetup", args, { timeoutMs });
    if (result.exitCode === 0) return result;
    throw new VolumeError(`losetup ${args.join(" ")} failed: ${endOf(result)}\nOutput: ${result.output}`);
  }
}
