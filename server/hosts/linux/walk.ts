/** Walks to a path directory by directory, each opened without following a link, so that nobody can swap one under our hands. */
import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { BigIntStats } from "node:fs";
import { posix } from "node:path";
import { codeOf } from "@/lib/errors";
import { fileError, refusedError } from "@/server/hosts/file-errors";
import { parentOf, segmentsOf } from "@/server/hosts/paths";
import type { Access } from "./access";
import type { PlaceAddress } from "./foreign-call";
import type { MountReader } from "./mount-reader";

export interface WalkRequest {
  /** Go's word for the call, for the error text. */
  readonly op: string;
  readonly path: string;
  readonly parents: "follow" | "refuse";
  readonly last: "follow" | "keep" | "refuse";
}

/** On a local file system: `at` is a path through an open directory, good until `close`. */
export interface LocalPlace {
  readonly kind: "local";
  readonly holder: FileHandle;
  readonly at: string;
  readonly name: string;
  /** Without links, as this host's mount namespace shows it. */
  readonly real: string;
  readonly stat: BigIntStats | undefined;
  close(): Promise<void>;
}

/** On a mount whose calls may hang: only a child may go there. Links on the rest of the way are not followed. */
export interface ForeignPlace {
  readonly kind: "foreign";
  readonly address: PlaceAddress;
  readonly real: string;
  close(): Promise<void>;
}

export type Place = LocalPlace | ForeignPlace;

export const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const maxLinks = 40;

export interface WalkerOptions {
  readonly access: Access;
  readonly mounts: MountReader;
  /** Put before every path: "" or `/proc/PID/root` of another mount namespace. */
  readonly prefix: string;
}

type Outcome = Place | { readonly kind: "link"; readonly target: string };

export class Walker {
  constructor(private readonly options: WalkerOptions) {}

  /** Throws FileError EACCES (outside of what is allowed), ELOOP (a link where none is followed), ENOENT, ENOTDIR. */
  async walk(request: WalkRequest): Promise<Place> {
    const { op, path } = request;
    if (!path.startsWith("/")) throw fileError(op, path, "ENOENT");
    let target = await this.allowed(op, path, path);
    const isForeign = await this.options.mounts.foreign();
    for (let links = 0; links <= maxLinks; links += 1) {
      const outcome = await this.walkOnce(request, target, isForeign);
      if (outcome.kind !== "link") return outcome;
      target = await this.allowed(op, path, outcome.target);
    }
    throw fileError(op, path, "ELOOP");
  }

  /** Where a placed path begins: the directory above the allowed folder, and the names from there. */
  address(placed: string): PlaceAddress & { readonly above: string } {
    const above = parentOf(this.options.access.baseOf(placed));
    return { above, start: this.options.prefix + above, segments: segmentsOf(placed.slice(above.length)) };
  }

  async allowed(op: string, shown: string, path: string): Promise<string> {
    const placed = this.options.access.place(path);
    if (placed !== undefined) return placed;
    if (await this.options.access.mayUseDevice(path)) return path;
    throw refusedError(op, shown);
  }

  private async walkOnce(request: WalkRequest, target: string, isForeign: (path: string) => boolean): Promise<Outcome> {
    const { op, path } = request;
    const { above, start, segments } = this.address(target);
    const foreign: ForeignPlace = { kind: "foreign", address: { start, segments }, real: target, close: async () => undefined };
    if (isForeign(above)) return foreign;
    let holder = await open(start, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
      throw fileError(op, path, codeOf(error) ?? "EIO");
    });
    let reached = above;
    try {
      for (const [index, name] of segments.entries()) {
        const next = posix.join(reached, name);
        const isLast = index === segments.length - 1;
        if (isForeign(next)) {
          // The parent is local, so this is a mount point; the kernel would call it busy.
          if (isLast && meansEntry(request)) throw fileError(op, path, "EBUSY");
          await holder.close();
          return foreign;
        }
        const at = `/proc/self/fd/${holder.fd}/${name}`;
        if (!isLast) {
          const opened = await openDirectory(at);
          if (typeof opened === "string") {
            const link = await this.linkOrFail(request, { code: opened, at, reached, rest: segments.slice(index + 1) }, request.parents);
            await holder.close();
            return link;
          }
          await holder.close();
          holder = opened;
          reached = next;
          continue;
        }
        const stat = await lstat(at, { bigint: true }).catch((error: unknown) => {
          if (codeOf(error) === "ENOENT") return undefined;
          throw fileError(op, path, codeOf(error) ?? "EIO");
        });
        if (stat?.isSymbolicLink() === true && request.last !== "keep") {
          const link = await this.linkOrFail(request, { code: "ELOOP", at, reached, rest: [] }, request.last);
          await holder.close();
          return link;
        }
        return local(holder, { name, real: next, stat });
      }
      return local(holder, { name: "", real: reached, stat: await holder.stat({ bigint: true }) });
    } catch (error) {
      await holder.close();
      throw error;
    }
  }

  /** A directory that could not be opened: a link to go on with, or the error it means. */
  private async linkOrFail(
    request: WalkRequest,
    met: { readonly code: string; readonly at: string; readonly reached: string; readonly rest: readonly string[] },
    rule: "follow" | "refuse",
  ): Promise<{ kind: "link"; target: string }> {
    const { op, path } = request;
    const target = met.code === "ENOTDIR" || met.code === "ELOOP" ? await readlink(met.at).catch(() => undefined) : undefined;
    if (target === undefined) throw fileError(op, path, met.code);
    if (rule === "refuse") throw fileError(op, path, "ELOOP");
    return { kind: "link", target: posix.join(posix.resolve(met.reached, target), ...met.rest) };
  }
}

/** Calls that mean the directory entry itself, not what is mounted on it. */
function meansEntry(request: WalkRequest): boolean {
  return request.op === "remove" || request.op === "rename" || request.op === "unlinkat";
}

async function openDirectory(at: string): Promise<FileHandle | string> {
  try {
    return await open(at, directoryFlags);
  } catch (error) {
    return codeOf(error) ?? "EIO";
  }
}

function local(holder: FileHandle, found: Pick<LocalPlace, "name" | "real" | "stat">): LocalPlace {
  return {
    kind: "local",
    holder,
    ...found,
    at: `/proc/self/fd/${holder.fd}/${found.name === "" ? "." : found.name}`,
    close: () => holder.close(),
  };
}
