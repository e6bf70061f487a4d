/** Mounts of the in-memory host, with mount(8)'s rules and words (util-linux 2.38) as far as plugins can meet them. */
import { codeOf } from "@/lib/errors";
import { fileError, refusedError } from "@/server/hosts/file-errors";
import { formatAndMount } from "@/server/hosts/format-and-mount";
import { asMountPoint, searchMountPoints } from "@/server/hosts/mount-queries";
import { mountFailed, splitBind, unmountFailed } from "@/server/hosts/mount-texts";
import { cleanPath, isWithin } from "@/server/hosts/paths";
import type { MountInfo, MountInterface, MountPoint, MountRequest } from "@/server/volume/mount";
import type { BlockTools } from "@/server/volume/ports";
import type { MemoryBlockTools } from "./block-tools";
import { MountLog } from "./mount-log";
import type { MountFailures } from "./mount-log";
import { pathInFileSystem } from "./tree";
import type { MemoryFileSystem, MemoryTree, Place, Step } from "./tree";

export interface MemoryMounterOptions {
  readonly tree: MemoryTree;
  readonly blockTools: MemoryBlockTools;
  readonly failures?: MountFailures;
  /** Half of it is the size of a tmpfs without a size. */
  readonly memoryBytes?: bigint;
  /** Where mounts may be made and taken from; undefined: everywhere. */
  readonly allowedPaths?: readonly string[];
  readonly skipMountPointCheck?: boolean;
}

const withoutDevice = ["tmpfs", "hugetlbfs", "ramfs", "nfs", "nfs4", "overlay", "proc", "sysfs"];
const perMountOptions = ["ro", "rw", "nosuid", "suid", "nodev", "dev", "noexec", "exec", "noatime", "relatime"];
const pageBytes = 4096n;
const networkFileSystemBytes = 1n << 40n;

export class MemoryMounter implements MountInterface {
  readonly log: MountLog;
  private readonly tree: MemoryTree;

  constructor(private readonly options: MemoryMounterOptions) {
    this.log = new MountLog(options.failures);
    this.tree = options.tree;
  }

  async mount(request: MountRequest): Promise<void> {
    this.guard(request);
    this.log.mount(request, request.target);
    if (request.options.includes("remount")) return this.remount(request);
    const bind = splitBind(request);
    if (bind === undefined) return this.mountNew(request);
    this.mountBind(bind[0]);
    if (request.options.some((option) => perMountOptions.includes(option))) this.remount(bind[1]);
  }

  async unmount(target: string): Promise<void> {
    this.guardPath("umount", target);
    this.log.unmount(target);
    const step = ifThere(() => this.tree.walk({ op: "umount", path: cleanPath(target), parents: "refuse", last: "keep" }).found);
    if (step === undefined) throw unmountFailed(target, "exit status 32", `umount: ${target}: no mount point specified.\n`);
    const { mount } = step;
    // umount(8) of what is not mounted fails; mount-utils forgives it where util-linux is new enough.
    if (mount.root !== step.node || mount.at === undefined) return;
    if (this.tree.mounts.some((other) => other.parent === mount)) {
      throw unmountFailed(target, "exit status 32", `umount: ${target}: target is busy.\n`);
    }
    this.tree.mounts.splice(this.tree.mounts.indexOf(mount), 1);
  }

  async list(): Promise<readonly MountPoint[]> {
    return (await this.mountInfo()).map(asMountPoint);
  }

  async mountInfo(): Promise<readonly MountInfo[]> {
    this.log.list();
    return this.tree.mounts.map((mount) => ({
      id: mount.id,
      parentId: mount.parent?.id ?? 1,
      device: mount.fs.device,
      root: pathInFileSystem(mount.root),
      mountPoint: mount.mountPoint,
      mountOptions: mount.options,
      propagation: [],
      fsType: mount.fs.type,
      source: mount.fs.source,
      superOptions: superOptionsOf(mount.fs),
    }));
  }

  async isLikelyNotMountPoint(path: string): Promise<boolean> {
    return !(await this.isMountPoint(path));
  }

