/**
 * Where a pod's raw block device is mapped. Source: pkg/volume/util/volumepathhandler (FindGlobalMapPathUUIDFromPod) of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import { wrap } from "@/server/volume/errors";
import { FileError, type Files } from "@/server/volume/ports";

/**
 * The device node named by the pod's UID anywhere below a plugin's folder that stands for the same device as the pod's own map
 * path; "" when there is none, the last in the order of names when there are several. Throws VolumeError when the folder can't be
 * read.
 */
export async function findGlobalMapPath(files: Files, pluginDir: string, mapPath: string, podUID: string): Promise<string> {
  const device = await blockDeviceNumber(files, mapPath);
  let found = "";
  try {
    await walk(pluginDir);
  } catch (error) {
    throw wrap(`FindGlobalMapPathUUIDFromPod failed: ${messageOf(error)}`, error);
  }
  return found;

  async function walk(dir: string): Promise<void> {
    if (!(await files.lstat(dir))) throw new FileError("ENOENT", `lstat ${dir}: no such file or directory`, dir);
    for (const { name, kind } of await files.readDir(dir)) {
      const path = joinPath(dir, name);
      if (kind === "directory") await walk(path);
      else if (kind === "block-device" && name === podUID && device !== undefined) {
        if ((await blockDeviceNumber(files, path)) === device) found = path;
      }
    }
  }
}

/** major:minor of the block device behind a path; undefined for anything else, and for what can't be read. */
async function blockDeviceNumber(files: Files, path: string): Promise<string | undefined> {
  try {
    const stat = await files.stat(path);
    return stat?.kind === "block-device" ? stat.deviceNumber : undefined;
  } catch {
    return undefined;
  }
}
