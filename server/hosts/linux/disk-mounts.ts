/**
 * What a mount of a block device may ask of the kernel. Type and options come from volumes and classes that anybody may have written: a
 * type such as overlay takes other folders than its device, a type such as fuse.X starts a program, an option may name another device.
 */
import { VolumeError } from "@/server/volume/errors";
import type { MountRequest } from "@/server/volume/mount";

/** File systems that lie on the device that is mounted and on nothing else; "" and auto: whatever is found on it. */
const diskTypes = ["", "auto", "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "ntfs3", "iso9660", "udf", "squashfs", "erofs"];

/** Throws VolumeError `refused`, naming the type or the option. */
export function requireDiskMount({ fsType, options, target }: Pick<MountRequest, "fsType" | "options" | "target">): void {
  if (!diskTypes.includes(fsType)) {
    throw new VolumeError(`mount ${target}: file system type ${JSON.stringify(fsType)} does not lie on a block device`, "refused");
  }
  const named = options.flatMap((option) => option.split(",")).find((option) => /=.*\//.test(option));
  if (named !== undefined) throw new VolumeError(`mount ${target}: option ${JSON.stringify(named)} names a path of its own`, "refused");
}
