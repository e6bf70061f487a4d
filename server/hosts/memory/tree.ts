/** File systems and mounts of the in-memory host, with the kernel's rules for links and for what a mount covers. */
import { fileError } from "@/server/hosts/file-errors";
import { segmentsOf } from "@/server/hosts/paths";
import type { FileError, FileKind } from "@/server/volume/ports";

export interface TreeNode {
  readonly kind: FileKind;
  mode: number;
  uid: number;
  gid: number;
  modifiedMs: number;
  readonly inode: bigint;
  /** Set while the node hangs in a directory. */
  parent: TreeNode | undefined;
  name: string;
  readonly children: Map<string, TreeNode>;
  data: Uint8Array;
  readonly target: string;
  /** major:minor of a device node. */
  readonly rdev: string;
}

export interface MemoryFileSystem {
  readonly type: string;
  /** Magic number, as statfs says it. */
  readonly magic: bigint;
  /** major:minor */
  readonly device: string;
  readonly source: string;
  readonly root: TreeNode;
  readonly blockSizeBytes: bigint;
  sizeBytes: bigint;
  usedBytes: bigint;
  inodesUsed: bigint;
  superOptions: readonly string[];
}

export interface MemoryMount {
  readonly id: number;
  readonly parent: MemoryMount | undefined;
  /** The directory it covers; undefined for the root mount. */
  readonly at: TreeNode | undefined;
  readonly fs: MemoryFileSystem;
  /** What of the file system is shown: its root, or a bind's source. */
  readonly root: TreeNode;
  readonly mountPoint: string;
  options: readonly string[];
}

export interface Step {
  readonly mount: MemoryMount;
  readonly node: TreeNode;
  readonly name: string;
}

/** Where a path leads: the directory that holds the last name and, when something is there, the thing itself. */
export interface Place {
  readonly holder: Step;
  readonly name: string;
  readonly found: Step | undefined;
  /** Without links and dots. */
  readonly path: string;
}

export interface WalkRequest {
  /** Go's word for the call, for the error text. */
  readonly op: string;
  readonly path: string;
  readonly parents: "follow" | "refuse";
  readonly last: "follow" | "keep" | "refuse";
}

const magicNumbers: Readonly<Record<string, bigint>> = {
  ext4: 0xef53n,
  ext3: 0xef53n,
  xfs: 0x58465342n,
  btrfs: 0x9123683en,
  tmpfs: 0x01021994n,
  hugetlbfs: 0x958458f6n,
  nfs: 0x6969n,
  nfs4: 0x6969n,
  overlay: 0x794c7630n,
};
const maxLinks = 40;
const pageBytes = 4096n;

export class MemoryTree {
  readonly mounts: MemoryMount[] = [];
  readonly root: MemoryMount;
  private nextInode = 2n;
  private nextMountId = 20;
  private nextMinor = 30;
  private readonly listeners = new Set<(change: TreeChange) => void>();

  constructor(
    private readonly nowMs: () => number,
    rootSizeBytes = 100n << 30n,
  ) {
    const fs = this.newFileSystem({ type: "ext4", source: "/dev/vda1", sizeBytes: rootSizeBytes, device: "254:1", mode: 0o755 });
    this.root = { id: this.nextMountId++, parent: undefined, at: undefined, fs, root: fs.root, mountPoint: "/", options: ["rw", "relatime"] };
    this.mounts.push(this.root);
  }

  newFileSystem(options: {
    type: string;
    source: string;
    sizeBytes: bigint;
    device?: string;
    mode: number;
    superOptions?: readonly string[];
  }): MemoryFileSystem {
    return {
      type: options.type,
      magic: magicOf(options.type),
      device: options.device ?? `0:${this.nextMinor++}`,
      source: options.source,
      root: this.newNode("directory", options.mode),
      blockSizeBytes: pageBytes,
      sizeBytes: options.sizeBytes,
      usedBytes: 0n,
      inodesUsed: 1n,
      superOptions: options.superOptions ?? ["rw"],
    };
  }

  newNode(kind: FileKind, mode: number, more: { data?: Uint8Array; target?: string; rdev?: string } = {}): TreeNode {
    return {
      kind,
      mode,
      uid: 0,
      gid: 0,
      modifiedMs: this.nowMs(),
      inode: this.nextInode++,
      parent: undefined,
      name: "",
      children: new Map(),
      data: more.data ?? new Uint8Array(),
      target: more.target ?? "",
      rdev: more.rdev ?? "0:0",
    };
  }

  addMount(mount: Omit<MemoryMount, "id">): MemoryMount {
    const added = { ...mount, id: this.nextMountId++ };
    this.mounts.push(added);
    return added;
  }

