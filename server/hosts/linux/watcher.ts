/**
 * Watches folders: inotify (fs.watch, one watch a folder) says where to look, a comparison with what was there says what happened. A scan of
 * everything at intervals finds what inotify lost: Node does not tell of an overflow of its queue.
 */
import { watch } from "node:fs";
import type { BigIntStats, FSWatcher } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { fileError } from "@/server/hosts/file-errors";
import { joinPath } from "@/server/hosts/paths";
import { FileError } from "@/server/volume/ports";
import type { WatchEvent, Watcher, WatchHandle } from "@/server/volume/ports";
import type { Access } from "./access";

type Handlers = Parameters<Watcher["watch"]>[1];

export interface LinuxWatcherOptions {
  readonly access: Access;
  /** "" or `/proc/PID/root` of another mount namespace. */
  readonly prefix?: string;
  /** Between two scans of everything. */
  readonly rescanMs?: number;
  /** False: no inotify at all, scans only. */
  readonly inotify?: boolean;
}

const defaultRescanMs = 10_000;
/** Changes that come together are looked at once. */
const gatherMs = 20;
/** How long inotify may take to tell. */
const noticeMs = 200;

export class LinuxWatcher implements Watcher {
  constructor(private readonly options: LinuxWatcherOptions) {}

  async watch(path: string, handlers: Handlers): Promise<WatchHandle> {
    const placed = this.options.access.place(path);
    if (placed === undefined) throw fileError("watch", path, "EACCES");
    const tree = new WatchedTree(placed, handlers, this.options);
    await tree.start();
    return { close: () => tree.close() };
  }
}

interface Seen {
  readonly stat: BigIntStats;
  readonly watcher: FSWatcher | undefined;
}

class WatchedTree {
  private readonly seen = new Map<string, Seen>();
  private readonly dirty = new Set<string>();
  private gather: NodeJS.Timeout | undefined;
  private rescan: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private closed = false;
  /** How often inotify told of something. */
  private notices = 0;

  constructor(
    private readonly root: string,
    private readonly handlers: Handlers,
    private readonly options: LinuxWatcherOptions,
  ) {}

