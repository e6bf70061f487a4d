import { abortError } from "@/server/hosts/clock";
import type { CancelSignal, Clock } from "@/server/volume/ports";

interface Sleeper {
  dueMs: number;
  readonly order: number;
  wake(): void;
}

/** A clock that stands still until it is advanced. */
export class FakeClock implements Clock {
  private readonly sleepers = new Set<Sleeper>();
  private order = 0;

  /** With `autoAdvance` a sleep moves the clock by itself and returns at once. */
  constructor(
    private now = Date.UTC(2026, 0, 2, 3, 4, 5),
    private readonly autoAdvance = false,
  ) {}

  nowMs(): number {
    return this.now;
  }

  /** How many sleeps are waiting. */
  get sleeping(): number {
    return this.sleepers.size;
  }

  sleep(ms: number, signal?: CancelSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(abortError());
    if (this.autoAdvance) {
      this.now += ms;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.sleepers.delete(sleeper);
        reject(abortError());
      };
      const sleeper: Sleeper = {
        dueMs: this.now + ms,
        order: this.order++,
        wake: () => {
          this.sleepers.delete(sleeper);
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      this.sleepers.add(sleeper);
      signal?.addEventListener("abort", abort);
    });
  }

  /** Moves the clock on, waking each sleeper at its own time, those that start to sleep meanwhile included. */
  async advance(ms: number): Promise<void> {
    const end = this.now + ms;
    await settle();
    for (let next = this.nextDue(end); next !== undefined; next = this.nextDue(end)) {
      this.now = Math.max(this.now, next.dueMs);
      next.wake();
      await settle();
    }
    this.now = end;
  }

  /** As somebody sets the time: what sleeps is not disturbed. */
  setBack(ms: number): void {
    this.now -= ms;
    for (const sleeper of this.sleepers) sleeper.dueMs -= ms;
  }

  private nextDue(endMs: number): Sleeper | undefined {
    return [...this.sleepers]
      .filter((sleeper) => sleeper.dueMs <= endMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];
  }
}

/** Lets everything that waits on settled promises run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
