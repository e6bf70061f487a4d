/** Time and chance as the cluster takes them. The clock and the dice of server/volume's hosts satisfy these too. */
import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  nowMs(): number;
  /** Resolves after the time; rejects at once with code "ABORT_ERR" when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** 0 <= x < 1 */
  next(): number;
}

export interface Log {
  info(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  warn(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  error(message: string, error: unknown, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
};

export const systemRandom: Random = { next: () => Math.random() };

export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Exponential back-off with jitter: half of the step is fixed, half is chance, so that many clients spread out. */
export class Backoff {
  private stepMs: number;

  constructor(
    private readonly random: Random,
    private readonly limits = { firstMs: 500, maxMs: 30_000 },
  ) {
    this.stepMs = limits.firstMs;
  }

  nextMs(): number {
    const step = this.stepMs;
    this.stepMs = Math.min(step * 2, this.limits.maxMs);
    return step / 2 + (step / 2) * this.random.next();
  }

  reset(): void {
    this.stepMs = this.limits.firstMs;
  }
}