  /** Follows a path as the kernel does. Throws FileError ENOENT (a missing directory on the way), ENOTDIR, ELOOP. */
  walk(request: WalkRequest): Place {
    const fail = (code: string): FileError => fileError(request.op, request.path, code);
    let trail: Step[] = [this.rootStep()];
    let pending = segmentsOf(request.path);
    let links = 0;
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      const here = lastOf(trail);
      if (here.node.kind !== "directory") throw fail("ENOTDIR");
      if (name.length > 255) throw fail("ENAMETOOLONG");
      if (name === "..") {
        if (trail.length > 1) trail.pop();
        continue;
      }
      const child = here.node.children.get(name);
      const isLast = pending.length === 0;
      if (child === undefined) {
        if (!isLast) throw fail("ENOENT");
        return { holder: here, name, found: undefined, path: pathOf([...trail, { ...here, name }]) };
      }
      const rule = isLast ? request.last : request.parents;
      if (child.kind === "symlink" && rule !== "keep") {
        links += 1;
        if (rule === "refuse" || links > maxLinks) throw fail("ELOOP");
        if (child.target.startsWith("/")) trail = [this.rootStep()];
        pending = [...segmentsOf(child.target), ...pending];
        continue;
      }
      trail.push(this.top({ mount: here.mount, node: child, name }));
    }
    const found = lastOf(trail);
    return { holder: trail.at(-2) ?? found, name: found.name, found, path: pathOf(trail) };
  }

  /** What lies on top where a step leads: the mount that covers it, and the one on that, if any. */
  top(step: Step): Step {
    let { mount, node } = step;
    for (;;) {
      const cover = this.mounts.findLast((candidate) => candidate.parent === mount && candidate.at === node);
      if (cover === undefined) return { mount, node, name: step.name };
      mount = cover;
      node = cover.root;
    }
  }

  /** Hangs a node under a directory and counts it. Throws EROFS, ENOSPC. */
  attach(place: Place, node: TreeNode, request: { op: string; path: string }): void {
    this.requireWritable(place.holder.mount, request);
    const { fs } = place.holder.mount;
    this.charge(fs, bytesOf(node), request);
    fs.inodesUsed += 1n;
    node.parent = place.holder.node;
    node.name = place.name;
    place.holder.node.children.set(place.name, node);
    this.touch(place.holder.node);
    this.announce({ kind: "create", path: place.path });
  }

  /** Takes a node and what is below it off its directory. */
  detach(place: Place, node: TreeNode): void {
    const { fs } = place.holder.mount;
    for (const gone of selfAndBelow(node)) {
      fs.usedBytes -= bytesOf(gone);
      fs.inodesUsed -= 1n;
    }
    node.parent = undefined;
    place.holder.node.children.delete(place.name);
    this.touch(place.holder.node);
    this.announce({ kind: "remove", path: place.path });
  }

  /** Puts new content into a file. Throws EROFS, ENOSPC. */
  fill(step: Step, data: Uint8Array, request: { op: string; path: string }): void {
    this.requireWritable(step.mount, request);
    this.charge(step.mount.fs, pagesOf(data) - bytesOf(step.node), request);
    step.node.data = data;
    this.touch(step.node);
  }

  requireWritable(mount: MemoryMount, request: { op: string; path: string }): void {
    if (isReadOnly(mount)) throw fileError(request.op, request.path, "EROFS");
  }

  /** True when the node is what a mount covers or shows, so that the kernel would call it busy. */
  isMountPoint(node: TreeNode): boolean {
    return this.mounts.some((mount) => mount.at === node);
  }

  touch(node: TreeNode): void {
    node.modifiedMs = this.nowMs();
  }

  onChange(listener: (change: TreeChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  announce(change: TreeChange): void {
    for (const listener of this.listeners) listener(change);
  }

  private rootStep(): Step {
    return this.top({ mount: this.root, node: this.root.root, name: "" });
  }

  private charge(fs: MemoryFileSystem, bytes: bigint, request: { path: string }): void {
    if (bytes > 0n && fs.usedBytes + bytes > fs.sizeBytes) throw fileError("write", request.path, "ENOSPC");
    fs.usedBytes += bytes;
  }
}

export interface TreeChange {
  readonly kind: "create" | "remove" | "rename" | "write" | "chmod";
  readonly path: string;
}

export function isReadOnly(mount: MemoryMount): boolean {
  return mount.options.includes("ro") || mount.fs.superOptions.includes("ro");
}

export function magicOf(fsType: string): bigint {
  return Object.hasOwn(magicNumbers, fsType) ? (magicNumbers[fsType] ?? 0n) : 0n;
}

/** Path of a node below the root of its file system, as mountinfo's root field shows it. */
export function pathInFileSystem(node: TreeNode): string {
  const names: string[] = [];
  for (let at: TreeNode | undefined = node; at?.parent !== undefined; at = at.parent) names.unshift(at.name);
  return `/${names.join("/")}`;
}

export function* selfAndBelow(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const child of node.children.values()) yield* selfAndBelow(child);
}

/** Bytes a node takes on its file system: whole pages of its content. */
export function bytesOf(node: TreeNode): bigint {
  return pagesOf(node.data);
}

function pagesOf(data: Uint8Array): bigint {
  return ((BigInt(data.length) + pageBytes - 1n) / pageBytes) * pageBytes;
}

function pathOf(trail: readonly Step[]): string {
  return `/${trail.slice(1).map((step) => step.name).join("/")}`;
}

function lastOf(trail: readonly Step[]): Step {
  const last = trail.at(-1);
  if (last === undefined) throw new Error("a walk has at least its root");
  return last;
}
