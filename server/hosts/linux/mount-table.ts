/** /proc/PID/mountinfo, parsed. Pure. Format: proc_pid_mountinfo(5). */
import type { MountInfo } from "@/server/volume/mount";

/** All rows in the kernel's order: of several at one mount point the last is on top. Lines that are no rows are left out. */
export function parseMountInfo(text: string): readonly MountInfo[] {
  return text.split("\n").flatMap((line) => parseRow(line) ?? []);
}

function parseRow(line: string): MountInfo | undefined {
  const fields = line.split(" ");
  // The optional fields, none or many, end at a lone dash.
  const dash = fields.indexOf("-", 6);
  const [id, parentId, device, root, mountPoint, mountOptions] = fields;
  const [fsType, source, superOptions] = dash === -1 ? [] : fields.slice(dash + 1);
  if (id === undefined || parentId === undefined || device === undefined || root === undefined) return undefined;
  if (mountPoint === undefined || mountOptions === undefined || fsType === undefined || source === undefined) return undefined;
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    root: unescape(root),
    mountPoint: unescape(mountPoint),
    mountOptions: mountOptions.split(","),
    propagation: fields.slice(6, dash),
    fsType: unescape(fsType),
    source: unescape(source),
    superOptions: superOptions === undefined || superOptions === "" ? [] : unescape(superOptions).split(","),
    line,
  };
}

/** Undoes the octal escapes, byte by byte; the bytes above 0x7f are UTF-8 as they stand. */
function unescape(field: string): string {
  if (!field.includes("\\")) return field;
  return field.replaceAll(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** True for a bind whose source was removed: the kernel appends `//deleted` to its root. */
export function isDeletedBind(row: MountInfo): boolean {
  return row.root.endsWith("//deleted");
}

/** File systems of this kernel alone: a call on them can't wait for another machine or process. */
const localTypes = new Set([
  "bdev", "binfmt_misc", "bpf", "btrfs", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
  "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fusectl", "hugetlbfs", "iso9660", "mqueue", "nsfs", "overlay", "proc",
  "pstore", "ramfs", "rootfs", "securityfs", "selinuxfs", "squashfs", "sysfs", "tmpfs", "tracefs", "udf", "vfat", "xfs", "zfs",
]);

/** A mount whose calls may never return: network and FUSE file systems, and every type not known to be local. */
export function isForeignMount(row: MountInfo): boolean {
  return !localTypes.has(row.fsType);
}

/** A block device: `/dev/loop0` and `7:0`. */
export interface MountedDevice {
  readonly path: string;
  readonly number: string;
}

/**
 * True when a mount keeps the device in use: a file system on it, by its number or, where a file system has a number of its own (btrfs),
 * by its name; or a bind of its node, as a volume of mode Block has.
 */
export function holdsDevice(row: MountInfo, { path, number }: MountedDevice): boolean {
  return row.device === number || row.source === path || (row.fsType === "devtmpfs" && `/dev${row.root}` === path);
}
