/** What a child says about files, and what Node says, as the ports' shapes. */
import type { FileKind, FileStat, FsInfo } from "@/server/volume/ports";

export type Answer = Readonly<Record<string, unknown>>;

export function recordOf(value: unknown): Answer {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

export function bigintOf(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  return BigInt(typeof value === "string" || typeof value === "number" ? value : 0);
}

export function numberOf(value: unknown): number {
  return Number(value ?? 0);
}

export function statOfAnswer(answer: Answer): FileStat {
  const mode = numberOf(answer["mode"]);
  const kind = kindOfMode(mode);
  return {
    kind,
    mode: mode & 0o7777,
    uid: numberOf(answer["uid"]),
    gid: numberOf(answer["gid"]),
    sizeBytes: bigintOf(answer["size"]),
    modifiedMs: numberOf(answer["mtimeMs"]),
    device: deviceText(bigintOf(answer["dev"])),
    ...(kind === "block-device" || kind === "char-device" ? { deviceNumber: deviceText(bigintOf(answer["rdev"])) } : {}),
    inode: bigintOf(answer["ino"]),
  };
}

export function fsInfoOf(answer: Answer): FsInfo {
  const blockSizeBytes = bigintOf(answer["bsize"]);
  return {
    type: bigintOf(answer["type"]),
    blockSizeBytes,
    totalBytes: bigintOf(answer["blocks"]) * blockSizeBytes,
    freeBytes: bigintOf(answer["bfree"]) * blockSizeBytes,
    availableBytes: bigintOf(answer["bavail"]) * blockSizeBytes,
    inodes: bigintOf(answer["files"]),
    inodesFree: bigintOf(answer["ffree"]),
  };
}

const kindsByType: Readonly<Record<number, FileKind>> = {
  0o10: "fifo",
  0o20: "char-device",
  0o40: "directory",
  0o60: "block-device",
  0o100: "file",
  0o120: "symlink",
  0o140: "socket",
};

export function kindOfMode(mode: number): FileKind {
  return kindsByType[(mode & 0o170000) >> 9] ?? "file";
}

/** `major:minor` of a device number, as mountinfo has it (makedev(3) of glibc). */
export function deviceText(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  return `${major}:${BigInt.asUintN(32, minor)}`;
}
