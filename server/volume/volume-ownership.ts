/**
 * Gives a volume to the pod's fsGroup. Source: pkg/volume/volume_linux.go (VolumeOwnership.ChangePermissions) of v1.37.2. Ours
 * follows no link and stays on the volume: what is mounted below it belongs to somebody else.
 */
import type { VolumeHost } from "@/server/volume/host";
import { FileError, type Files, type FileStat } from "@/server/volume/ports";

export interface OwnershipChange {
  /** The root of the volume. */
  readonly dir: string;
  /** Nothing to do without a group. */
  readonly fsGroup: number | undefined;
  /** `OnRootMismatch` spares a volume whose root already fits; anything else walks the whole tree. */
  readonly fsGroupChangePolicy?: string;
  /** The volume's own attribute: a group of a read-only volume may only read. */
  readonly readOnly: boolean;
}

const readWriteMask = 0o660;
const readOnlyMask = 0o440;
const executeMask = 0o110;
const setGid = 0o2000;

/**
 * Changes group and mode of everything in the volume, children before parents. A file that refuses is logged and passed over, as the
 * kubelet does; a directory that can't be read throws.
 */
export async function setVolumeOwnership(host: Pick<VolumeHost, "getMounter" | "ports">, change: OwnershipChange): Promise<void> {
  const { dir, fsGroup, readOnly } = change;
  if (fsGroup === undefined) return;
  const { files, log } = host.ports;

  if (change.fsGroupChangePolicy === "OnRootMismatch" && (await rootFits(files, change))) return;

  const root = await files.lstat(dir);
  if (!root) throw new FileError("ENOENT", `lstat ${dir}: no such file or directory`, dir);
  const foreign = await mountPointsBelow(host, dir);
  await visit(dir, root);

  async function visit(path: string, stat: FileStat): Promise<void> {
    if (stat.kind === "directory") {
      for (const { name } of await files.readDir(path)) {
        const child = `${path}/${name}`;
        const childStat = foreign.has(child) ? undefined : await files.lstat(child);
        if (childStat) await visit(child, childStat);
      }
    }
    await attempt("change the group", path, files.chown(path, -1, fsGroup ?? -1));
    if (stat.kind === "symlink") return;
    await attempt("change the mode", path, files.chmod(path, stat.mode | groupMask(stat, readOnly)));
  }

  async function attempt(what: string, path: string, change: Promise<void>): Promise<void> {
    try {
      await change;
    } catch (error) {
      log.error(`could not ${what}`, error, { path });
    }
  }
}

function groupMask(stat: FileStat, readOnly: boolean): number {
  const mask = readOnly ? readOnlyMask : readWriteMask;
  return stat.kind === "directory" ? mask | setGid | executeMask : mask;
}

/** The inverse of requiresPermissionChange; a root that can't be looked at does not fit. */
async function rootFits(files: Files, { dir, fsGroup, readOnly }: OwnershipChange): Promise<boolean> {
  try {
    const root = await files.stat(dir);
    if (root?.kind !== "directory" || root.gid !== fsGroup) return false;
    const wanted = groupMask(root, readOnly);
    return (root.mode & wanted) === wanted;
  } catch {
    return false;
  }
}

async function mountPointsBelow(host: Pick<VolumeHost, "getMounter">, dir: string): Promise<ReadonlySet<string>> {
  const mounter = host.getMounter();
  if (!mounter) return new Set();
  const prefix = `${dir}/`;
  const mounts = await mounter.list();
  return new Set(mounts.map((mount) => mount.path).filter((path) => path.startsWith(prefix)));
}
