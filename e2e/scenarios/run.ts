/** `npm run scenario`: see scenario.ts. Exit code 2: no such scenario, or one ended by itself. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { project } from "@/e2e/app";
import { areRunning, cleanScenarios, scenarioNames, startScenario } from "@/e2e/scenarios/scenario";
import { messageOf } from "@/lib/errors";
import { identityOf, type ProcessIdentity } from "@/server/hosts/linux/process-identity";

const watchMs = 500;

async function main([name, ...rest]: readonly string[]): Promise<number> {
  if (name === "--clean") return clean();
  if (name === undefined || name.startsWith("-")) {
    console.error(`Usage: npm run --silent scenario -- NAME [--no-build] [options of npm start]\n       npm run --silent scenario -- --clean\nNames: ${(await scenarioNames()).join(", ")}`);
    return name === "--help" ? 0 : 2;
  }
  if (!rest.includes("--no-build")) build();
  return run(name, rest.filter((arg) => arg !== "--no-build"));
}

async function clean(): Promise<number> {
  const { removed, running } = await cleanScenarios();
  for (const folder of removed) console.log(`removed ${folder}`);
  for (const folder of running) console.log(`runs    ${folder}`);
  return 0;
}

function build(): void {
  const built = spawnSync(join(project, "node_modules/.bin/node"), [join(project, "server/start.ts"), "build"], { stdio: ["ignore", 2, 2] });
  if (built.status !== 0) throw new Error("the build failed");
}

async function run(name: string, args: readonly string[]): Promise<number> {
  const ended = new Promise<string>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => resolve(signal));
  });
  const owners = await npmAbove();
  const scenario = await startScenario(name, { args, owners });
  console.log(JSON.stringify(scenario.line));
  const why = await Promise.race([ended, endOf(owners), scenario.app.ended]);
  if (why === "the app ended") console.error(scenario.app.output());
  console.error(`Removing the scenario (${why})`);
  await scenario.stop();
  return why === "the app ended" ? 2 : 0;
}

/** The npm that runs this script, if one does: it passes signals on, but a SIGKILL reaches npm alone. */
async function npmAbove(): Promise<readonly ProcessIdentity[]> {
  if (process.env["npm_lifecycle_event"] !== "scenario") return [];
  for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) {
    const identity = await identityOf(pid);
    if (identity && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("npm")) return [identity];
  }
  return [];
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
}

async function endOf(owners: readonly ProcessIdentity[]): Promise<string> {
  while (await areRunning(owners)) await new Promise((resolve) => setTimeout(resolve, watchMs));
  return "npm ended";
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(messageOf(error));
    process.exit(2);
  },
);
