/** Programs that end with this process: what plugins run. A tool that must not be cut short, such as mkfs, is not run through this. */
import { abortError } from "@/server/hosts/clock";
import type { CancelSignal, Exec, ExecOptions, ExecResult } from "@/server/volume/ports";

export class StoppableExec implements Exec {
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<unknown>>();

  constructor(private readonly exec: Exec) {}

  run(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
    if (this.stopping.signal.aborted) return Promise.reject(abortError());
    const run = this.exec.run(command, args, { ...options, signal: either(this.stopping.signal, options.signal) });
    this.running.add(run);
    const forget = (): void => void this.running.delete(run);
    run.then(forget, forget);
    return run;
  }

  /** Cancels what runs, and resolves when it has ended or was given up; from now on nothing starts. A cancelled run throws ABORT_ERR. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled(this.running);
  }
}

function either(signal: AbortSignal, other: CancelSignal | undefined): CancelSignal {
  if (other === undefined) return signal;
  const both = [signal, other];
  return {
    get aborted() {
      return both.some((each) => each.aborted);
    },
    addEventListener: (type, listener) => both.forEach((each) => each.addEventListener(type, listener)),
    removeEventListener: (type, listener) => both.forEach((each) => each.removeEventListener(type, listener)),
  };
}
