/** The Files port on this machine: no link is followed by a change, nothing outside of what is allowed is touched. */
import * as fs from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { asFileError, bareError, fileError, linkError } from "@/server/hosts/file-errors";
import { mountsAtOrBelow, topMountAt } from "@/server/hosts/mount-queries";
import type { LinkCall } from "@/server/hosts/file-errors";
import { cleanPath } from "@/server/hosts/paths";
import type { DirEntry, Exec, Files, FileStat, FsInfo, Log } from "@/server/volume/ports";
import { FileError } from "@/server/volume/ports";
import type { Access } from "./access";
import type { ForeignCalls } from "./foreign-call";
import { fsInfoOf, kindOfMode, numberOf, recordOf, statOfAnswer } from "./foreign-answers";
import {
  changeMode,
  createEmptyFile,
  makeDirectory,
  open,
  readDirectory,
  readRegularFile,
  sortEntries,
  statFileSystem,
  statOf,
  unlinkAt,
  writeRegularFile,
} from "./local-files";
import type { MountReader } from "./mount-reader";
import { endOf } from "./exec";
import { TreeRemover } from "./remove-tree";
import { directoryFlags, Walker } from "./walk";
import type { ForeignPlace, LocalPlace, Place, WalkRequest } from "./walk";

const umask = 0o022;
const usageTimeoutMs = 60_000;

export interface LinuxFilesOptions {
  readonly access: Access;
  readonly mounts: MountReader;
  readonly foreignCalls: ForeignCalls;
  readonly exec: Exec;
  readonly log: Log;
  /** "" or `/proc/PID/root` of the mount namespace that the files are seen in. */
  readonly prefix?: string;
}

/** Go's word for a call, and its path, for the error text. */
interface Call {
  readonly op: string;
  readonly path: string;
}

interface ForeignCall {
  readonly call: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** What to do where a walk ended. */
interface Acts<T> {
  local(place: LocalPlace): Promise<T>;
  foreign(place: ForeignPlace): Promise<T>;
  /** The error for a place where nothing is; ENOENT unless given. */
  missing?(place: LocalPlace): FileError;
}

const following = { parents: "follow", last: "follow" } as const;

export class LinuxFiles implements Files {
  readonly walker: Walker;
  private readonly remover: TreeRemover;

  constructor(private readonly options: LinuxFilesOptions) {
    this.walker = new Walker({ access: options.access, mounts: options.mounts, prefix: options.prefix ?? "" });
    this.remover = new TreeRemover(options);
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.look({ op: "stat", path, ...following });
  }

  lstat(path: string): Promise<FileStat | undefined> {
    return this.look({ op: "lstat", path, parents: "follow", last: "keep" });
  }

  readDir(path: string): Promise<readonly DirEntry[]> {
    const request = { op: "open", path, ...following };
    return this.at(request, {
      local: readDirectory,
      foreign: async (place) => {
        const answer = await this.ask(place, request, { call: "readDir" });
        const entries = Array.isArray(answer) ? answer.map(recordOf) : [];
        return sortEntries(entries.map((entry) => ({ name: String(entry["name"]), kind: kindOfMode(numberOf(entry["mode"])) })));
      },
    });
  }

  readFile(path: string): Promise<Uint8Array> {
    const request = { op: "open", path, ...following };
    return this.at(request, {
      local: (place) => readRegularFile(place, path),
      foreign: async (place) => new Uint8Array(Buffer.from(String(await this.ask(place, request, { call: "readFile" })), "base64")),
    });
  }

  async readText(path: string): Promise<string> {
    return new TextDecoder().decode(await this.readFile(path));
  }

  readLink(path: string): Promise<string> {
    const request = { op: "readlink", path, parents: "follow", last: "keep" } as const;
    return this.at(request, {
      local: ({ at }) => fs.readlink(at),
      foreign: async (place) => String(await this.ask(place, request, { call: "readLink" })),
    });
  }

  writeFile(path: string, data: Uint8Array | string, mode: number): Promise<void> {
    return this.change({ op: "open", path, last: "refuse" }, (place) => writeRegularFile({ place, shown: path }, data, mode), {
      call: "writeFile",
      args: { data: Buffer.from(data).toString("base64"), mode },
    });
  }

  createFile(path: string, mode: number): Promise<void> {
    return this.change({ op: "open", path, last: "keep" }, (place) => createEmptyFile(place, mode), { call: "createFile", args: { mode } });
  }

  async mkdirAll(path: string, mode: number): Promise<void> {
    const there = await this.look({ op: "stat", path, ...following });
    if (there?.kind === "directory") return;
    if (there !== undefined) throw fileError("mkdir", path, "ENOTDIR");
    const placed = await this.walker.allowed("mkdir", path, path);
    const { above, segments } = this.walker.address(placed);
    const prefixes = segments.map((_, index) => cleanPath(`${above}/${segments.slice(0, index + 1).join("/")}`));
    for (const prefix of prefixes) await this.makeDir(prefix, mode & ~umask);
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.change({ op: "chmod", path, last: "refuse" }, ({ at }) => changeMode(at, mode & 0o7777), {
      call: "chmod",
      args: { mode: mode & 0o7777 },
    });
  }

  chown(path: string, uid: number, gid: number): Promise<void> {
    return this.change({ op: "lchown", path, last: "keep" }, ({ at }) => fs.lchown(at, uid, gid), { call: "chown", args: { uid, gid } });
  }

  async symlink(target: string, path: string): Promise<void> {
    try {
      await this.change({ op: "symlink", path, last: "keep" }, ({ at }) => fs.symlink(target, at), { call: "symlink", args: { target } });
    } catch (error) {
      throw asLinkError(error, { op: "symlink", from: target, to: path });
    }
  }

