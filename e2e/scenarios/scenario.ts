/**
 * Scenarios: a built Voldeck on data of its own, for tests and for looking around.
 *
 * ```sh
 * npm run --silent scenario -- shop            # the sample; also: attach, empty, flex
 * npm run --silent scenario -- flex --port 7481   # what follows the name goes to `npm start`
 * npm run --silent scenario -- --clean         # removes what a killed scenario left
 * ```
 *
 * Prints one line of JSON on standard output once the app answers, `{url, tokenFile, kubeconfig, dataFolder}`, and runs till
 * SIGTERM, SIGINT, or the end of the npm that started it; then nothing of it is left: no process, mount, loop device or file.
 * What the app says goes to standard error. It builds first when the sources changed; `--no-build` takes what is built.
 * A scenario is a folder here with `manifests` and `flexvolume`, each of them optional; `shop` is `deploy/sample`.
 * Change the world through the kubeconfig or the files in `dataFolder`: both are watched.
 * Drivers may keep what they have in `driver-state` beside the data folder: it goes with the scenario, its loop devices first.
 *
 * All of it lies in one folder of the temporary folder, `voldeck-scenario-NAME-XXXXXX`, beside the record of who runs it.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rmdir, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { project, resetData, startApp, type AppOptions, type RunningApp } from "@/e2e/app";
import { AppError } from "@/lib/errors";
import { openDataFolder } from "@/server/data-folder";
import { lockName } from "@/server/hosts/linux";
import { identityOf, isRunning, processIdentitySchema, type ProcessIdentity } from "@/server/hosts/linux/process-identity";
import { copyFolder } from "@/server/sample";

export interface ScenarioLine {
  readonly url: string;
  readonly tokenFile: string;
  readonly kubeconfig: string;
  readonly dataFolder: string;
}

export interface RunningScenario {
  readonly line: ScenarioLine;
  readonly app: RunningApp;
  /** Ends the app and removes everything. */
  stop(): Promise<void>;
}

export interface ScenarioOptions extends Pick<AppOptions, "args"> {
  /** Processes whose end ends the scenario, beside its own. */
  readonly owners?: readonly ProcessIdentity[];
}

const folderPrefix = "voldeck-scenario-";
const dataName = "data";
const driverStateName = "driver-state";
const recordName = "runner.json";
const recordSchema = z.object({ runner: processIdentitySchema, owners: z.array(processIdentitySchema) });
const endWithinMs = 20_000;
const pollMs = 50;

const scenarios = join(project, "e2e/scenarios");

export async function scenarioNames(): Promise<readonly string[]> {
  const entries = await readdir(scenarios, { withFileTypes: true });
  return ["shop", ...entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)].sort();
}

/** Throws AppError `invalid` for a name that is none; whatever fails later leaves nothing behind. */
export async function startScenario(name: string, options: ScenarioOptions = {}): Promise<RunningScenario> {
  const names = await scenarioNames();
  if (!names.includes(name)) throw new AppError("invalid", `there is no scenario ${JSON.stringify(name)}; there are ${names.join(", ")}`);
  const folder = await mkdtemp(join(await realpath(tmpdir()), `${folderPrefix}${name}-`));
  try {
    await writeRecord(folder, options.owners ?? []);
    const dataFolder = join(folder, dataName);
    await prepare(name, dataFolder);
    const app = await startApp({ dataFolder, args: options.args ?? [] });
    return {
      app,
      line: {
        url: app.url,
        tokenFile: join(dataFolder, "token"),
        kubeconfig: join(dataFolder, "apiserver/kubeconfig"),
        dataFolder,
      },
      stop: async () => {
        await app.stop();
        await removeScenario(folder);
      },
    };
  } catch (error) {
    await removeScenario(folder);
    throw error;
  }
}

async function writeRecord(folder: string, owners: readonly ProcessIdentity[]): Promise<void> {
  const runner = await identityOf(process.pid);
  await writeFile(join(folder, recordName), `${JSON.stringify({ runner, owners })}\n`, { mode: 0o600 });
}

async function prepare(name: string, dataFolder: string): Promise<void> {
  const held = await openDataFolder(dataFolder, process.getuid?.() ?? 0);
  try {
    const from = name === "shop" ? join(project, "deploy/sample") : join(scenarios, name);
    for (const part of ["manifests", "flexvolume"]) {
      const [source, target] = [join(from, part), join(dataFolder, part)];
      if (existsSync(source)) await copyFolder(source, target);
      else await mkdir(target).then(() => chmod(target, 0o755));
    }
  } finally {
    await held.release();
  }
}

/** Ends and removes what killed scenarios of this user left. Returns the folders; those of running scenarios are left alone. */
export async function cleanScenarios(): Promise<{ readonly removed: readonly string[]; readonly running: readonly string[] }> {
  const [removed, running]: [string[], string[]] = [[], []];
  const parent = await realpath(tmpdir());
  for (const name of (await readdir(parent)).filter((entry) => entry.startsWith(folderPrefix))) {
    const folder = join(parent, name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    const record = await readRecord(folder);
    if (record && (await isRunning(record.runner)) && (await areRunning(record.owners))) {
      running.push(folder);
      continue;
    }
    // A runner without its owner is about to end by itself.
    if (record) await end(record.runner);
    await removeScenario(folder);
    removed.push(folder);
  }
  return { removed, running };
}

export async function areRunning(processes: readonly ProcessIdentity[]): Promise<boolean> {
  for (const each of processes) if (!(await isRunning(each))) return false;
  return true;
}

async function readRecord(folder: string): Promise<z.infer<typeof recordSchema> | undefined> {
  const text = await readFile(join(folder, recordName), "utf8").catch(() => undefined);
  return text === undefined ? undefined : recordSchema.safeParse(JSON.parse(text)).data;
}

/** Bit by bit, so that a second run goes on where a first one was cut short. */
async function removeScenario(folder: string): Promise<void> {
  const dataFolder = join(folder, dataName);
  const app = await readFile(join(dataFolder, lockName), "utf8").catch(() => undefined);
  if (app !== undefined) await end(processIdentitySchema.parse(JSON.parse(app)));
  await resetData(dataFolder);
  await ifThere(rmdir(dataFolder));
  await removeDriverState(join(folder, driverStateName));
  await ifThere(unlink(join(folder, recordName)));
  await ifThere(rmdir(folder));
}

/** Nothing of it is mounted any more. It holds files, and folders of files. */
async function removeDriverState(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    for (const device of losetup("-j", path, "-n", "-O", "NAME").split("\n").filter((line) => line !== "")) losetup("-d", device.trim());
    await unlink(path);
  }
  for (const entry of await readdir(folder)) await rmdir(join(folder, entry));
  await rmdir(folder);
}

const losetup = (...args: readonly string[]) => execFileSync("losetup", args, { encoding: "utf8" });

async function ifThere(act: Promise<void>): Promise<void> {
  await act.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/** SIGTERM, and SIGKILL to what does not end; by pid and start time. Never this process itself. */
async function end(identity: ProcessIdentity): Promise<void> {
  if (identity.pid === process.pid) return;
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!(await isRunning(identity))) return;
    process.kill(identity.pid, signal);
    const deadline = Date.now() + endWithinMs;
    while ((await isRunning(identity)) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  if (await isRunning(identity)) throw new Error(`process ${identity.pid} does not end`);
}
