/** The mount table as a test reads it: straight from the kernel, not through the code under test. */
import { readFileSync, statfsSync } from "node:fs";

export interface MountLine {
  readonly id: string;
  readonly target: string;
  readonly fsType: string;
  readonly superOptions: readonly string[];
}

/** Mounts at or below a folder, in the kernel's order. */
export function mountsBelow(folder: string): readonly MountLine[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(parse)
    .filter(({ target }) => target === folder || target.startsWith(`${folder}/`));
}

function parse(line: string): MountLine {
  const [before = "", after = ""] = line.split(" - ");
  const fields = before.split(" ");
  const [fsType = "", , options = ""] = after.split(" ");
  const target = (fields[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return { id: fields[0] ?? "", target, fsType, superOptions: options.split(",") };
}

/** The whole size of a mounted file system in bytes, as statfs says. */
export function sizeOf(target: string): number {
  const { blocks, bsize } = statfsSync(target);
  return blocks * bsize;
}

/** Where a volume of a pod is mounted: the one mount below the folder whose path ends in plugin and volume. */
export function mountOf(folder: string, plugin: string, volume: string): MountLine {
  const found = mountsBelow(folder).filter((mount) => mount.target.endsWith(`/volumes/${plugin.replace("/", "~")}/${volume}`));
  const [mount] = found;
  if (!mount || found.length > 1) throw new Error(`${found.length} mounts of ${plugin} ${volume} below ${folder}`);
  return mount;
}
