import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "@playwright/test";
import { project } from "@/e2e/app";
import { mountsBelow } from "@/e2e/mounts";
import type { ScenarioLine } from "@/e2e/scenarios/scenario";

const command = ["run", "--silent", "scenario", "--"];
let started: ChildProcess[] = [];

// Each starts an app, npm and all, and waits for its end.
test.setTimeout(120_000);

/** In a process group of its own, so that a test can end all of it at once. */
async function start(name: string): Promise<{ child: ChildProcess; line: ScenarioLine; folder: string }> {
  const child = spawn("npm", [...command, name, "--no-build"], { cwd: project, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const lines = createInterface({ input: child.stdout });
  const [text] = await once(lines, "line");
  const line: ScenarioLine = JSON.parse(String(text));
  return { child, line, folder: dirname(line.dataFolder) };
}

const clean = () => execFileSync("npm", [...command, "--clean"], { cwd: project, encoding: "utf8" });

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, "exit");
  // SIGKILL to the group reaches the app too; SIGTERM goes to npm alone, which passes it on.
  process.kill(signal === "SIGKILL" ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
  await exited;
  return child.exitCode;
}

test.afterEach(async () => {
  for (const child of started.filter((each) => !hasEnded(each))) await end(child, "SIGTERM");
  started = [];
});

test("a scenario prints where it is, and leaves nothing after SIGTERM", async () => {
  const { child, line, folder } = await start("flex");
  expect((await fetch(new URL("/healthz", line.url))).ok).toBe(true);
  expect(new URL(line.url).hash).toBe(`#token=${readFileSync(line.tokenFile, "utf8").trim()}`);
  expect(readFileSync(line.kubeconfig, "utf8")).toMatch(/server"?: "?https:\/\/127.0.0.1:/);
  if (process.getuid?.() === 0) await expect.poll(() => mountsBelow(line.dataFolder).length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(await end(child, "SIGTERM")).toBe(0);
  expect(existsSync(folder)).toBe(false);
  expect(mountsBelow(folder)).toEqual([]);
});

test("--clean leaves a running scenario alone, and removes a killed one", async () => {
  const { child, line, folder } = await start("empty");
  expect(clean()).toContain(`runs    ${folder}`);
  expect((await fetch(new URL("/healthz", line.url))).ok).toBe(true);
  await end(child, "SIGKILL");
  expect(clean()).toContain(`removed ${folder}`);
  expect(existsSync(folder)).toBe(false);
  expect(clean()).not.toContain(folder);
});

test("a name that is none is answered with the names there are", async () => {
  const child = spawn("npm", [...command, "warehouse", "--no-build"], { cwd: project, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(child, "exit");
  expect(child.exitCode).toBe(2);
  expect(said).toMatch(/empty, flex, .*shop/);
});
