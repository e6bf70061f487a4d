/** What the set-up goldens look at after a step: mount calls and what is on disk. */
import type { MemoryHost } from "@/server/hosts/memory";
import type { FileKind } from "@/server/volume/ports";

/** Mount calls so far, in the form of the goldens. */
export function goldenMounts(memory: MemoryHost): readonly object[] {
  return memory.mounter.log.actions.map(({ op, source, target, fsType, options }) =>
    op === "mount" ? { op, source, target, fstype: fsType, options } : { op, target },
  );
}

/** Permission bits as four octal digits. */
export function modeText(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

/** Go's letters of a file's kind (fs.FileMode.Type). */
const kindLetters: Readonly<Record<FileKind, string>> = {
  directory: "directory",
  file: "----------",
  symlink: "L---------",
  socket: "S---------",
  fifo: "p---------",
  "char-device": "Dc---------",
  "block-device": "D---------",
};

/** `directory 0750`, or null where nothing is. */
export async function kindAndMode({ files }: MemoryHost, path: string): Promise<string | null> {
  const stat = await files.lstat(path).catch(() => undefined);
  return stat ? `${kindLetters[stat.kind]} ${modeText(stat.mode)}` : null;
}
