/** blkid, mkfs, fsck and the growers, on devices that are ours or allowed. Source: k8s.io/mount-utils v0.37.2 (mount_linux.go, resizefs_linux.go). */
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { fileError, refusedError } from "@/server/hosts/file-errors";
import { topMountAt } from "@/server/hosts/mount-queries";
import { notMountedThere } from "@/server/hosts/mount-texts";
import { VolumeError } from "@/server/volume/errors";
import { FileError } from "@/server/volume/ports";
import type { BlockTools, Exec, ExecResult, FormatCheck } from "@/server/volume/ports";
import type { Access } from "./access";
import { endOf } from "./exec";
import { deviceText } from "./foreign-answers";
import type { MountReader } from "./mount-reader";

export interface LinuxBlockToolsOptions {
  readonly access: Access;
  readonly mounts: MountReader;
  readonly exec: Exec;
}

const probeTimeoutMs = 30_000;
const longTimeoutMs = 600_000;
const mebibyte = 1 << 20;
/** What blkid's exit codes mean (blkid(8)). */
const nothingRecognised = 2;
/** Bits and codes of fsck(8). */
const fsckMended = 1;
const fsckErrorsLeft = 4;

const mkfsOptions: Readonly<Record<string, readonly string[]>> = {
  ext3: ["-F", "-m0"],
  ext4: ["-F", "-m0"],
  xfs: ["-f"],
  btrfs: [],
};

/** A device that is open. */
interface HeldDevice {
  /** Its path, without links. */
  readonly device: string;
  readonly handle: FileHandle;
  /** major:minor */
  readonly number: string;
}

export class LinuxBlockTools implements BlockTools {
  constructor(private readonly options: LinuxBlockToolsOptions) {}

  probe(devicePath: string): Promise<FormatCheck> {
    return this.holding(devicePath, ({ device }) => this.found(device));
  }

  async format(devicePath: string, fsType: string, options: readonly string[]): Promise<void> {
    await this.holding(devicePath, async (held) => {
      const fixed = Object.hasOwn(mkfsOptions, fsType) ? mkfsOptions[fsType] : undefined;
      if (fixed === undefined) throw new VolumeError(`format of ${devicePath}: file system type "${fsType}" is not supported`);
      const { fsType: found } = await this.found(held.device);
      if (found !== "") throw new FileError("EEXIST", `format ${devicePath}: holds ${found} already`, devicePath);
      if (!(await this.endsAreZero(held))) {
        throw new FileError("EEXIST", `format ${devicePath}: its first or last MiB is not empty`, devicePath);
      }
      const args = [...fixed, ...options, held.device];
      const result = await this.run(`mkfs.${fsType}`, args, longTimeoutMs);
      if (result.exitCode !== 0) throw toolFailed(`mkfs.${fsType}`, args, result);
    });
  }

  async check(devicePath: string, fsType: string): Promise<void> {
    await this.holding(devicePath, async ({ device }) => {
      const args = fsType === "" ? ["-a", device] : ["-t", fsType, "-a", device];
      const result = await this.run("fsck", args, longTimeoutMs);
      // As Kubernetes does: only errors that stay are a reason not to mount; what fsck could not do at all is not.
      if (result.exitCode === 0 || result.exitCode === fsckMended) return;
      if (result.timedOut || (result.exitCode !== undefined && (result.exitCode & fsckErrorsLeft) !== 0)) {
        throw new VolumeError(`'fsck' found errors on device ${devicePath} but could not correct them: ${result.output}`);
      }
    });
  }

  grow(devicePath: string, mountPath: string): Promise<boolean> {
    return this.holding(devicePath, async (held) => {
      const target = this.options.access.place(mountPath);
      if (target === undefined) throw refusedError("grow", mountPath);
      const { fsType } = await this.found(held.device);
      switch (fsType) {
        case "":
          // What has no file system gets one of the whole device when it is formatted.
          return false;
        case "ext3":
        case "ext4":
          return this.growBy("resize2fs", [held.device], devicePath);
        case "xfs":
          await this.requireMounted(held, target);
          return this.growBy("xfs_growfs", ["-d", target], mountPath);
        case "btrfs":
          await this.requireMounted(held, target);
          return this.growBy("btrfs", ["filesystem", "resize", "max", target], mountPath);
        default:
          throw new VolumeError(`ResizeFS.Resize - resize of format ${fsType} is not supported for device ${devicePath} mounted at ${mountPath}`);
      }
    });
  }

