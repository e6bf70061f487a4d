/**
 * The entry of `npm start` and of the `voldeck` command: refuses an old Node with a clear line, shows what this machine has,
 * builds when the sources changed, and runs the built server in this process. Run by Node directly: it imports Node's own
 * modules, and what needs no build, by file name.
 */
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { examine, nodeIsNewEnough, table } from "./doctor.ts";

const project = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(project, "dist");
const stampFile = join(dist, "sources.sha256");
const sources = ["app", "components", "lib", "public", "server", "next.config.ts", "package-lock.json", "postcss.config.mjs", "tsconfig.json"];

/** A hash over the content of everything that is built. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const add = (path: string) => {
    hash.update(path.slice(project.length)).update("\0").update(readFileSync(path)).update("\0");
  };
  for (const source of sources) {
    const path = join(project, source);
    if (!existsSync(path)) continue;
    const entries = readdirSyncSafe(path);
    if (entries === undefined) add(path);
    else entries.filter((file) => !file.includes(".test.")).forEach(add);
  }
  return hash.digest("hex");
}

/** Files below a folder, sorted; undefined for what is a file itself. */
function readdirSyncSafe(path: string): string[] | undefined {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return undefined;
  }
}

function run(log: number, command: string, args: readonly string[]): boolean {
  const environment = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" as const };
  const result = spawnSync(join(project, "node_modules/.bin", command), args, {
    cwd: project,
    env: environment,
    stdio: ["ignore", log, log],
  });
  return result.status === 0;
}

/** Builds the server and, where they are served from a build, the pages. What the tools say goes to a file: the first URL printed is ours. */
function build(pages: boolean): void {
  console.error("Building (once, and again when the sources change)");
  mkdirSync(dist, { recursive: true });
  const logFile = join(dist, "build.log");
  const log = openSync(logFile, "w");
  const bundled = run(log, "esbuild", [
    "server/main.ts",
    "server/inspect.ts",
    "server/match.ts",
    "--bundle",
    "--platform=node",
    "--format=esm",
    "--packages=external",
    "--target=node22",
    "--entry-names=[name]",
    "--outdir=dist",
    "--sourcemap",
    "--tsconfig=tsconfig.json",
  ]);
  const built = bundled && (!pages || run(log, "next", ["build"]));
  closeSync(log);
  if (!built) {
    console.error(readFileSync(logFile, "utf8"));
    console.error(`The build failed; what its tools said is above and in ${logFile}`);
    process.exit(1);
  }
}

function buildIfNeeded(args: readonly string[]): void {
  if (args.includes("--dev") || args.includes("--no-pages")) return build(false);
  const stamp = fingerprint();
  const current = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "";
  if (current === stamp) return;
  if (args[0] === "reset") return build(false);
  build(true);
  writeFileSync(stampFile, stamp);
}

/** Commands that only look: they write nothing, so they take what was built, and never build. */
const looks: ReadonlyMap<string, string> = new Map([
  ["inspect", "runInspect"],
  ["match", "runMatch"],
]);

async function look(command: string, run: string, args: readonly string[]): Promise<number> {
  const built = join(dist, `${command}.js`);
  if (!existsSync(built)) {
    console.error("voldeck: not built yet: npm run build");
    return 2;
  }
  const parts = await import(pathToFileURL(built).href);
  return parts[run](args);
}

async function start(args: readonly string[]): Promise<void> {
  if (!nodeIsNewEnough(process.version)) {
    console.error(`Voldeck needs Node 22.19 or newer, this is ${process.version}: run it through npm, which brings its own`);
    process.exit(1);
  }
  const [command = "", ...rest] = args;
  const run = looks.get(command);
  if (run !== undefined) process.exit(await look(command, run, rest));
  const quiet = args[0] === "build" || args[0] === "reset" || args.includes("--help");
  if (!quiet) console.log(`This machine:\n${table(examine())}`);
  if (!args.includes("--no-build")) buildIfNeeded(args);
  if (args[0] === "build") return;
  const { main } = await import(pathToFileURL(join(dist, "main.js")).href);
  await main(args.filter((arg) => arg !== "--no-build"), project);
}

await start(process.argv.slice(2));