  async start(): Promise<void> {
    const stat = await this.stat(this.root);
    if (stat === undefined) throw fileError("watch", this.root, "ENOENT");
    this.add(this.root, stat);
    if (stat.isDirectory()) await this.fill(this.root);
    this.planRescan();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.gather);
    clearTimeout(this.rescan);
    await this.work;
    for (const { watcher } of this.seen.values()) watcher?.close();
    this.seen.clear();
  }

  /** Takes in what is in a folder, without a word. */
  private async fill(folder: string): Promise<void> {
    for (const name of await this.names(folder)) {
      const path = joinPath(folder, name);
      const stat = await this.stat(path);
      if (stat === undefined) continue;
      this.add(path, stat);
      if (this.isOurs(stat)) await this.fill(path);
    }
  }

  private add(path: string, stat: BigIntStats): void {
    this.seen.get(path)?.watcher?.close();
    this.seen.set(path, { stat, watcher: this.isOurs(stat) || path === this.root ? this.listen(path) : undefined });
  }

  private listen(path: string): FSWatcher | undefined {
    if (this.options.inotify === false) return undefined;
    try {
      const watcher = watch(this.outside(path), { persistent: false }, () => this.look(path));
      watcher.on("error", (error) => this.handlers.onError(error));
      return watcher;
    } catch (error) {
      // Too many watches (ENOSPC) is worth a word; the scans go on without. A folder that is gone again is none.
      if (codeOf(error) !== "ENOENT") this.handlers.onError(new FileError(codeOf(error) ?? "EIO", `watch ${path}: no watch for this folder; changes show later`, path));
      return undefined;
    }
  }

  private look(folder: string): void {
    this.notices += 1;
    this.dirty.add(folder);
    this.gather ??= setTimeout(() => {
      this.gather = undefined;
      const folders = [...this.dirty].sort();
      this.dirty.clear();
      this.queue(async () => {
        for (const each of folders) await this.compare(each);
      });
    }, gatherMs);
  }

  private planRescan(): void {
    this.rescan = setTimeout(() => {
      this.queue(async () => {
        const before = this.notices;
        const found = await this.compare(this.root, true);
        if (found > 0) this.suspect(before, found);
      });
      this.planRescan();
    }, this.options.rescanMs ?? defaultRescanMs);
    this.rescan.unref();
  }

  /** A scan found changes; unless inotify tells of some in a moment, it had lost them. */
  private suspect(before: number, found: number): void {
    const timer = setTimeout(() => {
      if (this.closed || this.notices !== before) return;
      this.handlers.onError(new FileError("EOVERFLOW", `watch ${this.root}: ${found} changes were lost and found by a scan`, this.root));
    }, noticeMs);
    timer.unref();
  }

  private queue(act: () => Promise<void>): void {
    this.work = this.work.then(async () => {
      if (!this.closed) await act().catch((error: unknown) => this.handlers.onError(error));
    });
  }

  /** Tells the difference of a folder to what was there; everything below too when `deep`. Gives the number of changes. */
  private async compare(folder: string, deep = false): Promise<number> {
    if (folder === this.root && (await this.isRootGone())) return this.forget(this.root);
    let changes = 0;
    const names = new Set(await this.names(folder));
    for (const path of this.childrenOf(folder)) {
      if (!names.has(path.slice(folder.length + 1))) changes += this.forget(path);
    }
    for (const name of names) changes += await this.compareOne(joinPath(folder, name), deep);
    return changes;
  }

  /** Removed, or removed and made again: the watch is on the old one, and whoever watches has to start anew. */
  private async isRootGone(): Promise<boolean> {
    const before = this.seen.get(this.root)?.stat;
    if (before === undefined) return false;
    const now = await this.stat(this.root);
    return now === undefined || now.ino !== before.ino || now.dev !== before.dev;
  }

  private async compareOne(path: string, deep: boolean): Promise<number> {
    const stat = await this.stat(path);
    const before = this.seen.get(path)?.stat;
    if (stat === undefined) return before === undefined ? 0 : this.forget(path);
    if (before !== undefined && before.ino === stat.ino && before.dev === stat.dev) {
      const kind = changeOf(before, stat);
      if (kind !== undefined) this.tell(path, kind);
      this.seen.set(path, { stat, watcher: this.seen.get(path)?.watcher });
      return (kind === undefined ? 0 : 1) + (deep && this.isOurs(stat) ? await this.compare(path, true) : 0);
    }
    if (before !== undefined) this.forget(path);
    this.add(path, stat);
    this.tell(path, "create");
    // What was put in before the watch was there.
    return 1 + (this.isOurs(stat) ? await this.compare(path, true) : 0);
  }

  private forget(path: string): number {
    let count = 0;
    for (const gone of [...this.seen.keys()].filter((each) => each === path || each.startsWith(`${path}/`)).sort().reverse()) {
      this.seen.get(gone)?.watcher?.close();
      this.seen.delete(gone);
      this.tell(gone, "remove");
      count += 1;
    }
    return count;
  }

  private tell(path: string, kind: WatchEvent["kind"]): void {
    if (!this.closed) this.handlers.onEvent({ path, kind });
  }

  private childrenOf(folder: string): readonly string[] {
    return [...this.seen.keys()].filter((path) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/"));
  }

  /** A folder on the file system of the watched one: others may hang and are not entered. */
  private isOurs(stat: BigIntStats): boolean {
    return stat.isDirectory() && stat.dev === (this.seen.get(this.root)?.stat.dev ?? stat.dev);
  }

  private async names(folder: string): Promise<readonly string[]> {
    return readdir(this.outside(folder)).catch((error: unknown) => {
      if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return [];
      throw error;
    });
  }

  private async stat(path: string): Promise<BigIntStats | undefined> {
    return lstat(this.outside(path), { bigint: true }).catch((error: unknown) => {
      if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
      throw error;
    });
  }

  private outside(path: string): string {
    return (this.options.prefix ?? "") + path;
  }
}

/** A folder's own times change with its entries, which are told themselves. */
function changeOf(before: BigIntStats, after: BigIntStats): WatchEvent["kind"] | undefined {
  if (!after.isDirectory() && (before.mtimeNs !== after.mtimeNs || before.size !== after.size)) return "write";
  if (before.mode !== after.mode || before.uid !== after.uid || before.gid !== after.gid) return "chmod";
  return undefined;
}