  async isMountPoint(path: string): Promise<boolean> {
    this.log.check(path);
    const step = this.look(path);
    if (step === undefined) throw fileError("stat", path, "ENOENT");
    return step.mount.root === step.node && step.mount.at !== undefined;
  }

  async getMountRefs(path: string): Promise<readonly string[]> {
    if (this.look(path) === undefined) return [];
    const { path: real } = this.tree.walk({ op: "lstat", path: cleanPath(path), parents: "follow", last: "follow" });
    return searchMountPoints(await this.mountInfo(), real);
  }

  formatAndMount(request: MountRequest): Promise<void> {
    this.guard(request);
    const tools: BlockTools = this.options.blockTools;
    return formatAndMount(this, tools, request);
  }

  canSafelySkipMountPointCheck(): boolean {
    return this.options.skipMountPointCheck ?? true;
  }

  private mountNew(request: MountRequest): void {
    const at = this.targetOf(request);
    if (at.node.kind !== "directory") throw refuse(request, `${request.target}: mount point is not a directory.`);
    const fs = this.fileSystemOf(request);
    const own = request.options.filter((option) => perMountOptions.includes(option) && option !== "rw" && option !== "ro");
    const access = request.options.includes("ro") ? "ro" : "rw";
    this.tree.addMount({
      parent: at.mount,
      at: at.node,
      fs,
      root: fs.root,
      mountPoint: this.realTarget(request),
      options: [access, ...own, ...(own.includes("noatime") ? [] : ["relatime"])],
    });
  }

  private mountBind(request: MountRequest): void {
    const from = this.look(request.source);
    if (from === undefined) {
      throw refuse(request, `${request.target}: special device ${request.source} does not exist.`);
    }
    const at = this.targetOf(request);
    if ((at.node.kind === "directory") !== (from.node.kind === "directory")) {
      throw refuse(request, `${request.target}: mount(2) system call failed: Not a directory.`);
    }
    this.tree.addMount({
      parent: at.mount,
      at: at.node,
      fs: from.mount.fs,
      root: from.node,
      mountPoint: this.realTarget(request),
      options: [...from.mount.options],
    });
  }

  private remount(request: MountRequest): void {
    const at = this.targetOf(request);
    const { mount } = at;
    if (mount.root !== at.node || mount.at === undefined) {
      throw refuse(request, `${request.target}: mount point not mounted or bad option.`);
    }
    const asked = request.options.filter((option) => perMountOptions.includes(option));
    if (asked.length > 0) mount.options = mergeOptions(mount.options, asked);
    const size = optionValue(request.options, "size");
    if (request.options.includes("bind") || mount.fs.type !== "tmpfs" || size === undefined) return;
    const bytes = this.tmpfsBytes(size);
    if (bytes === undefined || bytes < mount.fs.usedBytes) {
      throw refuse(request, `${request.target}: mount point not mounted or bad option.`);
    }
    mount.fs.sizeBytes = bytes;
  }

  private fileSystemOf(request: MountRequest): MemoryFileSystem {
    const { fsType, source } = request;
    const options = [...request.options, ...(request.sensitiveOptions ?? [])];
    if (!withoutDevice.includes(fsType)) return this.fileSystemOnDevice(request);
    const named = options.filter((option) => !perMountOptions.includes(option) && !option.startsWith("size=") && option !== "defaults");
    const common = { type: fsType, source, superOptions: ["rw", ...named] };
    if (fsType !== "tmpfs") return this.tree.newFileSystem({ ...common, sizeBytes: networkFileSystemBytes, mode: 0o755 });
    const bytes = this.tmpfsBytes(optionValue(options, "size") ?? "50%");
    const mode = Number.parseInt(optionValue(options, "mode") ?? "1777", 8);
    if (bytes === undefined || Number.isNaN(mode)) {
      throw refuse(request, `${request.target}: wrong fs type, bad option, bad superblock on ${source}, missing codepage or helper program, or other error.`);
    }
    const fs = this.tree.newFileSystem({ ...common, sizeBytes: bytes, mode });
    fs.root.uid = Number(optionValue(options, "uid") ?? 0);
    fs.root.gid = Number(optionValue(options, "gid") ?? 0);
    return fs;
  }

