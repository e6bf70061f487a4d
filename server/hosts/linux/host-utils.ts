import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { PortHostUtils } from "@/server/hosts/host-utils";
import type { HostUtils, MountInterface } from "@/server/volume/mount";
import type { Files } from "@/server/volume/ports";

export function linuxHostUtils(files: Files, mounter: MountInterface): HostUtils {
  return new PortHostUtils({
    files,
    mounter,
    seLinuxEnabled: async () => (await mounter.mountInfo()).some((row) => row.fsType === "selinuxfs"),
    deviceOpened: async (path) => isClaimed(await files.realPath(path)),
  });
}

/** A block device that is mounted or otherwise claimed refuses an exclusive open. Source: hostutil_linux.go, ExclusiveOpenFailsOnDevice. */
export async function isClaimed(device: string): Promise<boolean> {
  try {
    const handle = await open(device, constants.O_RDONLY | constants.O_EXCL);
    await handle.close();
    return false;
  } catch (error) {
    if (codeOf(error) === "EBUSY") return true;
    throw error;
  }
}
