/** The Files port on this machine: no link is followed by a change, nothing outside of what is allowed is touched. */
import type { BigIntStats, Stats } from "node:fs";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { asFileError, bareError, fileError, linkError } from "@/server/hosts/file-errors";
import { mountsAtOrBelow, topMountAt } from "@/server/hosts/mount-queries";
import { cleanPath } from "@/server/hosts/paths";
import type { DirEntry, Exec, FileKind, Files, FileStat, FsInfo } from "@/server/volume/ports";
import { FileError } from "@/server/volume/ports";
import type { Access } from "./access";
import type { ForeignCalls } from "./foreign-call";
import { deviceText, fsInfoOf, kindOfMode, numberOf, recordOf, statOfAnswer } from "./foreign-answers";
import type { MountReader } from "./mount-reader";
import { endOf } from "./exec";
import { removeTree } from "./remove-tree";
import { directoryFlags, Walker } from "./walk";
import type { ForeignPlace, LocalPlace, Place, WalkRequest } from "./walk";

/** O_PATH, which Node does not name: a handle to the thing itself, good for chmod and statfs. */
export const pathFlag = 0o10000000;
const umask = 0o022;
const usageTimeoutMs = 60_000;

export interface LinuxFilesOptions {
  readonly access: Access;
  readonly mounts: MountReader;
  readonly foreignCalls: ForeignCalls;
  readonly exec: Exec;
  /** "" or `/proc/PID/root` of the mount namespace that the files are seen in. */
  readonly prefix?: string;
}

export class LinuxFiles implements Files {
  readonly walker: Walker;

  constructor(private readonly options: LinuxFilesOptions) {
    this.walker = new Walker({ access: options.access, mounts: options.mounts, prefix: options.prefix ?? "" });
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.look({ op: "stat", path, parents: "follow", last: "follow" });
  }

  lstat(path: string): Promise<FileStat | undefined> {
    return this.look({ op: "lstat", path, parents: "follow", last: "keep" });
  }

  readDir(path: string): Promise<readonly DirEntry[]> {
    return this.at({ op: "open", path, parents: "follow", last: "follow" }, readDirectory, async (place) => {
      const answer = await this.ask(place, "open", path, "readDir");
      const entries = Array.isArray(answer) ? answer.map(recordOf) : [];
      return sortEntries(entries.map((entry) => ({ name: String(entry["name"]), kind: kindOfMode(numberOf(entry["mode"])) })));
    });
  }

  readFile(path: string): Promise<Uint8Array> {
    return this.at({ op: "open", path, parents: "follow", last: "follow" }, (place) => readRegularFile(place, path), async (place) => {
      const answer = await this.ask(place, "open", path, "readFile");
      return new Uint8Array(Buffer.from(String(answer), "base64"));
    });
  }

  async readText(path: string): Promise<string> {
    return new TextDecoder().decode(await this.readFile(path));
  }

  readLink(path: string): Promise<string> {
    return this.at(
      { op: "readlink", path, parents: "follow", last: "keep" },
      ({ at }) => fs.readlink(at),
      async (place) => String(await this.ask(place, "readlink", path, "readLink")),
    );
  }

  writeFile(path: string, data: Uint8Array | string, mode: number): Promise<void> {
    return this.change("open", path, "refuse", (place) => writeRegularFile({ place, shown: path }, data, mode), {
      call: "writeFile",
      args: { data: Buffer.from(data).toString("base64"), mode },
    });
  }

  async mkdirAll(path: string, mode: number): Promise<void> {
    const there = await this.look({ op: "stat", path, parents: "follow", last: "follow" });
    if (there?.kind === "directory") return;
    if (there !== undefined) throw fileError("mkdir", path, "ENOTDIR");
    const placed = await this.walker.allowed("mkdir", path, path);
    const { above, segments } = this.walker.address(placed);
    const prefixes = segments.map((_, index) => cleanPath(`${above}/${segments.slice(0, index + 1).join("/")}`));
    for (const prefix of prefixes) await this.makeDir(prefix, mode & ~umask);
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.change("chmod", path, "refuse", ({ at }) => changeMode(at, mode & 0o7777), {
      call: "chmod",
      args: { mode: mode & 0o7777 },
    });
  }

