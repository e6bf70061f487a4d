/** `npm run bench`: the figures of this machine, with their conditions. Under a minute; nothing here is a test. */
import { existsSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { project } from "@/e2e/app";
import { weighBuiltApp } from "@/e2e/bench/built-app";
import { benchCluster } from "@/e2e/bench/cluster";
import { newBenchManager, probedCount, registeredCount, specsOf } from "@/e2e/bench/matching";
import { allocationOf, timeOf } from "@/e2e/bench/measure";
import { buildSnapshot } from "@/server/cluster/build-snapshot";
import { matchAll } from "@/server/volume/plugin-table";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { Spec } from "@/server/volume/spec";

const pluginCount = `${registeredCount} + ${probedCount} plugins`;
const podCount = 10_000;
const specCount = 400_000;

async function main(): Promise<void> {
  conditions();
  const manager = await newBenchManager();
  await matching(manager);
  await all(manager);
  await snapshot();
  await builtApp();
}

function conditions(): void {
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1)).join(" ");
  row("conditions", `Node ${process.version}, ${cpus().length} x ${cpu?.model ?? "unknown CPU"}, ${gibibytes(totalmem())} GiB, load ${load}`);
}

async function matching(manager: VolumePluginManager): Promise<void> {
  const { matcher } = manager.published();
  const specs = specsOf(1000);
  let found = 0;
  const round = (calls: number) => {
    for (let index = 0; index < calls; index += 1) if (matcher.match(at(specs, index)).outcome === "found") found += 1;
  };
  const { medianNs, leastNs, rounds } = await timeOf(round, { calls: 500_000, rounds: 15, warmUps: 5 });
  const bytes = allocationOf(round, { calls: 20_000, rounds: 15 });
  if (found === 0) throw new Error("nothing matched");
  row("one match", `${medianNs.toFixed(0)} ns (least ${leastNs.toFixed(0)}), ${nearZero(bytes)} B allocated; ${pluginCount}, specs of 7 kinds, median of ${rounds} rounds`);
  row("  Go's, quoted", `240 ns, 0 allocations: FindPluginBySpec of Kubernetes v1.37.2, ${pluginCount}; not measured here`);

  const awaited = async (calls: number) => {
    for (let index = 0; index < calls; index += 1) await manager.findPluginBySpec(at(specs, index));
  };
  const find = await timeOf(awaited, { calls: 5_000, rounds: 9 });
  row("findPluginBySpec", `${micros(find.medianNs)} µs awaited (least ${micros(find.leastNs)}), with lock and probe, as the seed has it`);
}

async function all(manager: VolumePluginManager): Promise<void> {
  const table = manager.published();
  const specs = specsOf(specCount);
  const { medianNs, leastNs, rounds } = await timeOf(() => matchAll(table, specs), { calls: 1, rounds: 7, warmUps: 2 });
  row("matchAll", `${millis(medianNs)} ms for ${specCount} specs (least ${millis(leastNs)}, ${rounds} rounds); bar 1000 ms`);
}

async function snapshot(): Promise<void> {
  const cluster = benchCluster(podCount);
  const states = cluster.states();
  let built = buildSnapshot(undefined, states, 0);
  const whole = await timeOf(() => (built = buildSnapshot(undefined, states, 0)), { calls: 1, rounds: 9 });
  row("snapshot", `${millis(whole.medianNs)} ms for ${podCount} pods, ${built.podVolumes.length} volumes, from nothing (least ${millis(whole.leastNs)})`);
  let next = 0;
  const change = async () => {
    for (let index = 0; index < 50; index += 1) cluster.touch((next += 131) % podCount);
    built = buildSnapshot(built, cluster.states(), 0);
  };
  const changed = await timeOf(change, { calls: 1, rounds: 20 });
  row("", `${millis(changed.medianNs)} ms after 50 of its pods changed (least ${millis(changed.leastNs)})`);
}

async function builtApp(): Promise<void> {
  if (!existsSync(join(project, "dist/main.js")) || !existsSync(join(project, ".next/BUILD_ID"))) {
    row("built app", "not measured: npm run build first");
    return;
  }
  const app = await weighBuiltApp();
  row("first load", `${kilobytes(app.compressedBytes)} kB of JavaScript compressed (${kilobytes(app.rawBytes)} kB raw), ${app.scripts} scripts of /c/x/plugins; bar 230 kB`);
  row("memory", `${mebibytes(app.residentBytes)} MiB resident once ready, with the sample; first URL after ${app.startMs.toFixed(0)} ms`);
}

function at(specs: readonly Spec[], index: number): Spec {
  const spec = specs[index % specs.length];
  if (!spec) throw new Error("no specs");
  return spec;
}

function row(what: string, figure: string): void {
  console.log(`${what.padEnd(18)}${figure}`);
}

/** What the collector's own bookkeeping adds to a round is less than this. */
function nearZero(bytes: number): string {
  return Math.abs(bytes) < 1 ? "0" : bytes.toFixed(0);
}

const micros = (ns: number) => (ns / 1e3).toFixed(1);
const millis = (ns: number) => (ns / 1e6).toFixed(1);
const kilobytes = (bytes: number) => (bytes / 1e3).toFixed(0);
const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
const gibibytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);

await main();
