/**
 * File calls on mounts that may hang, made in child processes with a time limit: a hung call in this process would keep one of Node's
 * four pool threads, and the end of the process, for ever.
 */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { FileError } from "@/server/volume/ports";
import type { Log } from "@/server/volume/ports";
import { cleanEnvironment } from "./exec";
import { foreignProgram } from "./foreign-program";

/** A directory that is opened as it is, and the names from there on. */
export interface PlaceAddress {
  readonly start: string;
  readonly segments: readonly string[];
}

export interface ForeignRequest {
  readonly place: PlaceAddress;
  readonly call: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export type ForeignAnswer = { readonly value?: unknown } | { readonly code: string; readonly message: string };

export interface ForeignCallsOptions {
  readonly log: Log;
  readonly timeoutMs?: number;
  /** Children at the same time; hung ones count till they die. */
  readonly maxChildren?: number;
  /** The child's program and arguments; for tests. */
  readonly command?: readonly [string, ...string[]];
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

const defaultTimeoutMs = 5000;
const defaultMaxChildren = 8;

export class ForeignCalls {
  private readonly idle: Child[] = [];
  private readonly alive = new Set<Child>();
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: ForeignCallsOptions) {}

  /** How many children run or hang. */
  get children(): number {
    return this.alive.size;
  }

  /** Throws FileError ETIMEDOUT when no answer came in time, EAGAIN when every child hangs; else gives the child's answer. */
  async ask(request: ForeignRequest, shown: string): Promise<ForeignAnswer> {
    const child = await this.take(shown);
    const answer = await this.exchange(child, request);
    if (answer === undefined) {
      this.abandon(child, request.call);
      throw new FileError("ETIMEDOUT", `${request.call} ${shown}: connection timed out`, shown);
    }
    this.idle.push(child);
    this.waiting.shift()?.();
    return answer;
  }

  /** Ends the children; one that hangs in the kernel is left. */
  close(): void {
    for (const child of this.alive) child.kill("SIGKILL");
  }

  private async take(shown: string): Promise<Child> {
    const deadline = Date.now() + this.timeoutMs;
    for (;;) {
      const child = this.idle.pop();
      if (child !== undefined && child.exitCode === null && child.signalCode === null) return child;
      if (this.alive.size < (this.options.maxChildren ?? defaultMaxChildren)) return this.start();
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) {
        throw new FileError("EAGAIN", `${shown}: ${this.alive.size} calls to foreign mounts hang already`, shown);
      }
      await this.turn(leftMs);
    }
  }

  private turn(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private start(): Child {
    const [program, ...args] = this.options.command ?? [process.execPath, "-e", foreignProgram];
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], env: cleanEnvironment, detached: true });
    this.alive.add(child);
    const gone = (): void => {
      this.alive.delete(child);
      const index = this.idle.indexOf(child);
      if (index !== -1) this.idle.splice(index, 1);
      this.waiting.shift()?.();
    };
    child.once("exit", gone);
    child.once("error", gone);
    child.stdin.on("error", () => undefined);
    // A name may be cut in the middle of a character between two chunks.
    child.stdout.setEncoding("utf8");
    rest(child);
    return child;
  }

  /** The answer, or undefined when none came in time. */
  private exchange(child: Child, request: ForeignRequest): Promise<ForeignAnswer | undefined> {
    work(child);
    return new Promise((resolve) => {
      let text = "";
      const settle = (answer: ForeignAnswer | undefined): void => {
        clearTimeout(timer);
        child.stdout.removeListener("data", onData);
        child.removeListener("exit", onExit);
        rest(child);
        resolve(answer);
      };
      const onData = (chunk: string): void => {
        text += chunk;
        if (text.endsWith("\n")) settle(parseAnswer(text));
      };
      const onExit = (): void => settle({ code: "EIO", message: "the helper process ended" });
      const timer = setTimeout(() => settle(undefined), this.timeoutMs);
      child.stdout.on("data", onData);
      child.once("exit", onExit);
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }

  private abandon(child: Child, call: string): void {
    child.kill("SIGKILL");
    // A process in uninterruptible sleep dies when its server answers, or never; nobody waits for it.
    this.options.log.warn("a file call on a foreign mount hangs; its process is left", { call, pid: child.pid ?? 0 });
  }

  private get timeoutMs(): number {
    return this.options.timeoutMs ?? defaultTimeoutMs;
  }
}

/** An idle or hung child must not keep this process alive. */
function rest(child: Child): void {
  child.unref();
  hold(child, "unref");
}

function work(child: Child): void {
  child.ref();
  hold(child, "ref");
}

/** The pipes are sockets with ref and unref, which the stream types do not say. */
function hold(child: Child, how: "ref" | "unref"): void {
  for (const stream of [child.stdin, child.stdout]) {
    const method: unknown = Reflect.get(stream, how);
    if (typeof method === "function") Reflect.apply(method, stream, []);
  }
}

function parseAnswer(line: string): ForeignAnswer {
  const nonsense = { code: "EIO", message: "the helper answered nonsense" };
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    return nonsense;
  }
  if (typeof answer !== "object" || answer === null) return nonsense;
  if ("code" in answer && typeof answer.code === "string") return { code: answer.code, message: "" };
  return { value: "value" in answer ? answer.value : undefined };
}
