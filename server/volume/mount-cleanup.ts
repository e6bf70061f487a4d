/**
 * Unmounts a path and removes its directory. Source: k8s.io/mount-utils mount_helper_common.go (CleanupMountPoint,
 * CleanupMountWithForce) at v0.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type { MountInterface } from "@/server/volume/mount";
import type { Files } from "@/server/volume/ports";

export interface CleanupOptions {
  /** Look into the whole mount table, which also sees bind mounts within one file system. */
  readonly extensive: boolean;
  /** Force the unmount when it has not ended in this time, where the mounter can. */
  readonly forceAfterMs?: number;
}

/** What the cleanup needs of a host; every VolumeHost with a mounter has it. */
export interface CleanupTools {
  readonly files: Files;
  readonly mounter: MountInterface;
}

/** The tools of a host. Throws VolumeError on hosts without a mounter (controllers). */
export function cleanupTools(host: VolumeHost): CleanupTools {
  const mounter = host.getMounter();
  if (!mounter) throw new VolumeError("this host has no mounter");
  return { files: host.ports.files, mounter };
}

/**
 * Nothing to do when the path is missing; a corrupted mount is unmounted without a look; a plain directory is removed; a mount is
 * unmounted, looked at again and removed. Throws VolumeError or the error of the mounter or file system; content is never deleted.
 */
export async function cleanupMountPoint(tools: CleanupTools, path: string, options: CleanupOptions): Promise<void> {
  const found = await look(tools.files, path);
  if (found === "missing") return;

  const { mounter } = tools;
  if (found !== "corrupted" && !mounter.canSafelySkipMountPointCheck()) {
    if (await removeUnlessMounted(tools, path, options)) return;
  }
  if (options.forceAfterMs !== undefined && mounter.unmountWithForce) {
    await mounter.unmountWithForce(path, options.forceAfterMs);
  } else {
    await mounter.unmount(path);
  }
  if (mounter.canSafelySkipMountPointCheck()) return removePath(tools.files, path);
  if (await removeUnlessMounted(tools, path, options)) return;
  throw new VolumeError(`failed to cleanup mount point ${path}`);
}

/**
 * Codes of a stat on a mount whose server or daemon is gone (mount.IsCorruptedMnt). A time-out is ours: Go would hang there, and an
 * unmount is the way out in both cases.
 */
const corruptedMountCodes: ReadonlySet<string | undefined> = new Set([
  "ENOTCONN", "ESTALE", "EIO", "EACCES", "EHOSTDOWN", "EWOULDBLOCK", "EAGAIN", "ENODEV", "ETIMEDOUT",
]);

/** mount.IsCorruptedMnt: whether an error of a file call says that a broken mount lies there. */
export function isCorruptedMount(error: unknown): boolean {
  return corruptedMountCodes.has(codeOf(error));
}

async function look(files: Files, path: string): Promise<"missing" | "there" | "corrupted"> {
  try {
    return (await files.stat(path)) ? "there" : "missing";
  } catch (error) {
    if (isCorruptedMount(error)) return "corrupted";
    throw new VolumeError(`Error checking path: ${messageOf(error)}`, "volume-error", error);
  }
}

/** True when the path is gone now. */
async function removeUnlessMounted(tools: CleanupTools, path: string, options: CleanupOptions): Promise<boolean> {
  try {
    const mounted = options.extensive
      ? await tools.mounter.isMountPoint(path)
      : !(await tools.mounter.isLikelyNotMountPoint(path));
    if (mounted) return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
  await removePath(tools.files, path);
  return true;
}

/** os.Remove: a file, a link or an empty directory; nothing to do when missing. */
export async function removePath(files: Files, path: string): Promise<void> {
  const stat = await files.lstat(path);
  if (!stat) return;
  if (stat.kind === "directory") await files.rmdir(path);
  else await files.unlink(path);
}
