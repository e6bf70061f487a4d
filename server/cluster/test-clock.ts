/** For tests: a clock that moves only when told, or when somebody sleeps for less than `holdFromMs`. */
import type { Clock } from "@/server/cluster/time";

interface Sleeper {
  readonly untilMs: number;
  wake(): void;
}

export class TestClock implements Clock {
  /** Every sleep that was asked for, in order. */
  readonly naps: number[] = [];
  /** Called at every sleep. */
  onNap: () => void = () => undefined;
  private now: number;
  private readonly sleepers = new Set<Sleeper>();

  constructor(private readonly options: { readonly startMs?: number; readonly holdFromMs?: number } = {}) {
    this.now = options.startMs ?? Date.UTC(2026, 0, 2, 3, 4, 5);
  }

  nowMs(): number {
    return this.now;
  }

  /** A short sleep passes by itself on the next turn of the event loop; a long one waits for `advance`. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.naps.push(ms);
    setImmediate(() => this.onNap());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper: Sleeper = { untilMs: this.now + ms, wake: () => finish(resolve) };
    const abort = () => finish(() => reject(abortError()));
    const finish = (how: () => void) => {
      this.sleepers.delete(sleeper);
      signal?.removeEventListener("abort", abort);
      how();
    };
    this.sleepers.add(sleeper);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    else if (ms < (this.options.holdFromMs ?? 60_000)) setImmediate(() => this.advanceTo(sleeper.untilMs));
    return promise;
  }

  advance(ms: number): void {
    this.advanceTo(this.now + ms);
  }

  private advanceTo(ms: number): void {
    this.now = Math.max(this.now, ms);
    for (const sleeper of [...this.sleepers]) if (sleeper.untilMs <= this.now) sleeper.wake();
  }
}

function abortError(): Error {
  return Object.assign(new Error("the sleep was ended"), { code: "ABORT_ERR" });
}
