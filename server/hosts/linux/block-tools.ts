/** blkid, mkfs, fsck and the growers, on devices that are ours or allowed. Source: k8s.io/mount-utils v0.37.2 (mount_linux.go, resizefs_linux.go). */
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { fileError, refusedError } from "@/server/hosts/file-errors";
import { VolumeError } from "@/server/volume/errors";
import { FileError } from "@/server/volume/ports";
import type { BlockTools, Exec, ExecResult, FormatCheck } from "@/server/volume/ports";
import type { Access } from "./access";
import { endOf } from "./exec";

export interface LinuxBlockToolsOptions {
  readonly access: Access;
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

export class LinuxBlockTools implements BlockTools {
  constructor(private readonly options: LinuxBlockToolsOptions) {}

  async probe(devicePath: string): Promise<FormatCheck> {
    const device = await this.device(devicePath);
    const args = ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device];
    const result = await this.run("blkid", args, probeTimeoutMs);
    if (result.exitCode === nothingRecognised) return { fsType: "" };
    if (result.exitCode !== 0) throw toolFailed("blkid", args, result);
    const values = new Map(result.output.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
    const fsType = values.get("TYPE") ?? "";
    if (fsType !== "") return { fsType };
    return { fsType: values.has("PTTYPE") ? "unknown data, probably partitions" : "unknown data" };
  }

  async format(devicePath: string, fsType: string, options: readonly string[]): Promise<void> {
    const device = await this.device(devicePath);
    const fixed = Object.hasOwn(mkfsOptions, fsType) ? mkfsOptions[fsType] : undefined;
    if (fixed === undefined) throw new VolumeError(`format of ${devicePath}: file system type "${fsType}" is not supported`);
    const { fsType: found } = await this.probe(devicePath);
    if (found !== "") throw new FileError("EEXIST", `format ${devicePath}: holds ${found} already`, devicePath);
    if (!(await this.endsAreZero(device))) {
      throw new FileError("EEXIST", `format ${devicePath}: its first or last MiB is not empty`, devicePath);
    }
    const args = [...fixed, ...options, device];
    const result = await this.run(`mkfs.${fsType}`, args, longTimeoutMs);
    if (result.exitCode !== 0) throw toolFailed(`mkfs.${fsType}`, args, result);
  }

  async check(devicePath: string, fsType: string): Promise<void> {
    const device = await this.device(devicePath);
    const args = fsType === "" ? ["-a", device] : ["-t", fsType, "-a", device];
    const result = await this.run("fsck", args, longTimeoutMs);
    // As Kubernetes does: only errors that stay are a reason not to mount; what fsck could not do at all is not.
    if (result.exitCode === 0 || result.exitCode === fsckMended) return;
    if (result.timedOut || (result.exitCode !== undefined && (result.exitCode & fsckErrorsLeft) !== 0)) {
      throw new VolumeError(`'fsck' found errors on device ${devicePath} but could not correct them: ${result.output}`);
    }
  }

  async grow(devicePath: string, mountPath: string): Promise<boolean> {
    const device = await this.device(devicePath);
    if (this.options.access.place(mountPath) === undefined) throw refusedError("grow", mountPath);
    const { fsType } = await this.probe(devicePath);
    switch (fsType) {
      case "":
        // What has no file system gets one of the whole device when it is formatted.
        return false;
      case "ext3":
      case "ext4":
        return this.growBy("resize2fs", [device], devicePath);
      case "xfs":
        return this.growBy("xfs_growfs", ["-d", mountPath], mountPath);
      case "btrfs":
        return this.growBy("btrfs", ["filesystem", "resize", "max", mountPath], mountPath);
      default:
        throw new VolumeError(`ResizeFS.Resize - resize of format ${fsType} is not supported for device ${devicePath} mounted at ${mountPath}`);
    }
  }

  async sizeBytes(devicePath: string): Promise<bigint> {
    const device = await this.device(devicePath);
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

  /** The device without links. Throws ENOENT, ENOTBLK, and EACCES for what is neither ours nor allowed. */
  private async device(path: string): Promise<string> {
    const real = await realpath(path).catch((error: unknown) => {
      throw fileError("open", path, codeOf(error) ?? "EIO");
    });
    if (!(await this.options.access.mayUseDevice(real))) throw refusedError("open", path);
    if (!(await lstat(real)).isBlockDevice()) throw fileError("open", path, "ENOTBLK");
    return real;
  }

  private async endsAreZero(device: string): Promise<boolean> {
    const size = Number(await this.sizeBytes(device));
    const handle = await open(device, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      for (const position of [0, Math.max(0, size - mebibyte)]) {
        const buffer = Buffer.alloc(Math.min(mebibyte, size));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
        if (bytesRead !== buffer.length || buffer.some((byte) => byte !== 0)) return false;
      }
      return true;
    } finally {
      await handle.close();
    }
  }

  private run(tool: string, args: readonly string[], timeoutMs: number): Promise<ExecResult> {
    return this.options.exec.run(tool, args, { timeoutMs });
  }
}

/** A tool's refusal stands in its output: both it and the command are kept. */
function toolFailed(tool: string, args: readonly string[], result: ExecResult): VolumeError {
  return new VolumeError(`${tool} ${args.join(" ")} failed: ${endOf(result)}\nOutput: ${result.output}`);
}
