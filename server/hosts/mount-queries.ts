/** Questions to a mount table, pure. Source: k8s.io/mount-utils v0.37.2 (mount_linux.go, mount_helper_unix.go). */
import { VolumeError } from "@/server/volume/errors";
import type { MountInfo, MountPoint } from "@/server/volume/mount";
import { isWithin, joinPath } from "./paths";

/** mount.SearchMountPoints: where else the same part of the same file system is mounted. The last row is on top. */
export function searchMountPoints(table: readonly MountInfo[], path: string): readonly string[] {
  const own = table.findLast((row) => isWithin(row.mountPoint, path));
  if (own === undefined) throw new VolumeError(`failed to get root path and major:minor for ${path}`);
  const root = joinPath(own.root, path.slice(own.mountPoint.length));
  return table
    .filter((row) => row.id !== own.id && row.root === root && row.device === own.device)
    .map((row) => row.mountPoint);
}

/** The row on top of a mount point. */
export function topMountAt(table: readonly MountInfo[], path: string): MountInfo | undefined {
  return table.findLast((row) => row.mountPoint === path);
}

/** The row a path lies on. */
export function mountOf(table: readonly MountInfo[], path: string): MountInfo | undefined {
  let best: MountInfo | undefined;
  for (const row of table) {
    if (isWithin(row.mountPoint, path) && row.mountPoint.length >= (best?.mountPoint.length ?? 0)) best = row;
  }
  return best;
}

/** Mount points at a path or below it. */
export function mountsAtOrBelow(table: readonly MountInfo[], path: string): readonly string[] {
  return table.filter((row) => isWithin(path, row.mountPoint)).map((row) => row.mountPoint);
}

/** A row as /proc/mounts shows it. */
export function asMountPoint(row: MountInfo): MountPoint {
  const options = [...row.mountOptions];
  for (const option of row.superOptions) {
    if (!options.includes(option) && option !== "rw" && option !== "ro") options.push(option);
  }
  return { device: row.source, path: row.mountPoint, type: row.fsType, options };
}
