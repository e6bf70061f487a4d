/**
 * One operation per volume at a time, and a growing pause after failures.
 * Source: pkg/util/goroutinemap/exponentialbackoff and pkg/volume/util/nestedpendingoperations of v1.37.2.
 */
import { messageWithCauses } from "@/lib/errors";
import type { ReportedOperation } from "@/lib/node-report";
import { isWithin } from "@/server/volume/elapsed";
import type { Clock } from "@/server/volume/ports";

const firstPauseMs = 500;
const longestPauseMs = 122_000;

export type Start = "started" | "executing" | "paused";

interface Operation {
  name: string;
  running: boolean;
  startedMs: number;
  attempts: number;
  lastError: string | undefined;
  lastErrorMs: number;
  pauseMs: number;
}

export class PendingOperations {
  private readonly operations = new Map<string, Operation>();
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly clock: Clock,
    /** Called after each end. */
    private readonly onEnd: () => void,
  ) {}

  /** Starts unless one of the key runs, or one of the same name failed a short while ago. `run` reports its failure by throwing. */
  start(key: string, name: string, run: () => Promise<void>): Start {
    const known = this.operations.get(key);
    if (known?.running) return "executing";
    if (known?.name === name && isWithin(known.pauseMs, known.lastErrorMs, this.clock.nowMs())) return "paused";
    const before = known?.name === name ? known : undefined;
    const operation: Operation = {
      name,
      running: true,
      startedMs: this.clock.nowMs(),
      attempts: (before?.attempts ?? 0) + 1,
      lastError: before?.lastError,
      lastErrorMs: before?.lastErrorMs ?? 0,
      pauseMs: before?.pauseMs ?? 0,
    };
    this.operations.set(key, operation);
    const ended = this.finish(key, operation, run).then(() => {
      this.running.delete(ended);
      this.onEnd();
    });
    this.running.add(ended);
    return "started";
  }

  private async finish(key: string, operation: Operation, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.operations.delete(key);
    } catch (error) {
      operation.running = false;
      operation.lastError = messageWithCauses(error);
      operation.lastErrorMs = this.clock.nowMs();
      operation.pauseMs = operation.pauseMs === 0 ? firstPauseMs : Math.min(operation.pauseMs * 2, longestPauseMs);
    }
  }

  isRunning(key: string): boolean {
    return this.operations.get(key)?.running ?? false;
  }

  /** Forgets what failed on a key that nobody wants any more. */
  forget(key: string): void {
    if (!this.isRunning(key)) this.operations.delete(key);
  }

  keys(): readonly string[] {
    return [...this.operations.keys()];
  }

  report(key: string): ReportedOperation | undefined {
    const operation = this.operations.get(key);
    if (!operation) return undefined;
    const { name, startedMs, attempts, lastError, lastErrorMs, running } = operation;
    return {
      name,
      startedAt: timeText(startedMs),
      attempts,
      ...(lastError === undefined ? {} : { lastError, lastErrorAt: timeText(lastErrorMs) }),
      ...(running || lastError === undefined ? {} : { noRetryBefore: timeText(retryAtMs(operation)) }),
    };
  }

  /** When the first paused operation may be tried again. */
  nextRetryMs(): number | undefined {
    const times = [...this.operations.values()].filter((operation) => !operation.running).map(retryAtMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }
}

function retryAtMs(operation: Operation): number {
  return operation.lastErrorMs + operation.pauseMs;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