  chown(path: string, uid: number, gid: number): Promise<void> {
    return this.change("lchown", path, "keep", ({ at }) => fs.lchown(at, uid, gid), { call: "chown", args: { uid, gid } });
  }

  async symlink(target: string, path: string): Promise<void> {
    const request = { op: "symlink", path, parents: "refuse", last: "keep" } as const;
    try {
      await this.at(request, ({ at }) => fs.symlink(target, at), async (place) => {
        await this.ask(place, "symlink", path, "symlink", { target });
      });
    } catch (error) {
      throw asLinkError(error, "symlink", target, path);
    }
  }

  async rename(from: string, to: string): Promise<void> {
    const [source, target] = await this.renamePlaces(from, to);
    try {
      if (source.kind === "local" && target.kind === "local") {
        await this.ifNotMounted(target, async () => undefined);
        await this.ifNotMounted(source, ({ at }) => fs.rename(at, target.at));
      } else if (source.kind === "foreign" && target.kind === "foreign") {
        await this.ask(source, "rename", to, "rename", { to: target.address });
      } else {
        throw linkError("rename", from, to, "EXDEV");
      }
    } catch (error) {
      throw asLinkError(error, "rename", from, to);
    } finally {
      await source.close();
      await target.close();
    }
  }

  unlink(path: string): Promise<void> {
    return this.change("remove", path, "keep", (place) => this.ifNotMounted(place, unlinkAt), { call: "unlink", args: {} });
  }

  rmdir(path: string): Promise<void> {
    return this.change("remove", path, "keep", (place) => this.ifNotMounted(place, ({ at }) => fs.rmdir(at)), { call: "rmdir", args: {} });
  }

  async removeAll(path: string): Promise<void> {
    const placed = await this.walker.allowed("unlinkat", path, path);
    if (placed === this.options.access.baseOf(placed)) throw fileError("unlinkat", path, "EBUSY");
    if (mountsAtOrBelow(await this.options.mounts.read(), placed).length > 0) throw fileError("unlinkat", path, "EBUSY");
    const place = await this.placeOrNothing({ op: "unlinkat", path, parents: "refuse", last: "keep" });
    if (place === undefined) return;
    try {
      if (place.kind === "foreign") throw fileError("unlinkat", path, "EBUSY");
      await removeTree(place, path, this.options);
    } finally {
      await place.close();
    }
  }

  async statfs(path: string): Promise<FsInfo> {
    try {
      return await this.at({ op: "statfs", path, parents: "follow", last: "follow" }, statFileSystem, async (place) =>
        fsInfoOf(recordOf(await this.ask(place, "statfs", path, "statfs"))),
      );
    } catch (error) {
      const code = codeOf(error);
      throw code === undefined || code === "EACCES" || code === "ETIMEDOUT" ? error : bareError(path, code);
    }
  }

  usage(path: string): Promise<{ readonly usedBytes: bigint; readonly inodesUsed: bigint }> {
    const request = { op: "lstat", path, parents: "follow", last: "refuse" } as const;
    return this.at(
      request,
      async (place) => {
        const directory = await open(place, directoryFlags);
        try {
          return await this.diskUsage(`/proc/${process.pid}/fd/${directory.fd}/.`, path);
        } finally {
          await directory.close();
        }
      },
      ({ address }) => this.diskUsage([address.start, ...address.segments].join("/"), path),
    );
  }

  realPath(path: string): Promise<string> {
    return this.at(
      { op: "lstat", path, parents: "follow", last: "follow" },
      async (place) => place.real,
      async (place) => place.real,
      (place) => fileError("lstat", place.real, "ENOENT"),
    );
  }

  /** Opens a directory, or whatever else is there with O_PATH, without following a link. The caller closes it. */
  async openPlace(op: string, path: string, flags: number): Promise<FileHandle> {
    const place = await this.walker.walk({ op, path, parents: "refuse", last: "refuse" });
    try {
      if (place.kind === "foreign") throw fileError(op, path, "EXDEV");
      if (place.stat === undefined) throw fileError(op, path, "ENOENT");
      return await open(place, flags);
    } finally {
      await place.close();
    }
  }

