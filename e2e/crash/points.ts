/**
 * Every named step of node and operations that leaves a trace, by the scenario that passes it. `name#3` is its third passing;
 * `one > other` kills the process that was started again as well.
 */
import type { ScenarioName } from "@/e2e/crash/scenarios";

/** Each journal write, and what lies between them. */
const journalPoints = [
  "journal-before-intended",
  "journal-after-intended",
  "journal-after-read",
  "journal-after-sending",
  "journal-after-sending > journal-before-settled",
  "journal-after-sending > journal-after-settled",
  "journal-after-answer",
  "journal-after-answer > journal-before-settled",
  "journal-after-answer > journal-after-settled",
  "journal-after-following",
  "journal-before-progress",
  "journal-after-progress",
  "journal-before-ended",
  "journal-after-ended",
];

/** Each the point of one kill. */
export function killsOf(point: string): readonly string[] {
  return point.split(" > ");
}

/** Whether the first kill leaves an operation that was noted and not sent. */
export function leavesUnsent(point: string): boolean {
  return ["journal-after-intended", "journal-after-read", "journal-after-sending"].includes(killsOf(point)[0] ?? "");
}

export const points: Readonly<Record<ScenarioName, readonly string[]>> = {
  mount: [
    "bind-after-volume",
    "bind-after-phase",
    "bind-after-claim",
    "bind-after-status",
    "schedule-after-bind",
    "provision-before-size",
    "provision-after-file",
    "disk-after-attach",
    "provision-after-device",
    "provision-after-volume",
    "mount-before-attach",
    "mount-after-attach",
    "mount-before-device",
    "mount-before-device#2",
    "mount-after-device",
    "mount-after-device#2",
    "mount-before-set-up",
    "mount-before-set-up#3",
    "mount-before-set-up#6",
    "mount-after-set-up",
    "mount-after-set-up#3",
    "mount-after-set-up#6",
    "map-after-device",
    "map-after-link",
    "map-after-bind",
    "pod-after-condition",
  ],
  unmount: [
    "unmount-before-tear-down",
    "unmount-before-tear-down#4",
    "unmount-after-tear-down",
    "unmount-after-tear-down#4",
    "unmount-before-device",
    "unmount-before-device#2",
    "unmount-after-device",
    "unmount-after-device#2",
    "unmount-before-detach",
    "unmount-after-detach",
    "unmap-before-unbind",
    "unmap-after-unbind",
    "unmap-after-unlink",
    "unmap-after-device",
    "pod-after-deletion",
    "orphan-after-volumes",
    "orphan-after-folder",
    "release-after-claim",
    "release-after-phase",
    "remove-after-detach",
    "remove-after-file",
    "remove-after-link",
    "remove-after-volume",
  ],
  "expand loop": [
    ...journalPoints,
    "grow-after-mark",
    "grow-after-file",
    "grow-after-device",
    "grow-after-volume",
    "grow-after-hand-over",
    "node-expand-after-mark",
    "node-expand-after-plugin",
    "node-expand-after-claim",
    "node-expand-after-claim#2",
    "node-expand-after-volume",
  ],
  "expand block": ["grow-after-device", "grow-after-finish"],
  "expand share": [
    "journal-after-answer",
    "expand-before-mark",
    "expand-after-mark",
    "expand-after-driver",
    "expand-after-volume",
    "expand-after-hand-over",
    "node-expand-after-plugin",
    "node-expand-after-claim",
  ],
  "expand unused": ["expand-after-driver", "expand-after-finish"],
  resize: [
    ...journalPoints,
    "resize-after-allocation",
    "resize-before-remount",
    "resize-after-remount",
    "resize-after-checkpoint",
    "resize-after-status",
    "resize-after-status#2",
  ],
};
