/**
 * Reads of many paths below the same folders, for a look that changes nothing: a folder that was once found to be no link and on a
 * local file system is not walked to again. Whatever else is asked, a link, a foreign mount, goes the careful way.
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { asFileError, fileError } from "@/server/hosts/file-errors";
import { cleanPath, parentOf } from "@/server/hosts/paths";
import type { DirEntry, Files, FileStat } from "@/server/volume/ports";
import { kindOf, sortEntries, statOf } from "./local-files";
import type { MountReader } from "./mount-reader";

type Reads = Pick<Files, "stat" | "lstat" | "readDir" | "readFile" | "readText">;

type Folder = "plain" | "missing" | "other";
type Place = { readonly kind: "plain"; readonly path: string } | { readonly kind: "missing" } | { readonly kind: "other" };

/** Nobody but the owner of the folders may put links there meanwhile: good for a kubelet's own folders, not for what lies in volumes. */
export class PlainReads implements Reads {
  private readonly known = new Map<string, Promise<Folder>>([["/", Promise.resolve("plain")]]);

  constructor(
    private readonly careful: Files,
    private readonly mounts: Pick<MountReader, "foreign">,
  ) {}

  async lstat(path: string): Promise<FileStat | undefined> {
    const place = await this.placeOf(path);
    if (place.kind === "plain") return statAt("lstat", place.path);
    return place.kind === "missing" ? undefined : this.careful.lstat(path);
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const place = await this.placeOf(path);
    if (place.kind === "missing") return undefined;
    const stat = place.kind === "plain" ? await statAt("stat", place.path) : undefined;
    return place.kind === "other" || stat?.kind === "symlink" ? this.careful.stat(path) : stat;
  }

  async readDir(path: string): Promise<readonly DirEntry[]> {
    const clean = cleanPath(path);
    const folder = path.startsWith("/") ? await this.folder(clean) : "other";
    if (folder === "missing") throw fileError("open", path, "ENOENT");
    if (folder === "other") return this.careful.readDir(path);
    try {
      const entries = await fs.readdir(clean, { withFileTypes: true });
      return sortEntries(entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })));
    } catch (error) {
      throw asFileError(error, "open", path);
    }
  }

  async readFile(path: string): Promise<Uint8Array> {
    const place = await this.placeOf(path);
    if (place.kind === "missing") throw fileError("open", path, "ENOENT");
    if (place.kind === "other") return this.careful.readFile(path);
    try {
      return await readRegular(place.path);
    } catch (error) {
      if (codeOf(error) === "ELOOP") return this.careful.readFile(path);
      throw asFileError(error, "open", path);
    }
  }

  async readText(path: string): Promise<string> {
    return new TextDecoder().decode(await this.readFile(path));
  }

  /** Plain: all folders above it are, and nothing foreign is mounted on it. Missing: there is no such folder. */
  private async placeOf(path: string): Promise<Place> {
    if (!path.startsWith("/")) return { kind: "other" };
    const clean = cleanPath(path);
    const kind = await this.folder(parentOf(clean));
    if (kind !== "plain") return { kind };
    return (await this.mounts.foreign())(clean) ? { kind: "other" } : { kind, path: clean };
  }

  /** What is missing is looked for anew each time. */
  private async folder(path: string): Promise<Folder> {
    const asked = this.known.get(path) ?? this.ask(path);
    this.known.set(path, asked);
    const folder = await asked;
    if (folder === "missing") this.known.delete(path);
    return folder;
  }

  private async ask(path: string): Promise<Folder> {
    const place = await this.placeOf(path);
    if (place.kind !== "plain") return place.kind;
    try {
      return (await fs.lstat(path)).isDirectory() ? "plain" : "other";
    } catch (error) {
      return codeOf(error) === "ENOENT" ? "missing" : "other";
    }
  }
}

async function statAt(op: string, path: string): Promise<FileStat | undefined> {
  try {
    return statOf(await fs.lstat(path, { bigint: true }));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw asFileError(error, op, path);
  }
}

/** Throws ELOOP for a link. */
async function readRegular(path: string): Promise<Uint8Array> {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw fileError("read", path, "EISDIR");
    if (!stat.isFile()) throw fileError("open", path, "ENXIO");
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}
