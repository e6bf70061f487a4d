/** Runs programs on this machine: no shell, clean environment, own process group, limits of time and output. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { codeOf } from "@/lib/errors";
import { abortError } from "@/server/hosts/clock";
import { fileError, missingProgram } from "@/server/hosts/file-errors";
import type { Exec, ExecOptions, ExecResult, Log } from "@/server/volume/ports";

/** The whole environment of every program. (Next.js declares NODE_ENV as always there; programs get none.) */
export const cleanEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
} as Partial<NodeJS.ProcessEnv> as NodeJS.ProcessEnv;
const defaultOutputBytes = 1 << 20;
/** From SIGTERM to SIGKILL, and from SIGKILL till the process is given up. */
const graceMs = 1000;
/** How long output is awaited after the end: a daemon that a program left behind may hold the pipe for ever. */
const drainMs = 500;
/** How often it is asked whether anything of a group is left: the kernel tells only of the end of the leader. */
const groupPollMs = 20;

export class LinuxExec implements Exec {
  constructor(private readonly log: Log) {}

  async run(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
    if (options.signal?.aborted === true) throw abortError();
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: cleanEnvironment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      shell: false,
    });
    return new Run(child, { command, options }, this.log).result();
  }
}

/** One running program. */
class Run {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private truncated = false;
  private timedOut = false;
  private aborted = false;
  private killed = false;
  private readonly timers = new Set<NodeJS.Timeout>();

  private readonly command: string;
  private readonly options: ExecOptions;

  constructor(
    private readonly child: ChildProcess,
    asked: { readonly command: string; readonly options: ExecOptions },
    private readonly log: Log,
  ) {
    this.command = asked.command;
    this.options = asked.options;
    child.stdout?.on("data", (chunk: Buffer) => this.keep(chunk));
    child.stderr?.on("data", (chunk: Buffer) => this.keep(chunk));
  }

  async result(): Promise<ExecResult> {
    const { signal, timeoutMs } = this.options;
    const onAbort = (): void => {
      this.aborted = true;
      this.end();
    };
    const disarm = (): void => {
      signal?.removeEventListener("abort", onAbort);
      for (const timer of this.timers) clearTimeout(timer);
    };
    signal?.addEventListener("abort", onAbort);
    this.after(timeoutMs, () => {
      this.timedOut = true;
      this.end();
    });
    try {
      const { exitCode, endSignal } = await this.ended();
      if (this.timedOut || this.aborted) await this.groupEnded();
      // It has ended by itself: what it left in the background is not ended for its output.
      else disarm();
      await this.drained();
      if (this.aborted) throw abortError();
      return {
        exitCode: this.timedOut ? undefined : exitCode,
        signal: endSignal,
        output: Buffer.concat(this.chunks).toString("utf8"),
        timedOut: this.timedOut,
        truncated: this.truncated,
      };
    } finally {
      disarm();
      this.child.stdout?.destroy();
      this.child.stderr?.destroy();
    }
  }

  private keep(chunk: Buffer): void {
    const room = (this.options.maxOutputBytes ?? defaultOutputBytes) - this.bytes;
    if (chunk.length > room) this.truncated = true;
    // Nothing of a chunk past the limit is kept: even an empty part of it would keep the whole chunk in memory.
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    this.bytes += kept.length;
    this.chunks.push(kept);
  }

  private ended(): Promise<{ exitCode: number | undefined; endSignal: string | undefined }> {
    return new Promise((resolve, reject) => {
      this.child.on("error", (error) => reject(startError(error, this.command)));
      this.child.on("exit", (code, signal) => resolve({ exitCode: code ?? undefined, endSignal: signal ?? undefined }));
      this.giveUp = () => resolve({ exitCode: undefined, endSignal: undefined });
    });
  }

  private giveUp: () => void = () => undefined;

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      const streams = [this.child.stdout, this.child.stderr].filter((stream) => stream !== null && !stream.closed);
      let open = streams.length;
      if (open === 0) return resolve();
      for (const stream of streams) stream?.once("close", () => (--open === 0 ? resolve() : undefined));
      this.after(drainMs, resolve);
    });
  }

  /** Ends the whole group: TERM, then KILL; a process in uninterruptible sleep is reported and left. */
  private end(): void {
    this.kill("SIGTERM");
    this.after(graceMs, () => {
      this.kill("SIGKILL");
      this.killed = true;
      this.after(graceMs, () => {
        this.log.warn("a program does not die and is left behind", { command: this.command, pid: this.child.pid ?? 0 });
        this.child.unref();
        this.giveUp();
      });
    });
  }

  /** The leader may end politely and leave children that do not: they have till SIGKILL too. */
  private async groupEnded(): Promise<void> {
    while (!this.killed && this.kill(0)) await new Promise<void>((resolve) => this.after(groupPollMs, resolve));
  }

  /** False when nothing of the group is left. */
  private kill(signal: NodeJS.Signals | 0): boolean {
    if (this.child.pid === undefined) return false;
    try {
      process.kill(-this.child.pid, signal);
      return true;
    } catch (error) {
      if (codeOf(error) === "ESRCH") return false;
      if (signal !== 0) this.log.warn("a program can't be ended", { command: this.command, pid: this.child.pid });
      return true;
    }
  }

  private after(ms: number, act: () => void): void {
    this.timers.add(setTimeout(act, ms));
  }
}

function startError(error: Error, command: string): Error {
  const code = codeOf(error);
  if (code === "ENOENT") return missingProgram(command);
  return code === undefined ? error : fileError("fork/exec", command, code);
}

/** Go's words for how a program ended, as its texts have them: `exit status 32`, `signal: killed`. */
export function endOf(result: ExecResult): string {
  if (result.timedOut) return "timed out";
  if (result.exitCode !== undefined) return `exit status ${result.exitCode}`;
  return `signal: ${(result.signal ?? "unknown").replace(/^SIG/, "").toLowerCase()}`;
}
