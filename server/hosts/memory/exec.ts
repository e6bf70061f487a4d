import { abortError } from "@/server/hosts/clock";
import { missingProgram } from "@/server/hosts/file-errors";
import type { CancelSignal, Exec, ExecOptions, ExecResult } from "@/server/volume/ports";

export interface ExecCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: ExecOptions;
}

/** What a scripted program answers: its output (exit code 0), or parts of a result; a throw is a start that failed. */
export type ProgramAnswer = string | Partial<ExecResult>;
export type Program = (call: ExecCall) => ProgramAnswer | Promise<ProgramAnswer>;

/** Programs are functions; a command without one can't be started. Every call is kept. */
export class MemoryExec implements Exec {
  readonly calls: ExecCall[] = [];
  private readonly programs: Map<string, Program>;
  private fallback: Program | undefined;

  constructor(programs: Readonly<Record<string, Program>> = {}) {
    this.programs = new Map(Object.entries(programs));
  }

  set(command: string, program: Program): void {
    this.programs.set(command, program);
  }

  /** Answers every command that has no program of its own. */
  setFallback(program: Program): void {
    this.fallback = program;
  }

  async run(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
    const call = { command, args: [...args], options };
    this.calls.push(call);
    if (options.signal?.aborted === true) throw abortError();
    const program = this.programs.get(command) ?? this.fallback;
    if (program === undefined) throw missingProgram(command);
    const answer = await orAborted(Promise.resolve(program(call)), options.signal);
    const result: ExecResult = {
      exitCode: 0,
      signal: undefined,
      output: "",
      timedOut: false,
      truncated: false,
      ...(typeof answer === "string" ? { output: answer } : answer),
    };
    return cut(result, options.maxOutputBytes);
  }
}

/** The answer, or ABORT_ERR when the signal fires before it. */
function orAborted<T>(answer: Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(abortError()));
    answer.then(resolve, reject);
  });
}

function cut(result: ExecResult, limitBytes: number | undefined): ExecResult {
  const bytes = new TextEncoder().encode(result.output);
  if (limitBytes === undefined || bytes.length <= limitBytes) return result;
  return { ...result, output: new TextDecoder().decode(bytes.subarray(0, limitBytes)), truncated: true };
}