  async rename(from: string, to: string): Promise<void> {
    const call = { op: "rename", from, to } as const;
    const [source, target] = await this.renamePlaces(call);
    try {
      if (source.kind === "local" && target.kind === "local") {
        await this.ifNotMounted(target, async () => undefined);
        await this.ifNotMounted(source, ({ at }) => fs.rename(at, target.at));
      } else if (source.kind === "foreign" && target.kind === "foreign") {
        await this.ask(source, { op: "rename", path: to }, { call: "rename", args: { to: target.address } });
      } else {
        throw linkError(call, "EXDEV");
      }
    } catch (error) {
      throw asLinkError(error, call);
    } finally {
      await source.close();
      await target.close();
    }
  }

  unlink(path: string): Promise<void> {
    return this.change({ op: "remove", path, last: "keep" }, (place) => this.ifNotMounted(place, unlinkAt), { call: "unlink" });
  }

  rmdir(path: string): Promise<void> {
    return this.change({ op: "remove", path, last: "keep" }, (place) => this.ifNotMounted(place, ({ at }) => fs.rmdir(at)), { call: "rmdir" });
  }

  async removeAll(path: string): Promise<void> {
    const placed = await this.walker.allowed("unlinkat", path, path);
    if (this.options.access.isBase(placed)) throw fileError("unlinkat", path, "EBUSY");
    if (mountsAtOrBelow(await this.options.mounts.read(), placed).length > 0) throw fileError("unlinkat", path, "EBUSY");
    const place = await this.walker.walk({ op: "unlinkat", path, parents: "refuse", last: "keep" }).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    });
    if (place === undefined) return;
    try {
      if (place.kind === "foreign") throw fileError("unlinkat", path, "EBUSY");
      await this.remover.remove(place, path);
      await this.remover.sweep(place);
    } finally {
      await place.close();
    }
  }

  async statfs(path: string): Promise<FsInfo> {
    try {
      const request = { op: "statfs", path, ...following };
      return await this.at(request, {
        local: statFileSystem,
        foreign: async (place) => fsInfoOf(recordOf(await this.ask(place, request, { call: "statfs" }))),
      });
    } catch (error) {
      const code = codeOf(error);
      throw code === undefined || code === "EACCES" || code === "ETIMEDOUT" ? error : bareError(path, code);
    }
  }

  usage(path: string): Promise<{ readonly usedBytes: bigint; readonly inodesUsed: bigint }> {
    const request = { op: "lstat", path, parents: "follow", last: "refuse" } as const;
    return this.at(request, {
      local: async (place) => {
        const directory = await open(place, directoryFlags);
        try {
          return await this.diskUsage(`/proc/${process.pid}/fd/${directory.fd}/.`, path);
        } finally {
          await directory.close();
        }
      },
      foreign: ({ address }) => this.diskUsage([address.start, ...address.segments].join("/"), path),
    });
  }

  realPath(path: string): Promise<string> {
    return this.at(
      { op: "lstat", path, ...following },
      {
        local: async (place) => place.real,
        foreign: async (place) => place.real,
        missing: (place) => fileError("lstat", place.real, "ENOENT"),
      },
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
      return statOfAnswer(recordOf(await this.ask(place, request, { call: "lstat" })));
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
  private async at<T>(request: WalkRequest, acts: Acts<T>): Promise<T> {
    const place = await this.walker.walk(request);
    try {
      if (place.kind === "foreign") return await acts.foreign(place);
      if (place.stat === undefined && !creates(request)) {
        throw acts.missing?.(place) ?? fileError(request.op, request.path, "ENOENT");
      }
      return await acts.local(place);
    } catch (error) {
      throw asFileError(error, request.op, request.path);
    } finally {
      await place.close();
    }
  }

  /** A change of one thing, reached through no link. */
  private change(
    call: Call & { readonly last: "keep" | "refuse" },
    local: (place: LocalPlace) => Promise<void>,
    foreign: ForeignCall,
  ): Promise<void> {
    return this.at({ ...call, parents: "refuse" }, {
      local,
      foreign: async (place) => {
        await this.ask(place, call, foreign);
      },
    });
  }

  private async ask(place: ForeignPlace, { op, path }: Call, { call, args = {} }: ForeignCall): Promise<unknown> {
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
    const there = await this.look({ op: "stat", path, ...following });
    if (there?.kind === "directory") return;
    if (there !== undefined) throw fileError("mkdir", path, "ENOTDIR");
    try {
      await this.change({ op: "mkdir", path, last: "keep" }, ({ at }) => makeDirectory(at, mode), { call: "mkdir", args: { mode } });
    } catch (error) {
      // Somebody else made it meanwhile, as two volumes of one pod do: as good as ours when it is a directory.
      const now = codeOf(error) === "EEXIST" ? await this.look({ op: "stat", path, ...following }) : undefined;
      if (now?.kind !== "directory") throw error;
    }
  }

  private async renamePlaces(call: LinkCall): Promise<readonly [Place, Place]> {
    const walk = (path: string): Promise<Place> => this.walker.walk({ op: "rename", path, parents: "refuse", last: "keep" });
    try {
      const source = await walk(call.from);
      try {
        return [source, await walk(call.to)];
      } catch (error) {
        await source.close();
        throw error;
      }
    } catch (error) {
      throw asLinkError(error, call);
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

function asLinkError(error: unknown, call: LinkCall): unknown {
  const code = codeOf(error);
  return code === undefined ? error : linkError(call, code);
}
