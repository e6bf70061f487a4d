/** The mount table as one process of this machine sees it. Reading it never waits for a file system. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { mountOf } from "@/server/hosts/mount-queries";
import type { MountInfo } from "@/server/volume/mount";
import { isForeignMount, parseMountInfo } from "./mount-table";

const cacheMs = 250;

export class MountReader {
  private cached: { readonly rows: readonly MountInfo[]; readonly hasForeign: boolean; readonly atMs: number } | undefined;

  /** `processId`: whose mount namespace. */
  constructor(private readonly processId: number | "self" = "self") {}

  async read(): Promise<readonly MountInfo[]> {
    const rows = await this.table();
    this.cached = { rows, hasForeign: rows.some(isForeignMount), atMs: Date.now() };
    return rows;
  }

  protected async table(): Promise<readonly MountInfo[]> {
    return parseMountInfo(await readFile(`/proc/${this.processId}/mountinfo`, "utf8"));
  }

  /** To be called after a mount or unmount of ours. */
  forget(): void {
    this.cached = undefined;
  }

  /** Answers for many paths at once whether they lie on a mount whose calls may never return. A table of a moment ago will do. */
  async foreign(): Promise<(path: string) => boolean> {
    if (this.cached === undefined || Date.now() - this.cached.atMs > cacheMs) await this.read();
    const { cached } = this;
    if (cached === undefined || !cached.hasForeign) return () => false;
    return (path) => {
      const row = mountOf(cached.rows, path);
      return row !== undefined && isForeignMount(row);
    };
  }
}

/** The rows of every mount namespace that a process of ours to see is in, this one's first. */
export async function readEveryMountTable(): Promise<readonly MountInfo[]> {
  const seen = new Set<string>();
  const rows: MountInfo[] = [];
  for (const pid of ["self", ...(await readdir("/proc")).filter((name) => /^\d+$/.test(name))]) {
    try {
      const namespace = await readlink(`/proc/${pid}/ns/mnt`);
      if (seen.has(namespace)) continue;
      rows.push(...parseMountInfo(await readFile(`/proc/${pid}/mountinfo`, "utf8")));
      seen.add(namespace);
    } catch (error) {
      // Ended meanwhile, ended and not reaped, or another user's.
      if (!["ENOENT", "ESRCH", "EINVAL", "EACCES", "EPERM"].includes(codeOf(error) ?? "") || pid === "self") throw error;
    }
  }
  return rows;
}
