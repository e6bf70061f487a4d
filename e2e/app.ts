/** Starts a built Voldeck for a test, on a free port and in a data folder of its own, and ends it without a trace. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const project = dirname(dirname(fileURLToPath(import.meta.url)));

export interface AppOptions {
  /** More flags for `npm start --`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Kept by the caller, for a second start on the same data. */
  readonly dataFolder?: string;
  /** How to run it: a command before node, such as setpriv. */
  readonly prefix?: readonly string[];
  readonly cwd?: string;
}

export interface RunningApp {
  /** With the token in its fragment. */
  readonly url: string;
  readonly origin: string;
  readonly token: string;
  readonly dataFolder: string;
  readonly pid: number;
  /** Resolves, to `the app ended`, when it ended for whatever reason. */
  readonly ended: Promise<string>;
  /** Everything it printed so far. */
  output(): string;
  /** SIGTERM, and waits for its end; then a data folder that was not the caller's is reset. Returns the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, and waits for its end. */
  kill(): Promise<void>;
}

type HowToRun = Pick<AppOptions, "env" | "prefix" | "cwd">;

const startWithinMs = 90_000;

export async function startApp(options: AppOptions = {}): Promise<RunningApp> {
  const dataFolder = options.dataFolder ?? (await mkdtemp(dataFolderPrefix()));
  const child = run(["--port", "0", "--data", dataFolder, ...(options.args ?? [])], options);
  let output = "";
  const collect = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const url = await firstUrl(child, () => output);
  const { origin, hash } = new URL(url);
  return {
    url,
    origin,
    token: new URLSearchParams(hash.slice(1)).get("token") ?? "",
    dataFolder,
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once("exit", () => resolve("the app ended"))),
    output: () => output,
    stop: async () => {
      const code = await end(child, "SIGTERM");
      if (options.dataFolder === undefined) await resetData(dataFolder, options);
      return code;
    },
    kill: async () => void (await end(child, "SIGKILL")),
  };
}

/** Data folders of tests begin with it; it names the run of the browser tests that they belong to (leftovers.ts). */
export function dataFolderPrefix(): string {
  return join(tmpdir(), `voldeck-e2e-${process.env["VOLDECK_E2E_RUN"] ?? ""}`);
}

/** Removes what an app that has ended made for a data folder: mounts, loop devices, processes, files. Throws with the command's words. */
export async function resetData(dataFolder: string, how: HowToRun = {}): Promise<void> {
  const child = run(["reset", "--yes", "--all", "--data", dataFolder], how);
  let output = "";
  const collect = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const code = await new Promise((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  if (code !== 0) throw new Error(`reset of ${dataFolder} ended with code ${code}:\n${output}`);
}

function run(args: readonly string[], { env, prefix = [], cwd: folder = project }: HowToRun) {
  const [command = "", ...rest] = [...prefix, join(folder, "node_modules/.bin/node"), join(folder, "server/start.ts"), ...args, "--no-build"];
  return spawn(command, rest, { cwd: folder, env: environment(env), stdio: ["ignore", "pipe", "pipe"] });
}

/** No cluster of the machine that runs the tests may be taken for the app's. */
function environment(more: AppOptions["env"] = {}): NodeJS.ProcessEnv {
  const { KUBECONFIG: _kubeconfig, HOME: _home, ...rest } = process.env;
  return { ...rest, HOME: "/nonexistent", ...more } as NodeJS.ProcessEnv;
}

function firstUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(`no URL within ${startWithinMs} ms`), startWithinMs);
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`${why}; it printed:\n${output()}`));
    };
    const look = () => {
      const url = /https?:\/\/\S+/.exec(output())?.[0];
      if (url === undefined || !output().includes(`${url}\n`)) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on("data", look);
    child.once("exit", (code) => fail(`it ended with code ${code}`));
    child.once("error", (error) => fail(error.message));
  });
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve(code));
    child.kill(signal);
  });
}