  private fileSystemOnDevice(request: MountRequest): MemoryFileSystem {
    const { source, target, fsType } = request;
    if (!this.options.blockTools.mayUse(source)) throw refusedError("mount", source);
    const device = this.options.blockTools.devices.get(source);
    if (device === undefined) throw refuse(request, `${target}: special device ${source} does not exist.`);
    if (device.fileSystem === undefined || (fsType !== "" && fsType !== device.fsType)) {
      throw refuse(request, `${target}: wrong fs type, bad option, bad superblock on ${source}, missing codepage or helper program, or other error.`);
    }
    return device.fileSystem;
  }

  /** Bytes of a tmpfs size, in whole pages: `64m`, `1073741824`, `50%`; undefined when it is no size. */
  private tmpfsBytes(text: string): bigint | undefined {
    const match = /^(\d+)([kmgt%]?)$/i.exec(text);
    if (match === null) return undefined;
    const number = BigInt(match[1] ?? "0");
    const unit = (match[2] ?? "").toLowerCase();
    const memory = this.options.memoryBytes ?? 16n << 30n;
    const bytes = unit === "%" ? (memory * number) / 100n : number << BigInt(10 * " kmgt".indexOf(unit || " "));
    return ((bytes + pageBytes - 1n) / pageBytes) * pageBytes;
  }

  /** A target is reached through no link. */
  private targetOf(request: MountRequest): Step {
    const step = ifThere(() => this.walkStrictly(request.target).found);
    if (step === undefined) throw refuse(request, `${request.target}: mount point does not exist.`);
    return step;
  }

  private walkStrictly(path: string): Place {
    return this.tree.walk({ op: "mount", path: cleanPath(path), parents: "refuse", last: "refuse" });
  }

  private realTarget(request: MountRequest): string {
    return this.walkStrictly(request.target).path;
  }

  private look(path: string): Step | undefined {
    return ifThere(() => this.tree.walk({ op: "stat", path: cleanPath(path), parents: "follow", last: "follow" }).found);
  }

  private guard(request: MountRequest): void {
    this.guardPath("mount", request.target);
    if (!request.options.includes("bind") || request.options.includes("remount")) return;
    this.guardPath("mount", request.source);
    const source = ifThere(() => this.tree.walk({ op: "mount", path: cleanPath(request.source), parents: "follow", last: "follow" }));
    if (source !== undefined) this.guardPath("mount", source.path);
  }

  private guardPath(op: string, path: string): void {
    const { allowedPaths } = this.options;
    if (allowedPaths !== undefined && !allowedPaths.some((allowed) => isWithin(allowed, cleanPath(path)))) {
      throw refusedError(op, path);
    }
  }
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function refuse(request: MountRequest, words: string): Error {
  return mountFailed(request, "exit status 32", `mount: ${words}\n`);
}

function optionValue(options: readonly string[], name: string): string | undefined {
  return options.findLast((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
}

function mergeOptions(current: readonly string[], asked: readonly string[]): readonly string[] {
  const opposite = (option: string): string => {
    if (option === "ro") return "rw";
    if (option === "rw") return "ro";
    return option.startsWith("no") ? option.slice(2) : `no${option}`;
  };
  const kept = current.filter((option) => !asked.includes(opposite(option)) && !asked.includes(option));
  const access = asked.findLast((option) => option === "ro" || option === "rw");
  const others = asked.filter((option) => option !== "ro" && option !== "rw");
  return access === undefined ? [...kept, ...others] : [access, ...kept, ...others];
}

function superOptionsOf(fs: MemoryFileSystem): readonly string[] {
  return fs.type === "tmpfs" ? [...fs.superOptions, `size=${fs.sizeBytes / 1024n}k`] : fs.superOptions;
}
