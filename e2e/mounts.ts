/** The mount table as a test reads it: straight from the kernel, not through the code under test. */
import { readFileSync } from "node:fs";

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
