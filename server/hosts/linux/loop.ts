/** Loop devices over files of the data folder. */
import { refusedError } from "@/server/hosts/file-errors";
import { VolumeError } from "@/server/volume/errors";
import type { Exec, ExecResult } from "@/server/volume/ports";
import type { LinuxFiles } from "./files";
import type { Access } from "./access";
import { endOf } from "./exec";

const timeoutMs = 30_000;

export interface LoopDevice {
  readonly device: string;
  readonly file: string;
  /** The file was removed; the device still holds its content. */
  readonly deleted: boolean;
}

export class LoopDevices {
  constructor(
    private readonly access: Access,
    private readonly files: LinuxFiles,
    private readonly exec: Exec,
  ) {}

  /** The device over a file; the one that is there already, or a new one. Throws EACCES for files outside of the root. */
  async attach(file: string): Promise<string> {
    const real = await this.files.realPath(file);
    if (!real.startsWith(`${this.access.root}/`)) throw refusedError("losetup", file);
    const there = (await this.find(real))[0];
    if (there !== undefined) return there;
    return (await this.run(["-f", "--show", real])).output.trim();
  }

  /** Takes over the size of the file after it grew. */
  async refreshSize(device: string): Promise<void> {
    await this.requireOwn(device);
    await this.run(["-c", device]);
  }

  /** While the device is mounted the kernel detaches it only at the last unmount. */
  async detach(device: string): Promise<void> {
    await this.requireOwn(device);
    await this.run(["-d", device]);
  }

  async find(file: string): Promise<readonly string[]> {
    const { output } = await this.run(["-n", "-O", "NAME", "-j", file]);
    return output.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  }

  /** The loop devices whose files lie in the root. */
  async list(): Promise<readonly LoopDevice[]> {
    const { output } = await this.run(["-l", "-n", "--raw", "-O", "NAME,BACK-FILE"]);
    return output.split("\n").flatMap((line) => {
      const [device, ...rest] = line.split(" ");
      const shown = rest.join(" ").replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
      const deleted = shown.endsWith(" (deleted)");
      const file = deleted ? shown.slice(0, -" (deleted)".length) : shown;
      return device !== undefined && file.startsWith(`${this.access.root}/`) ? [{ device, file, deleted }] : [];
    });
  }

  private async requireOwn(device: string): Promise<void> {
    const own = (await this.list()).some((loop) => loop.device === device);
    if (!own) throw refusedError("losetup", device);
  }

  private async run(args: readonly string[]): Promise<ExecResult> {
    const result = await this.exec.run("losetup", args, { timeoutMs });
    if (result.exitCode === 0) return result;
    throw new VolumeError(`losetup ${args.join(" ")} failed: ${endOf(result)}\nOutput: ${result.output}`);
  }
}
