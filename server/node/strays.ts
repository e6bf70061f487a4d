/**
 * Global mounts without a pod: a process that ended between mounting a device and setting up the pod's path leaves one, and no pod
 * folder tells of it afterwards. Only folders below the host's own plugin folder are looked at.
 */
import type { KubeletVolumeHost } from "@/server/volume/host";
import { cleanupMountPoint, cleanupTools } from "@/server/volume/mount-cleanup";

/** Unmounts what is mounted in the plugin folder, unless a part of its path is a name to keep or it is mounted elsewhere too. */
export async function unmountStrays(host: KubeletVolumeHost, keep: ReadonlySet<string>): Promise<void> {
  const mounter = host.getMounter();
  if (!mounter) return;
  const folder = `${host.getPluginDir("").replace(/\/+$/, "")}/`;
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
