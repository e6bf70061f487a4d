/** Whether less than a time has passed since. No when the clock was set back meanwhile: nothing waits for it to catch up. */
export function isWithin(limitMs: number, sinceMs: number, nowMs: number): boolean {
  return nowMs >= sinceMs && nowMs < sinceMs + limitMs;
}
