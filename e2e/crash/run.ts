/**
 * Kills the process at every named step of mounting, unmounting and both operations, starts it again, and compares what it comes to
 * with a run that nobody killed: mounts, loop devices, folders, objects of the API, journal. Needs root on Linux; the arguments,
 * if any, are parts of the points' names to run alone.
 */
import { mkdir, mkdtemp, readdir, readFile, realpath, rmdir, unlink } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { project } from "@/e2e/app";
import { heldLines, readJournal, wasNotSent } from "@/e2e/crash/picture";
import { killsOf, leavesUnsent, points } from "@/e2e/crash/points";
import { buildProgram, type Program } from "@/e2e/crash/process";
import { removeAll, scenarios, type ScenarioName } from "@/e2e/crash/scenarios";
import { Session } from "@/e2e/crash/session";
import { Stillness } from "@/e2e/crash/stillness";
import { messageOf } from "@/lib/errors";
import { runReset } from "@/server/reset";

/** Half of a run is waiting. */
const atOnce = 2 * availableParallelism();
const lookEveryMs = 100;
const endWithinMs = 10_000;

/** What a run came to: with everything mounted or done, and after all of it was removed again. */
interface Outcome {
  readonly full: readonly string[];
  readonly empty: readonly string[];
}

interface Task {
  readonly scenario: ScenarioName;
  readonly point: string;
}

interface Parts {
  readonly program: Program;
  /** The rest is left out, and what runs is removed as after a failure. */
  readonly interrupted: AbortSignal;
}

async function play({ program, interrupted }: Parts, name: ScenarioName, against?: { readonly point: string; readonly outcome: Outcome }): Promise<Outcome> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "voldeck-crash-")));
  const session = new Session({ program, folder, crashAt: against ? killsOf(against.point) : [] });
  const stop = () => void session.kill();
  interrupted.addEventListener("abort", stop);
  try {
    await session.open(scenarios[name].manifests);
    await scenarios[name].run(session);
    if (against) await session.untilKilled();
    const full = await settled(session, against?.outcome.full);
    requireNothingLost(session.dataFolder, against?.point);
    await removeAll(session);
    const empty = await settled(session, against?.outcome.empty);
    await session.stop();
    await untilNothingRuns(session.dataFolder);
    return { full, empty };
  } catch (error) {
    throw new Error(`${messageOf(error)}\n${indented(tail(session.output()))}`, { cause: error });
  } finally {
    interrupted.removeEventListener("abort", stop);
    await session.kill();
    await reset(folder);
  }
}

/** The unkilled run: when nothing moves any more. A killed one: when it is equal as well, and throws with what differs when it never is. */
async function settled(session: Session, expected: readonly string[] | undefined): Promise<readonly string[]> {
  const stillness = new Stillness(session, expected);
  await session.until("the end", (doors) => stillness.missing(doors));
  return stillness.lines;
}

/** An operation is begun anew only where it can't have been sent: between its intent and the answer. */
function requireNothingLost(dataFolder: string, point: string | undefined): void {
  const lost = readJournal(dataFolder).filter(wasNotSent).map(({ record }) => record.progress.sentence);
  const allowed = point !== undefined && leavesUnsent(point) ? 1 : 0;
  if (lost.length !== allowed) throw new Error(`${lost.length} operations are not known to have been sent, where ${allowed} should be:\n${lost.join("\n")}`);
}

/** No process, and nothing of the kernel's that would outlive the folder. */
async function untilNothingRuns(dataFolder: string): Promise<void> {
  const deadline = Date.now() + endWithinMs;
  for (;;) {
    const left = [...(await processesOf(dataFolder)), ...heldLines(dataFolder)];
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(["left at the end:", ...left].join("\n"));
    await sleep(lookEveryMs);
  }
}

async function processesOf(dataFolder: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const lines = await Promise.all(pids.map(async (pid) => (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ")));
  return lines.filter((line) => line.includes(dataFolder)).map((line) => `process ${line}`);
}

/** Whatever a failed run left, and the files of every run. */
async function reset(folder: string): Promise<void> {
  const dataFolder = join(folder, "data");
  let said = "";
  const code = await runReset(["--yes", "--all", "--data", dataFolder], { print: (text) => void (said += `${text}\n`) });
  if (code !== 0) return console.log(`could not remove ${dataFolder}:\n${said}`);
  for (const name of ["manifests", "attached"]) {
    for (const file of await readdir(join(folder, name))) await unlink(join(folder, name, file));
    await rmdir(join(folder, name));
  }
  await rmdir(folder);
}

function indented(text: string): string {
  return text.split("\n").map((line) => `    ${line}`).join("\n");
}

function tail(output: string): string {
  return output.trimEnd().split("\n").slice(-15).join("\n");
}

/** undefined, and told, when it fails: then nothing can be compared with it. */
async function playUnkilled(parts: Parts, scenario: ScenarioName): Promise<Outcome | undefined> {
  try {
    return await play(parts, scenario);
  } catch (error) {
    console.log(`FAILED     ${scenario}, which nobody killed\n${indented(messageOf(error))}`);
    return undefined;
  }
}

async function runTask(parts: Parts, { scenario, point }: Task, outcome: Outcome | undefined): Promise<boolean> {
  const name = `${scenario}: ${point}`;
  if (!outcome) {
    console.log(`not judged ${name}`);
    return false;
  }
  try {
    await play(parts, scenario, { point, outcome });
    console.log(`equal      ${name}`);
    return true;
  } catch (error) {
    console.log(`DIFFERENT  ${name}\n${indented(messageOf(error))}`);
    return false;
  }
}

async function main(wanted: readonly string[]): Promise<number> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    console.log("skipped: killing a process that mounts for real needs root on Linux");
    return 0;
  }
  const tasks = (Object.keys(points) as ScenarioName[])
    .flatMap((scenario) => points[scenario].map((point) => ({ scenario, point })))
    .filter(({ scenario, point }) => wanted.length === 0 || wanted.some((part) => `${scenario}: ${point}`.includes(part)));
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());
  const folder = join(project, "dist/crash");
  await mkdir(folder, { recursive: true });
  const program = await buildProgram(folder);
  const unkilled = new Map<ScenarioName, Promise<Outcome | undefined>>();
  const unkilledOf = (scenario: ScenarioName) => {
    const run = unkilled.get(scenario) ?? playUnkilled({ program, interrupted: interrupted.signal }, scenario);
    unkilled.set(scenario, run);
    return run;
  };
  let equal = 0;
  const queue = [...tasks];
  const work = async () => {
    for (let task = queue.shift(); task && !interrupted.signal.aborted; task = queue.shift()) if (await runTask({ program, interrupted: interrupted.signal }, task, await unkilledOf(task.scenario))) equal += 1;
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  console.log(`${tasks.length} points, ${equal} equal`);
  return equal === tasks.length && tasks.length > 0 ? 0 : 1;
}

process.exit(await main(process.argv.slice(2)));
