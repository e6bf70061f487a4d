/** The Files port over an in-memory tree. Runs as root with umask 022, like a kubelet. */
import { codeOf } from "@/lib/errors";
import { bareError, fileError, linkError, refusedError } from "@/server/hosts/file-errors";
import type { LinkCall } from "@/server/hosts/file-errors";
import { cleanPath, isWithin, parentOf, segmentsOf } from "@/server/hosts/paths";
import type { DirEntry, FileKind, Files, FileStat, FsInfo } from "@/server/volume/ports";
import { bytesOf, isReadOnly, magicOf, selfAndBelow } from "./tree";
import type { MemoryTree, Place, Step, TreeNode } from "./tree";

const umask = 0o022;
const unlimitedBytes = 1n << 50n;
const inodesOfEveryFileSystem = 1_000_000n;

/** What a test puts on the disk; directories above are made with 0755. A text alone is a file of mode 0644. */
export type Seed =
  | string
  | Uint8Array
  | {
      readonly kind: FileKind;
      readonly mode?: number;
      readonly uid?: number;
      readonly gid?: number;
      readonly data?: Uint8Array | string;
      readonly target?: string;
      /** major:minor of a device node. */
      readonly rdev?: string;
    };

export interface MemoryFilesOptions {
  readonly tree: MemoryTree;
  /** Undefined: everything is allowed. */
  readonly allowedPaths?: readonly string[];
  /** What statfs says of a path and below, whatever is mounted: `tmpfs`, `hugetlbfs`. */
  readonly fileSystemTypes?: Readonly<Record<string, string>>;
}

export class MemoryFiles implements Files {
  private readonly tree: MemoryTree;
  private readonly failures = new Map<string, unknown>();

  constructor(private readonly options: MemoryFilesOptions) {
    this.tree = options.tree;
  }

  /** Every later call of this operation (Go's word: `open`, `mkdir`, `remove`, `stat` ...) on this path throws the error. */
  failOn(op: string, path: string, error: unknown): void {
    this.failures.set(`${op} ${cleanPath(path)}`, error);
  }

  seed(entries: Readonly<Record<string, Seed>>): void {
    for (const [path, seed] of Object.entries(entries)) this.put(path, seed);
  }

  put(path: string, seed: Seed): void {
    const entry = typeof seed === "string" || seed instanceof Uint8Array ? { kind: "file" as const, data: seed } : seed;
    const request = { op: "seed", path };
    const clean = cleanPath(path);
    if (clean !== "/") this.makeDirs(parentOf(clean), 0o755);
    const place = this.tree.walk({ op: "seed", path: clean, parents: "follow", last: "keep" });
    const mode = entry.mode ?? (entry.kind === "directory" ? 0o755 : entry.kind === "symlink" ? 0o777 : 0o644);
    const node =
      place.found?.node.kind === entry.kind && entry.kind === "directory"
        ? place.found.node
        : this.tree.newNode(entry.kind, mode, { ...entry, data: toBytes(entry.data ?? "") });
    node.mode = mode;
    node.uid = entry.uid ?? 0;
    node.gid = entry.gid ?? 0;
    if (place.found?.node === node) return;
    if (place.found !== undefined) this.tree.detach(place, place.found.node);
    this.tree.attach(place, node, request);
  }

  /** The device number of a device node, or undefined. */
  deviceNumber(path: string): string | undefined {
    const node = this.find("stat", path, "follow")?.node;
    return node?.kind === "block-device" || node?.kind === "char-device" ? node.rdev : undefined;
  }

  async stat(path: string): Promise<FileStat | undefined> {
    return statOf(this.find("stat", path, "follow"));
  }

  async lstat(path: string): Promise<FileStat | undefined> {
    return statOf(this.find("lstat", path, "keep"));
  }