  private async look(request: WalkRequest): Promise<FileStat | undefined> {
    const place = await this.placeOrNothing(request);
    if (place === undefined) return undefined;
    await place.close();
    if (place.kind === "local") return place.stat === undefined ? undefined : statOf(place.stat);
    try {
      return statOfAnswer(recordOf(await this.ask(place, request.op, request.path, "lstat")));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  private async placeOrNothing(request: WalkRequest): Promise<Place | undefined> {
    try {
      const place = await this.walker.walk(request);
      if (place.kind === "foreign" || place.stat !== undefined) return place;
      await place.close();
      return undefined;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Walks to a path, calls what fits the place, closes it, and turns Node's errors into Go's words. */
  private async at<T>(
    request: WalkRequest,
    onLocal: (place: LocalPlace) => Promise<T>,
    onForeign: (place: ForeignPlace) => Promise<T>,
    missing: (place: LocalPlace) => FileError = () => fileError(request.op, request.path, "ENOENT"),
  ): Promise<T> {
    const place = await this.walker.walk(request);
    try {
      if (place.kind === "foreign") return await onForeign(place);
      if (place.stat === undefined && !creates(request)) throw missing(place);
      return await onLocal(place);
    } catch (error) {
      throw asFileError(error, request.op, request.path);
    } finally {
      await place.close();
    }
  }

  private change(
    op: string,
    path: string,
    last: "keep" | "refuse",
    onLocal: (place: LocalPlace) => Promise<void>,
    foreign: { readonly call: string; readonly args: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    // Opening for reading never creates; only a change by this word does.
    const request = { op, path, parents: "refuse", last } as const;
    return this.at(request, onLocal, async (place) => {
      await this.ask(place, op, path, foreign.call, foreign.args);
    });
  }

  private async ask(
    place: ForeignPlace,
    op: string,
    path: string,
    call: string,
    args: Readonly<Record<string, unknown>> = {},
  ): Promise<unknown> {
    const answer = await this.options.foreignCalls.ask({ place: place.address, call, args }, path);
    if ("code" in answer) throw fileError(op, path, answer.code);
    return answer.value;
  }

  /**
   * From outside of a mount namespace the kernel lets its mount points be removed and renamed, and takes the mounts off: there we look
   * ourselves.
   */
  private async ifNotMounted(place: LocalPlace, act: (place: LocalPlace) => Promise<void>): Promise<void> {
    if ((this.options.prefix ?? "") !== "" && topMountAt(await this.options.mounts.read(), place.real) !== undefined) {
      throw Object.assign(new Error("a mount point"), { code: "EBUSY" });
    }
    await act(place);
  }

  private async makeDir(path: string, mode: number): Promise<void> {
    const there = await this.look({ op: "stat", path, parents: "follow", last: "follow" });
    if (there?.kind === "directory") return;
    if (there !== undefined) throw fileError("mkdir", path, "ENOTDIR");
    const request = { op: "mkdir", path, parents: "refuse", last: "keep" } as const;
    await this.at(request, ({ at }) => makeDirectory(at, mode), async (place) => {
      await this.ask(place, "mkdir", path, "mkdir", { mode });
    });
  }

  private async renamePlaces(from: string, to: string): Promise<readonly [Place, Place]> {
    const walk = (path: string): Promise<Place> => this.walker.walk({ op: "rename", path, parents: "refuse", last: "keep" });
    try {
      const source = await walk(from);
      try {
        return [source, await walk(to)];
      } catch (error) {
        await source.close();
        throw error;
      }
    } catch (error) {
      throw asLinkError(error, "rename", from, to);
    }
  }

  /** du -x, twice: a child process, so that a slow tree keeps no thread of ours. */
  private async diskUsage(at: string, shown: string): Promise<{ readonly usedBytes: bigint; readonly inodesUsed: bigint }> {
    const [usedBytes, inodesUsed] = await Promise.all(
      [["--block-size=1"], ["--inodes"]].map(async (unit) => {
        const result = await this.options.exec.run("du", ["-s", "-x", ...unit, "--", at], { timeoutMs: usageTimeoutMs });
        const total = /^(\d+)\t/m.exec(result.output.split("\n").findLast((line) => /^\d+\t/.test(line)) ?? "")?.[1];
        if (result.timedOut) throw fileError("lstat", shown, "ETIMEDOUT");
        // Exit code 1 with a total: something vanished meanwhile.
        if (total === undefined) throw new FileError("EIO", `du ${shown}: ${endOf(result)}: ${result.output.trim()}`, shown);
        return BigInt(total);
      }),
    );
    return { usedBytes: usedBytes ?? 0n, inodesUsed: inodesUsed ?? 0n };
  }
}

function creates(request: WalkRequest): boolean {
  return request.parents === "refuse" && (request.op === "open" || request.op === "symlink" || request.op === "mkdir");
}

async function open(place: LocalPlace, flags: number): Promise<FileHandle> {
  return fs.open(place.at, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
}

async function readDirectory(place: LocalPlace): Promise<readonly DirEntry[]> {
  const directory = await open(place, directoryFlags);
  try {
    const self = `/proc/self/fd/${directory.fd}`;
    const entries = await fs.readdir(self, { withFileTypes: true });
    return sortEntries(entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })));
  } finally {
    await directory.close();
  }
}

async function readRegularFile(place: LocalPlace, shown: string): Promise<Uint8Array> {
  const { stat } = place;
  if (stat?.isDirectory() === true) throw fileError("read", shown, "EISDIR");
  const file = await open(place, constants.O_RDONLY);
  try {
    if (!(await file.stat()).isFile()) throw fileError("open", shown, "ENXIO");
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

async function writeRegularFile(
  { place, shown }: { readonly place: LocalPlace; readonly shown: string },
  data: Uint8Array | string,
  mode: number,
): Promise<void> {
  if (place.stat?.isDirectory() === true) throw fileError("open", shown, "EISDIR");
  const file = await open(place, constants.O_WRONLY | constants.O_CREAT);
  try {
    if (!(await file.stat()).isFile()) throw fileError("open", shown, "ENXIO");
    await file.chmod(mode);
    await file.truncate(0);
    await file.writeFile(data).catch((error: unknown) => {
      throw asFileError(error, "write", shown);
    });
  } finally {
    await file.close();
  }
}

async function makeDirectory(at: string, mode: number): Promise<void> {
  await fs.mkdir(at, mode);
  const made = await fs.lstat(at);
  // Only this process's own umask can have changed the mode; an inherited set-gid stays.
  if ((made.mode & 0o777) !== (mode & 0o777)) await changeMode(at, (made.mode & 0o7000) | mode);
}

/** There is no chmod that refuses links: a handle to the thing itself stands in. */
async function changeMode(at: string, mode: number): Promise<void> {
  const handle = await fs.open(at, pathFlag | constants.O_NOFOLLOW);
  try {
    if ((await handle.stat()).isSymbolicLink()) throw Object.assign(new Error("a link"), { code: "ELOOP" });
    await fs.chmod(`/proc/self/fd/${handle.fd}`, mode);
  } finally {
    await handle.close();
  }
}

async function unlinkAt(place: LocalPlace): Promise<void> {
  if (place.stat?.isDirectory() === true) throw Object.assign(new Error("a directory"), { code: "EISDIR" });
  await fs.unlink(place.at);
}

async function statFileSystem(place: LocalPlace): Promise<FsInfo> {
  const handle = await fs.open(place.at, pathFlag | constants.O_NOFOLLOW);
  try {
    const stat = await fs.statfs(`/proc/self/fd/${handle.fd}`, { bigint: true });
    return fsInfoOf({ ...stat });
  } finally {
    await handle.close();
  }
}

function statOf(stat: BigIntStats): FileStat {
  return {
    kind: kindOf(stat),
    mode: Number(stat.mode & 0o7777n),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    sizeBytes: stat.size,
    modifiedMs: Number(stat.mtimeMs),
    device: deviceText(stat.dev),
    inode: stat.ino,
  };
}

type KindAnswers = Pick<
  Stats,
  "isFile" | "isDirectory" | "isSymbolicLink" | "isSocket" | "isFIFO" | "isBlockDevice" | "isCharacterDevice"
>;

export function kindOf(entry: KindAnswers): FileKind {
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isSocket()) return "socket";
  if (entry.isFIFO()) return "fifo";
  if (entry.isBlockDevice()) return "block-device";
  return entry.isCharacterDevice() ? "char-device" : "file";
}

function sortEntries(entries: readonly DirEntry[]): readonly DirEntry[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function asLinkError(error: unknown, op: string, from: string, to: string): unknown {
  const code = codeOf(error);
  return code === undefined ? error : linkError(op, from, to, code);
}