  sizeBytes(devicePath: string): Promise<bigint> {
    return this.holding(devicePath, ({ device }) => this.sizeOf(device));
  }

  /** What a tool gets by its path alone must be this device: a growth of another one could never be taken back. */
  private async requireMounted({ device, number }: HeldDevice, target: string): Promise<void> {
    const row = topMountAt(await this.options.mounts.read(), target);
    // btrfs has a number of its own; its source is the device as it was named when it was mounted.
    const isThere = row?.fsType === "btrfs" ? (await realpath(row.source).catch(() => undefined)) === device : row?.device === number;
    if (!isThere) throw notMountedThere(device, target);
  }

  private async found(device: string): Promise<FormatCheck> {
    const args = ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device];
    const result = await this.run("blkid", args, probeTimeoutMs);
    if (result.exitCode === nothingRecognised) return { fsType: "" };
    if (result.exitCode !== 0) throw toolFailed("blkid", args, result);
    const values = new Map(result.output.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
    const fsType = values.get("TYPE") ?? "";
    if (fsType !== "") return { fsType };
    return { fsType: values.has("PTTYPE") ? "unknown data, probably partitions" : "unknown data" };
  }

  private async sizeOf(device: string): Promise<bigint> {
    const args = ["--getsize64", device];
    const result = await this.run("blockdev", args, probeTimeoutMs);
    if (result.exitCode !== 0 || !/^\d+\s*$/.test(result.output)) throw toolFailed("blockdev", args, result);
    return BigInt(result.output.trim());
  }

  private async growBy(tool: string, args: readonly string[], what: string): Promise<boolean> {
    const result = await this.run(tool, args, longTimeoutMs);
    if (result.exitCode === 0) return true;
    throw new VolumeError(`resize of device ${what} failed: ${endOf(result)}. ${tool} output: ${result.output}`);
  }

  /**
   * Opens the device and keeps it open meanwhile: while it is open its number goes to no other device, and a loop device keeps its file.
   * Throws ENOENT, ENOTBLK, and EACCES for what is neither ours nor allowed.
   */
  private async holding<T>(path: string, act: (held: HeldDevice) => Promise<T>): Promise<T> {
    const device = await realpath(path).catch((error: unknown) => {
      throw fileError("open", path, codeOf(error) ?? "EIO");
    });
    await this.requireAllowed(device, path);
    const handle = await open(device, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch((error: unknown) => {
      throw fileError("open", path, codeOf(error) ?? "EIO");
    });
    try {
      const stat = await handle.stat({ bigint: true });
      if (!stat.isBlockDevice()) throw fileError("open", path, "ENOTBLK");
      // Asked again, of what can't change any more.
      await this.requireAllowed(device, path);
      return await act({ device, handle, number: deviceText(stat.rdev) });
    } finally {
      await handle.close();
    }
  }

  private async requireAllowed(device: string, shown: string): Promise<void> {
    if (!(await this.options.access.mayUseDevice(device))) throw refusedError("open", shown);
  }

  private async endsAreZero({ device, handle }: HeldDevice): Promise<boolean> {
    const size = Number(await this.sizeOf(device));
    for (const position of [0, Math.max(0, size - mebibyte)]) {
      const buffer = Buffer.alloc(Math.min(mebibyte, size));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead !== buffer.length || buffer.some((byte) => byte !== 0)) return false;
    }
    return true;
  }

  private run(tool: string, args: readonly string[], timeoutMs: number): Promise<ExecResult> {
    return this.options.exec.run(tool, args, { timeoutMs });
  }
}

/** A tool's refusal stands in its output: both it and the command are kept. */
function toolFailed(tool: string, args: readonly string[], result: ExecResult): VolumeError {
  return new VolumeError(`${tool} ${args.join(" ")} failed: ${endOf(result)}\nOutput: ${result.output}`);
}
