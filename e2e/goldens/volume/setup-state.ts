/** What the set-up goldens look at after a step: mount calls and what is on disk. */
import type { MemoryHost } from "@/server/hosts/memory";

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
