const units = [
  [24 * 3600, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** A span in its largest whole unit: `2 s`, `23 min`, `5 d`. */
export function span(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  for (const [size, unit] of units) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return `${seconds} s`;
}

export function ago(ms: number): string {
  return `${span(ms)} ago`;
}

/** Finished work, exactly: `0.8 s`, `27 s`, `4 min 12 s`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** By the reader's locale, with the zone. */
export function exactTime(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}
