/**
 * `npm run test:kubectl`: the same kubectl command lines against the embedded API server and a real one (VOLDECK_TEST_KUBECONFIG); exit
 * code, output and errors must be equal but for ids, times, ages and what e2e/api/omissions.ts lists.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cleanUp } from "@/e2e/api/cases";
import { ApiClient, type Sent } from "@/e2e/api/client";
import { maskedText, preparedText } from "@/e2e/api/compare";
import { refused, testKubeconfig } from "@/e2e/cluster/test-cluster";
import { startApiServer } from "@/server/apiserver/server";
import { leftOut, withoutLeftOut } from "./left-out";
import { lines, type Line } from "./lines";

/** A test bed keeps its kubectl beside its kubeconfig. */
const beside = dirname(process.env["VOLDECK_TEST_KUBECONFIG"] ?? "");
const kubectl = process.env["KUBECTL"] ?? join(beside, "bin/1.37/kubectl");

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs one line with its manifests in a folder of its own. */
async function run({ args, manifests = {}, uidOf, during }: Line, kubeconfig: string, namespace: string): Promise<Ran> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "voldeck-kubectl-"));
  const common = ["--kubeconfig", kubeconfig, "-n", namespace];
  const uid = uidOf === undefined ? "" : (await execute([...common, "get", uidOf, "-o", "jsonpath={.metadata.uid}"], folder.path)).stdout;
  for (const [name, manifest] of Object.entries(manifests)) {
    writeFileSync(join(folder.path, `${name}.json`), JSON.stringify(manifest).replaceAll('"NAMESPACE"', JSON.stringify(namespace)).replaceAll('"UID"', JSON.stringify(uid)));
  }
  const words = args.split(" ").map((word) => (word.startsWith("@") ? join(folder.path, `${word.slice(1)}.json`) : word));
  const line = [...common, ...words];
  const { code, stdout, stderr } = during === undefined ? await execute(line, folder.path) : await watch(line, folder.path, { common, ...during });
  const named = (text: string): string => text.replaceAll(folder.path, "FOLDER").replace(/\/tmp\/(LIVE|MERGED)-\d+/gu, "/tmp/$1");
  return { code, out: withoutLeftOut(args, comparable(named(stdout))), err: maskedText(named(stderr)) };
}

function execute(args: readonly string[], home: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(kubectl, args, { timeout: 60_000, env: { ...process.env, HOME: home } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** Watches until so many rows were printed, and runs the other lines, one after the other, once the first row stands there. */
async function watch(args: readonly string[], home: string, { common, lines: others, rows }: { common: readonly string[]; lines: readonly string[]; rows: number }) {
  const child = spawn(kubectl, args, { timeout: 60_000, env: { ...process.env, HOME: home } });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const changes = new Promise<void>((resolve, reject) => {
    let isFirst = true;
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      const printed = rowsIn(stdout);
      if (printed >= rows) child.kill("SIGTERM");
      if (!isFirst || printed < 1) return;
      isFirst = false;
      inTurn(others.map((line) => [...common, ...line.split(" ")]), home).then(resolve, reject);
    });
    child.once("close", () => resolve());
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await changes;
  await ended;
  // Both sides cut short by the time limit would be equal.
  if (rowsIn(stdout) < rows) throw new Error(`kubectl ${args.join(" ")} printed ${rowsIn(stdout)} rows of ${rows}: ${stdout}${stderr}`);
  return { code: 0, stdout, stderr };
}

/** Below the line of headings. */
function rowsIn(table: string): number {
  return table.split("\n").length - 2;
}

async function inTurn(lines: readonly (readonly string[])[], home: string): Promise<void> {
  for (const line of lines) {
    const { code, stderr } = await execute(line, home);
    if (code !== 0) throw new Error(`kubectl ${line.join(" ")}: ${stderr}`);
  }
}

/** Documents without what the real cluster adds; tables with their ages masked. */
function comparable(text: string): string {
  if (/^(apiVersion:|\{)/u.test(text)) return preparedText(text);
  return maskedText(text).replace(/\b(\d+[smhdy])+(?=\s|$)/gu, "AGE").replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} [-+]\d{4}/gu, "TIME").replace(/ +/gu, " ");
}

async function main(): Promise<number> {
  const kubeconfig = await testKubeconfig(process.env);
  if (kubeconfig === undefined) return refused;
  if (!existsSync(kubectl)) {
    console.error(`no kubectl at ${kubectl}: set KUBECTL to a kubectl 1.37`);
    return refused;
  }
  const namespace = process.env["VOLDECK_TEST_NAMESPACE"] ?? "shop";
  const real = new ApiClient(kubeconfig);
  using dataFolder = mkdtempDisposableSync(join(tmpdir(), "voldeck-api-"));
  const log = { info: () => undefined, warn: () => undefined, error: (message: string, error: unknown) => say(`${message}: ${String(error)}`) };
  const clock = { nowMs: () => Date.now(), sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }) };
  const server = await startApiServer({ dataFolder: dataFolder.path, clock, log });
  const ours = new ApiClient(server.kubeconfigPath);
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  for (const client of [real, ours]) await client.send({ method: "POST", path: "/api/v1/namespaces", body });
  // `kubectl create configmap` sets no labels, by which the rest is found.
  const requests: readonly Sent[] = [...cleanUp(namespace), { method: "DELETE", path: `/api/v1/namespaces/${namespace}/configmaps/api-two` }];
  try {
    for (const request of requests) await real.send(request);
    return await compareAll(kubeconfig, server.kubeconfigPath, namespace);
  } finally {
    for (const request of requests) await real.send(request);
    real.close();
    ours.close();
    await server.close();
  }
}

async function compareAll(real: string, ours: string, namespace: string): Promise<number> {
  let equal = 0;
  for (const line of lines) {
    const [a, b] = await Promise.all([run(line, real, namespace), run(line, ours, namespace)]);
    const differing = (["code", "out", "err"] as const).filter((key) => a[key] !== b[key]);
    if (differing.length === 0) equal += 1;
    for (const key of differing) say(`kubectl ${line.args}: ${key} differs\n    real ${String(a[key])}\n    ours ${String(b[key])}`);
  }
  for (const { what, reason } of leftOut) say(`not compared: ${what} (${reason})`);
  say(`${lines.length} command lines, ${equal} equal`);
  return equal === lines.length ? 0 : 1;
}

process.exitCode = await main();
