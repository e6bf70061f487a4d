/**
 * What a process leaves in the plugins' folder that ended between a device and its pod's path, or between an unmount and the removal of
 * the folder: global mounts and empty folders that no pod's folder tells of. Only the host's own plugin folder is looked at.
 */
import { codeOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import type { KubeletVolumeHost } from "@/server/volume/host";
import { cleanupMountPoint, cleanupTools } from "@/server/volume/mount-cleanup";

/** Below these folders of a plugin lies one folder for each volume. */
const volumeFolders: ReadonlySet<string> = new Set(["mounts", "volumeDevices"]);
/** kubernetes.io/flexvolume/vendor/driver/mounts is the deepest. */
const deepest = 5;

/** Unmounts and removes what no name to keep stands for; what is mounted elsewhere too, or holds anything, stays. */
export async function removeStrays(host: KubeletVolumeHost, keep: ReadonlySet<string>): Promise<void> {
  await unmountStrays(host, keep);
  await removeEmptyFolders(host, { folder: pluginsFolder(host), depth: 1, keep });
}

function pluginsFolder(host: KubeletVolumeHost): string {
  return host.getPluginDir("").replace(/\/+$/, "");
}

async function unmountStrays(host: KubeletVolumeHost, keep: ReadonlySet<string>): Promise<void> {
  const mounter = host.getMounter();
  if (!mounter) return;
  const folder = `${pluginsFolder(host)}/`;
  for (const { path } of await mounter.list()) {
    if (!path.startsWith(folder) || path.slice(folder.length).split("/").some((part) => keep.has(part))) continue;
    const elsewhere = (await mounter.getMountRefs(path)).filter((reference) => reference !== path);
    if (elsewhere.length > 0) continue;
    host.ports.log.warn("unmounting a global mount that no volume refers to", { path });
    await cleanupMountPoint(cleanupTools(host), path, { extensive: true }).catch((error: unknown) => {
      host.ports.log.error("a global mount could not be unmounted", error, { path });
    });
  }
}

interface Level {
  readonly folder: string;
  readonly depth: number;
  readonly keep: ReadonlySet<string>;
}

async function removeEmptyFolders(host: KubeletVolumeHost, { folder, depth, keep }: Level): Promise<void> {
  const { files } = host.ports;
  const entries = await files.readDir(folder).catch(() => []);
  for (const { name, kind } of entries) {
    const path = joinPath(folder, name);
    if (kind !== "directory") continue;
    if (!volumeFolders.has(name)) {
      if (depth < deepest) await removeEmptyFolders(host, { folder: path, depth: depth + 1, keep });
      continue;
    }
    const volumes = await files.readDir(path).catch(() => []);
    for (const volume of volumes) if (volume.kind === "directory" && !keep.has(volume.name)) await removeIfEmpty(host, joinPath(path, volume.name));
  }
}

async function removeIfEmpty({ ports: { files, log } }: KubeletVolumeHost, path: string): Promise<void> {
  try {
    await files.rmdir(path);
    log.warn("removed the empty folder of a volume that is gone", { path });
  } catch (error) {
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EBUSY") log.error("the folder of a volume that is gone could not be removed", error, { path });
  }
}
