/** Builds the server once, and starts it as often as a test kills it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { project } from "@/e2e/app";

export interface Program {
  readonly file: string;
  /** For the compiled code, which makes every start after the first a short one. */
  readonly folder: string;
}

export interface RunningProgram {
  readonly pid: number;
  readonly origin: string;
  readonly token: string;
  /** What it ended with; a number for an exit of its own. */
  readonly ended: Promise<number | NodeJS.Signals>;
  hasEnded(): boolean;
  output(): string;
  signal(signal: "SIGTERM" | "SIGKILL"): void;
}

const startWithinMs = 120_000;

/** Lets modules of the other kind be bundled too. */
const banner = [
  'import { createRequire } from "node:module";',
  "const require = createRequire(import.meta.url);",
  "const __filename = import.meta.filename;",
  "const __dirname = import.meta.dirname;",
].join("\n");

/** Into `folder`. The framework of the pages is left out: none are served. So are source maps: each start would read them. */
export async function buildProgram(folder: string): Promise<Program> {
  const file = join(folder, "program.mjs");
  await build({
    entryPoints: [join(project, "e2e/crash/program.ts")],
    outfile: file,
    absWorkingDir: project,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    external: ["next"],
    banner: { js: banner },
    logLevel: "error",
  });
  return { file, folder: join(folder, "compiled") };
}

/** On `data` and `manifests` of the folder. */
export async function startProgram(program: Program, folder: string, crashAt?: string): Promise<RunningProgram> {
  const options = ["--no-pages", "--port", "0", "--data", join(folder, "data"), "--manifests", join(folder, "manifests")];
  const args = [program.file, ...options];
  const { KUBECONFIG: _kubeconfig, VOLDECK_CRASH_AT: _crashAt, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NODE_COMPILE_CACHE: program.folder, ...(crashAt === undefined ? {} : { VOLDECK_CRASH_AT: crashAt }) },
  });
  let output = "";
  let end: number | NodeJS.Signals | undefined;
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once("error", (error) => {
      output += error.message;
      resolve((end = 1));
    });
    child.once("close", (code, signal) => resolve((end = code ?? signal ?? 1)));
  });
  const url = await new Promise<URL>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${why}; it printed:\n${output}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail(`no URL within ${startWithinMs} ms`);
    }, startWithinMs);
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /^Voldeck is at (\S+)$/m.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(new URL(found));
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    void ended.then((code) => {
      clearTimeout(timer);
      fail(`it ended (${code}) before it had a URL`);
    });
  });
  return {
    pid: child.pid ?? 0,
    origin: url.origin,
    token: new URLSearchParams(url.hash.slice(1)).get("token") ?? "",
    ended,
    hasEnded: () => end !== undefined,
    output: () => output,
    signal: (signal) => void child.kill(signal),
  };
}
