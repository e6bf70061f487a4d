/** The steps that plugins share when they bind a global mount into a pod's folder. */
import { codeOf } from "@/lib/errors";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { removePath } from "@/server/volume/mount-cleanup";
import type { MountInterface } from "@/server/volume/mount";

/** `likely` compares devices and so misses bind mounts within one file system; `exact` reads the mount table. */
export type MountCheck = "likely" | "exact";

/** The mounter of a host. Throws VolumeError on a controller, which has none. */
export function mounterOf(host: VolumeHost): MountInterface {
  const mounter = host.getMounter();
  if (!mounter) throw new VolumeError("this host has no mounter");
  return mounter;
}

/** Whether something is mounted on a folder; a folder that is missing has nothing. */
export async function isMounted(mounter: MountInterface, dir: string, check: MountCheck): Promise<boolean> {
  try {
    return check === "exact" ? await mounter.isMountPoint(dir) : !(await mounter.isLikelyNotMountPoint(dir));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** prepareForMount: true when the folder is mounted already; else the folder is there afterwards. */
export async function isMountedOrMakeDir(host: VolumeHost, dir: string): Promise<boolean> {
  try {
    return !(await mounterOf(host).isLikelyNotMountPoint(dir));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    await host.ports.files.mkdirAll(dir, 0o750);
    return false;
  }
}

export interface BindMount {
  readonly source: string;
  readonly dir: string;
  readonly options: readonly string[];
  readonly check: MountCheck;
}

/** Mounts onto a new folder; throws the mounter's error after having undone what could be undone. */
export async function bindMount(host: VolumeHost, { source, dir, options, check }: BindMount): Promise<void> {
  const mounter = mounterOf(host);
  await host.ports.files.mkdirAll(dir, 0o750);
  try {
    await mounter.mount({ source, target: dir, fsType: "", options });
  } catch (error) {
    await undo(host, dir, check);
    throw error;
  }
}

/** A failed mount may have mounted all the same. The folder goes only when nothing is mounted on it any more. */
async function undo(host: VolumeHost, dir: string, check: MountCheck): Promise<void> {
  const mounter = mounterOf(host);
  try {
    if (await isMounted(mounter, dir, check)) {
      await mounter.unmount(dir);
      if (await isMounted(mounter, dir, check)) return;
    }
    await removePath(host.ports.files, dir);
  } catch (error) {
    host.ports.log.error("could not undo a failed mount", error, { path: dir });
  }
}
