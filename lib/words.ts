/** The fixed words of the product: the same in tables, details, filters and exports. */

export const statusWords = ["failed", "stuck", "working", "waiting", "unknown", "ok", "not applicable"] as const;
export type StatusWord = (typeof statusWords)[number];

/** The stages of the way, in order. `unmount`, `detach` and `cleanup` follow only when a volume leaves. */
export const stages = [
  "schedule",
  "bind",
  "provision",
  "attach",
  "register",
  "match",
  "stage",
  "publish",
  "running",
  "expand",
] as const;
export type Stage = (typeof stages)[number];

export const stageStates = ["done", "doing", "stuck", "failed", "waiting", "unknown", "not applicable", "not reached"] as const;
export type StageState = (typeof stageStates)[number];
