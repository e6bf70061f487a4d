/** Folders that a driver may or may not have removed. */
import { messageOf } from "@/lib/errors";
import { wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { removePath } from "@/server/volume/mount-cleanup";

/** Throws the file system's error when that can't be told. */
export async function isPathThere(host: VolumeHost, path: string): Promise<boolean> {
  return (await host.ports.files.stat(path)) !== undefined;
}

/** Removes an empty folder that the driver left. Throws when there is something in it. */
export async function removeLeftover(host: VolumeHost, path: string): Promise<void> {
  let there: boolean;
  try {
    there = await isPathThere(host, path);
  } catch (error) {
    throw wrap(`error checking if path exists: ${messageOf(error)}`, error);
  }
  if (there) await removePath(host.ports.files, path);
}

/** After a failure; what is in the way stays. */
export async function removeQuietly(host: VolumeHost, path: string): Promise<void> {
  try {
    await removePath(host.ports.files, path);
  } catch (error) {
    host.ports.log.error("could not remove the folder of a failed mount", error, { path });
  }
}
