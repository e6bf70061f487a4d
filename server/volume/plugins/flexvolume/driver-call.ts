/**
 * Calls of a FlexVolume driver: an executable that gets a command and arguments and answers one JSON object.
 * Source: pkg/volume/flexvolume/driver-call.go of v1.37.2. Ours adds a time limit to every call, and checks before each that nobody
 * but root and this program's user can have put the driver there.
 */
import { isErrorNamed, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { VolumeError, wrap } from "@/server/volume/errors";
import { commandNotSupported, isCommandNotSupported, readDriverResponse, type DriverStatus } from "@/server/volume/plugins/flexvolume/driver-status";
import type { Exec, ExecResult, Log } from "@/server/volume/ports";

export type DriverCommand =
  | "init"
  | "getvolumename"
  | "attach"
  | "detach"
  | "isattached"
  | "waitforattach"
  | "mountdevice"
  | "unmountdevice"
  | "mount"
  | "unmount"
  | "expandvolume"
  | "expandfs";

/** Throws when a driver must not be run. */
export type DriverCheck = (executable: string) => Promise<void>;

export interface DriverRunner {
  readonly exec: Exec;
  readonly log: Log;
  readonly checkDriver: DriverCheck;
  /** Limit of a call that names none. */
  readonly timeoutMs: number;
  /** Limit of `init`, for which every finder waits; the same unless named. */
  readonly initTimeoutMs?: number;
}

const maxOutputBytes = 1 << 20;
/** Of an answer that is no JSON. */
const shownChars = 200;

/** One driver; what it once called unsupported is never asked again. */
export class FlexVolumeDriver {
  readonly executable: string;
  private readonly runner: DriverRunner;
  private readonly unsupported = new Set<DriverCommand>();

  constructor(executable: string, runner: DriverRunner) {
    this.executable = executable;
    this.runner = runner;
  }

  /**
   * Throws VolumeError `command-not-supported` when the driver does not know the command, `timeout` when it took too long, else
   * what went wrong in the driver's or the system's words.
   */
  async call(command: DriverCommand, args: readonly string[], timeoutMs = this.runner.timeoutMs): Promise<DriverStatus> {
    if (this.unsupported.has(command)) throw commandNotSupported();
    await this.runner.checkDriver(this.executable);
    try {
      return await this.run(command, args, timeoutMs);
    } catch (error) {
      if (isCommandNotSupported(error)) this.unsupported.add(command);
      throw error;
    }
  }

  private async run(command: DriverCommand, args: readonly string[], timeoutMs: number): Promise<DriverStatus> {
    const result = await this.start([command, ...args], timeoutMs);
    if (result.timedOut) throw new VolumeError("timeout", "timeout");
    const ended = howItEnded(result);
    const status = this.read(command, result.output, ended);
    if (ended === undefined) return status;
    this.runner.log.error("a FlexVolume driver failed and named no error", new VolumeError(ended), { driver: this.executable, command });
    throw new VolumeError(ended);
  }

  /** The real code says only what is wrong with the answer; how the driver ended, and with which words, stands beside it. */
  private read(command: DriverCommand, output: string, ended = "exit status 0"): DriverStatus {
    try {
      return readDriverResponse(command, output);
    } catch (error) {
      if (!isErrorNamed(error, "GoJSONError")) throw error;
      const said = output.trim() === "" ? "without an answer" : `with the answer ${goQuote(output.trim().slice(0, shownChars))}`;
      const why = new VolumeError(`${this.executable} ${command} ended with ${ended}, ${said}`, "volume-error", error);
      this.runner.log.warn("a FlexVolume driver's answer can't be read", { driver: this.executable, command, error: messageOf(error), ended });
      throw new VolumeError(messageOf(error), "volume-error", why);
    }
  }

  /** A driver that can't be started has said nothing, and that is what the kubelet complains of. */
  private async start(args: readonly string[], timeoutMs: number): Promise<ExecResult> {
    try {
      return await this.runner.exec.run(this.executable, args, { timeoutMs, maxOutputBytes });
    } catch (error) {
      if (!isErrorNamed(error, "FileError")) throw error;
      this.runner.log.error("a FlexVolume driver could not be started", error, { driver: this.executable });
      throw wrap("unexpected end of JSON input", error);
    }
  }
}

/** Go's text of a run that did not end well, or undefined. */
function howItEnded({ exitCode, signal, failure }: ExecResult): string | undefined {
  if (failure !== undefined) return failure;
  if (signal !== undefined) return `signal: ${signalWords.get(signal) ?? signal}`;
  return exitCode === 0 ? undefined : `exit status ${exitCode ?? "unknown"}`;
}

const signalWords: ReadonlyMap<string, string> = new Map([
  ["SIGHUP", "hangup"],
  ["SIGINT", "interrupt"],
  ["SIGABRT", "aborted"],
  ["SIGBUS", "bus error"],
  ["SIGKILL", "killed"],
  ["SIGSEGV", "segmentation fault"],
  ["SIGPIPE", "broken pipe"],
  ["SIGTERM", "terminated"],
]);

/** The error of a driver whose answer the real code can't take. */
export function noCapabilities(): VolumeError {
  return new VolumeError('the driver answered init with "capabilities": null');
}

