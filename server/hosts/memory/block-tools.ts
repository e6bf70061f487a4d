import { fileError, refusedError } from "@/server/hosts/file-errors";
import { notMountedThere } from "@/server/hosts/mount-texts";
import { cleanPath } from "@/server/hosts/paths";
import { VolumeError } from "@/server/volume/errors";
import { FileError } from "@/server/volume/ports";
import type { BlockTools, FormatCheck } from "@/server/volume/ports";
import type { MemoryFileSystem, MemoryTree } from "./tree";

export interface MemoryDevice {
  sizeBytes: bigint;
  /** "" when nothing is on it. */
  fsType: string;
  /** Bytes in the first or last MiB that no tool recognises. */
  hasForeignData: boolean;
  /** Thrown by check. */
  checkError: unknown;
  /** Thrown by probe, as when a device can't be read. */
  probeError: unknown;
  /** Made with the file system; its content lasts from mount to mount. */
  fileSystem: MemoryFileSystem | undefined;
}

export interface MemoryBlockToolsOptions {
  readonly tree: MemoryTree;
  /** The devices that may be used; undefined: all. */
  readonly allowed?: readonly string[];
  /** False where mounts are only recorded: then nothing tells what is mounted where a device is grown. */
  readonly hasMounts?: boolean;
}

/** They grow by the path they are mounted at. */
const grownByPath = ["xfs", "btrfs"];
const knownTypes = ["ext3", "ext4", "xfs", "btrfs"];

export class MemoryBlockTools implements BlockTools {
  readonly devices = new Map<string, MemoryDevice>();
  /** Every call that would change a device: `mkfs.xfs -f /dev/loop0`. */
  readonly actions: string[] = [];

  constructor(private readonly options: MemoryBlockToolsOptions) {}

  /** Adds a device, empty unless an `fsType` is named. */
  addDevice(path: string, device: Partial<MemoryDevice> & { readonly sizeBytes: bigint }): MemoryDevice {
    const added: MemoryDevice = {
      fsType: "",
      hasForeignData: false,
      checkError: undefined,
      probeError: undefined,
      fileSystem: undefined,
      ...device,
    };
    if (added.fsType !== "") added.fileSystem ??= this.makeFileSystem(path, added);
    this.devices.set(path, added);
    return added;
  }

  async probe(devicePath: string): Promise<FormatCheck> {
    const device = this.need(devicePath);
    if (device.probeError !== undefined) throw device.probeError;
    return { fsType: device.fsType };
  }

  async format(devicePath: string, fsType: string, options: readonly string[]): Promise<void> {
    const { fsType: found } = await this.probe(devicePath);
    const device = this.need(devicePath);
    if (found !== "") throw new FileError("EEXIST", `format ${devicePath}: holds ${found} already`, devicePath);
    if (device.hasForeignData) {
      throw new FileError("EEXIST", `format ${devicePath}: its first or last MiB is not empty`, devicePath);
    }
    if (!knownTypes.includes(fsType)) throw new VolumeError(`mkfs.${fsType}: not installed`);
    this.actions.push(["mkfs", fsType, ...options, devicePath].join(" "));
    device.fsType = fsType;
    device.fileSystem = this.makeFileSystem(devicePath, device);
  }

  async check(devicePath: string, fsType: string): Promise<void> {
    const device = this.need(devicePath);
    this.actions.push(`fsck ${fsType} ${devicePath}`);
    if (device.checkError !== undefined) throw device.checkError;
  }

  async grow(devicePath: string, mountPath: string): Promise<boolean> {
    const device = this.need(devicePath);
    if (device.fileSystem === undefined) return false;
    const { tree, hasMounts = true } = this.options;
    const target = cleanPath(mountPath);
    const there = tree.mounts.findLast((mount) => mount.mountPoint === target);
    if (hasMounts && grownByPath.includes(device.fsType) && there?.fs !== device.fileSystem) throw notMountedThere(devicePath, target);
    this.actions.push(`grow ${device.fsType} ${devicePath}`);
    device.fileSystem.sizeBytes = device.sizeBytes;
    return true;
  }

  async sizeBytes(devicePath: string): Promise<bigint> {
    return this.need(devicePath).sizeBytes;
  }

  mayUse(path: string): boolean {
    const { allowed } = this.options;
    return allowed === undefined || allowed.includes(path);
  }

  private need(path: string): MemoryDevice {
    if (this.devices.has(path) && !this.mayUse(path)) throw refusedError("open", path);
    const device = this.devices.get(path);
    if (device === undefined) throw fileError("open", path, "ENOENT");
    return device;
  }

  private makeFileSystem(path: string, device: MemoryDevice): MemoryFileSystem {
    return this.options.tree.newFileSystem({ type: device.fsType, source: path, sizeBytes: device.sizeBytes, mode: 0o755 });
  }
}