  async readDir(path: string): Promise<readonly DirEntry[]> {
    const { node } = this.need("open", path, "follow");
    if (node.kind !== "directory") throw fileError("open", path, "ENOTDIR");
    return [...node.children.values()]
      .map(({ name, kind }) => ({ name, kind }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async readFile(path: string): Promise<Uint8Array> {
    const { node } = this.need("open", path, "follow");
    if (node.kind === "directory") throw fileError("read", path, "EISDIR");
    if (node.kind !== "file") throw fileError("open", path, "ENXIO");
    return node.data.slice();
  }

  async readText(path: string): Promise<string> {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.readFile(path));
  }

  async readLink(path: string): Promise<string> {
    const { node } = this.need("readlink", path, "keep");
    if (node.kind !== "symlink") throw fileError("readlink", path, "EINVAL");
    return node.target;
  }

  async writeFile(path: string, data: Uint8Array | string, mode: number): Promise<void> {
    const request = { op: "open", path };
    const place = this.place("open", path, "refuse");
    if (place.found !== undefined && place.found.node.kind === "directory") throw fileError("open", path, "EISDIR");
    if (place.found !== undefined && place.found.node.kind !== "file") throw fileError("open", path, "ENXIO");
    if (place.found === undefined) this.tree.attach(place, this.tree.newNode("file", mode), request);
    const step = place.found ?? this.need("open", path, "refuse");
    step.node.mode = mode;
    this.tree.fill(step, toBytes(data).slice(), request);
    this.tree.announce({ kind: "write", path: place.path });
  }

  async createFile(path: string, mode: number): Promise<void> {
    const place = this.place("open", path, "keep");
    if (place.found !== undefined) throw fileError("open", path, "EEXIST");
    this.tree.attach(place, this.tree.newNode("file", mode), { op: "open", path });
  }

  async mkdirAll(path: string, mode: number): Promise<void> {
    this.check("mkdir", path);
    // Go looks first: what is a directory already, through links too, is left alone.
    const there = this.findOrNothing(path);
    if (there?.node.kind === "directory") return;
    if (there !== undefined) throw fileError("mkdir", path, "ENOTDIR");
    this.makeDirs(path, mode & ~umask);
  }

  async chmod(path: string, mode: number): Promise<void> {
    const step = this.needOnPlace("chmod", path, "refuse");
    this.tree.requireWritable(step.mount, { op: "chmod", path });
    step.node.mode = mode & 0o7777;
    this.tree.announce({ kind: "chmod", path: cleanPath(path) });
  }

  async chown(path: string, uid: number, gid: number): Promise<void> {
    const step = this.needOnPlace("lchown", path, "keep");
    this.tree.requireWritable(step.mount, { op: "lchown", path });
    if (uid !== -1) step.node.uid = uid;
    if (gid !== -1) step.node.gid = gid;
    // The kernel clears set-uid, and set-gid of what a group may execute, on files.
    if (step.node.kind === "file") step.node.mode &= step.node.mode & 0o010 ? ~0o6000 : ~0o4000;
    this.tree.announce({ kind: "chmod", path: cleanPath(path) });
  }

  async symlink(target: string, path: string): Promise<void> {
    this.check("symlink", path);
    const place = relink({ op: "symlink", from: target, to: path }, () => this.place("symlink", path, "keep"));
    if (place.found !== undefined) throw linkError({ op: "symlink", from: target, to: path }, "EEXIST");
    this.tree.attach(place, this.tree.newNode("symlink", 0o777, { target }), { op: "symlink", path });
  }

  async rename(from: string, to: string): Promise<void> {
    this.check("rename", from);
    this.check("rename", to);
    const call = { op: "rename", from, to } as const;
    const source = relink(call, () => this.place("rename", from, "keep"));
    const target = relink(call, () => this.place("rename", to, "keep"));
    const node = source.found?.node;
    const fail = (code: string): never => {
      throw linkError(call, code);
    };
    if (node === undefined || source.found === undefined) return fail("ENOENT");
    if (isReadOnly(source.holder.mount)) return fail("EROFS");
    if (source.holder.mount !== target.holder.mount) return fail("EXDEV");
    if (isCovered(source) || isCovered(target)) return fail("EBUSY");
    if (source.path !== target.path && isWithin(source.path, target.path)) return fail("EINVAL");
    const old = target.found?.node;
    if (old === node) return;
    if (old !== undefined) {
      if (old.kind === "directory" && node.kind !== "directory") return fail("EEXIST");
      if (old.kind !== "directory" && node.kind === "directory") return fail("ENOTDIR");
      if (old.children.size > 0) return fail("ENOTEMPTY");
      this.tree.detach(target, old);
    }
    this.move(source, target, node);
  }

  async unlink(path: string): Promise<void> {
    const place = this.place("remove", path, "keep");
    if (place.found === undefined) throw fileError("remove", path, "ENOENT");
    if (isCovered(place) || this.tree.isMountPoint(place.found.node)) throw fileError("remove", path, "EBUSY");
    if (place.found.node.kind === "directory") throw fileError("remove", path, "EISDIR");
    this.tree.requireWritable(place.holder.mount, { op: "remove", path });
    this.tree.detach(place, place.found.node);
  }

  async rmdir(path: string): Promise<void> {
    const place = this.place("remove", path, "keep");
    if (place.found === undefined) throw fileError("remove", path, "ENOENT");
    if (place.found.node.kind !== "directory") throw fileError("remove", path, "ENOTDIR");
    if (isCovered(place)) throw fileError("remove", path, "EBUSY");
    if (place.found.node.children.size > 0) throw fileError("remove", path, "ENOTEMPTY");
    this.tree.requireWritable(place.holder.mount, { op: "remove", path });
    this.tree.detach(place, place.found.node);
  }

  async removeAll(path: string): Promise<void> {
    this.check("unlinkat", path);
    const clean = cleanPath(path);
    if (clean === "/" || this.options.allowedPaths?.includes(clean) === true) throw fileError("unlinkat", path, "EBUSY");
    const place = this.placeOrNothing("unlinkat", path);
    if (place?.found === undefined) return;
    if (this.tree.mounts.some((mount) => isWithin(place.path, mount.mountPoint))) {
      throw fileError("unlinkat", path, "EBUSY");
    }
    this.tree.requireWritable(place.holder.mount, { op: "unlinkat", path });
    this.tree.detach(place, place.found.node);
  }

  async statfs(path: string): Promise<FsInfo> {
    this.check("statfs", path);
    let step: Step;
    try {
      step = this.need("statfs", path, "follow");
    } catch (error) {
      throw bareError(path, codeOf(error) ?? "EIO");
    }
    const { fs } = step.mount;
    const said = this.saidType(cleanPath(path));
    const freeBytes = fs.sizeBytes - fs.usedBytes;
    return {
      type: said === undefined ? fs.magic : magicOf(said),
      blockSizeBytes: fs.blockSizeBytes,
      totalBytes: fs.sizeBytes >= unlimitedBytes ? 0n : fs.sizeBytes,
      freeBytes,
      availableBytes: freeBytes,
      inodes: inodesOfEveryFileSystem,
      inodesFree: inodesOfEveryFileSystem - fs.inodesUsed,
    };
  }

  async usage(path: string): Promise<{ readonly usedBytes: bigint; readonly inodesUsed: bigint }> {
    const { node } = this.need("lstat", path, "keep");
    let usedBytes = 0n;
    let inodesUsed = 0n;
    for (const each of selfAndBelow(node)) {
      usedBytes += bytesOf(each);
      inodesUsed += 1n;
    }
    return { usedBytes, inodesUsed };
  }

  async realPath(path: string): Promise<string> {
    this.check("lstat", path);
    const place = this.tree.walk({ op: "lstat", path: cleanPath(path), parents: "follow", last: "follow" });
    if (place.found === undefined) throw fileError("lstat", place.path, "ENOENT");
    this.guard("lstat", path, place.path);
    return place.path;
  }

  private move(source: Place, target: Place, node: TreeNode): void {
    source.holder.node.children.delete(source.name);
    node.parent = target.holder.node;
    node.name = target.name;
    target.holder.node.children.set(target.name, node);
    this.tree.touch(source.holder.node);
    this.tree.touch(target.holder.node);
    this.tree.announce({ kind: "rename", path: source.path });
    this.tree.announce({ kind: "rename", path: target.path });
  }

  /** Makes each missing directory of a path. Throws Go's `mkdir` errors on what stands in the way. */
  private makeDirs(path: string, mode: number): void {
    let made = "";
    for (const segment of segmentsOf(cleanPath(path))) {
      made = `${made}/${segment}`;
      const there = this.findOrNothing(made);
      if (there?.node.kind === "directory") continue;
      if (there !== undefined) throw fileError("mkdir", made, "ENOTDIR");
      const place = this.tree.walk({ op: "mkdir", path: made, parents: "refuse", last: "keep" });
      if (place.found !== undefined) throw fileError("mkdir", made, "EEXIST");
      this.tree.attach(place, this.tree.newNode("directory", mode), { op: "mkdir", path: made });
    }
  }

  private find(op: string, path: string, last: "follow" | "keep"): Step | undefined {
    this.check(op, path);
    return ifThere(() => {
      const place = this.tree.walk({ op, path: cleanPath(path), parents: "follow", last });
      this.guard(op, path, place.path);
      return place.found;
    });
  }

  private findOrNothing(path: string): Step | undefined {
    return ifThere(() => this.tree.walk({ op: "stat", path, parents: "follow", last: "follow" }).found);
  }

  private need(op: string, path: string, last: "follow" | "keep" | "refuse"): Step {
    this.check(op, path);
    const place = this.tree.walk({ op, path: cleanPath(path), parents: "follow", last });
    if (place.found === undefined) throw fileError(op, path, "ENOENT");
    this.guard(op, path, place.path);
    return place.found;
  }

  private needOnPlace(op: string, path: string, last: "keep" | "refuse"): Step {
    const { found } = this.place(op, path, last);
    if (found === undefined) throw fileError(op, path, "ENOENT");
    return found;
  }

  /** The place of a change: no link is followed on the way. */
  private place(op: string, path: string, last: "keep" | "refuse"): Place {
    this.check(op, path);
    return this.tree.walk({ op, path: cleanPath(path), parents: "refuse", last });
  }

  private placeOrNothing(op: string, path: string): Place | undefined {
    return ifThere(() => this.place(op, path, "keep"));
  }

  private check(op: string, path: string): void {
    const failure = this.failures.get(`${op} ${cleanPath(path)}`);
    if (failure !== undefined) throw failure;
    if (!path.startsWith("/")) throw fileError(op, path, "ENOENT");
    this.guard(op, path, cleanPath(path));
  }

  private guard(op: string, path: string, real: string): void {
    const { allowedPaths } = this.options;
    if (allowedPaths !== undefined && !allowedPaths.some((allowed) => isWithin(allowed, real))) throw refusedError(op, path);
  }

  private saidType(path: string): string | undefined {
    const said = Object.entries(this.options.fileSystemTypes ?? {}).filter(([folder]) => isWithin(folder, path));
    return said.sort((a, b) => b[0].length - a[0].length)[0]?.[1];
  }
}

/** True when a mount lies over the entry itself. */
function isCovered(place: Place): boolean {
  return place.found !== undefined && place.found.mount !== place.holder.mount;
}

function statOf(step: Step | undefined): FileStat | undefined {
  if (step === undefined) return undefined;
  const { node, mount } = step;
  return {
    kind: node.kind,
    mode: node.mode,
    uid: node.uid,
    gid: node.gid,
    sizeBytes: BigInt(node.kind === "symlink" ? node.target.length : node.data.length),
    modifiedMs: node.modifiedMs,
    device: mount.fs.device,
    ...(node.kind === "block-device" || node.kind === "char-device" ? { deviceNumber: node.rdev } : {}),
    inode: node.inode,
  };
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function relink<T>(call: LinkCall, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw linkError(call, codeOf(error) ?? "EIO");
  }
}

function toBytes(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}
