/** Runs what is asked for soon, at most once in an interval. Requests made before a run begins are answered by that run. */
import { isWithin } from "@/server/volume/elapsed";
import type { Clock } from "@/server/volume/ports";

export class AtMostEvery {
  private readonly intervalMs: number;
  private readonly clock: Clock;
  private requested = false;
  private lastBeginMs: number | undefined;

  constructor(intervalMs: number, clock: Clock) {
    this.intervalMs = intervalMs;
    this.clock = clock;
  }

  /** `task` calls `begin` when it really begins (it may have waited for a lock): requests from then on ask for another run. */
  request(task: (begin: () => void) => Promise<void>, onError: (error: unknown) => void): void {
    if (this.requested) return;
    this.requested = true;
    this.runSoon(task).catch(onError);
  }

  private async runSoon(task: (begin: () => void) => Promise<void>): Promise<void> {
    const nowMs = this.clock.nowMs();
    const { lastBeginMs = Number.NEGATIVE_INFINITY, intervalMs } = this;
    const waitMs = isWithin(intervalMs, lastBeginMs, nowMs) ? lastBeginMs + intervalMs - nowMs : 0;
    let begun = false;
    try {
      if (waitMs > 0) await this.clock.sleep(waitMs);
      await task(() => {
        begun = true;
        this.requested = false;
        this.lastBeginMs = this.clock.nowMs();
      });
    } finally {
      if (!begun) this.requested = false;
    }
  }
}
