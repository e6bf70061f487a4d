/**
 * `npm run test:api`: the same requests to the embedded API server and to a real one (VOLDECK_TEST_KUBECONFIG); code, headers and body
 * must be equal but for ids, times and what `omissions.ts` lists. Writes only into clusters that hold ConfigMap default/voldeck-test-cluster.
 */
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { refused, testKubeconfig } from "@/e2e/cluster/test-cluster";
import { startApiServer } from "@/server/apiserver/server";
import { cleanUp, cases } from "./cases";
import { ApiClient, type Received, type Sent } from "./client";
import { difference } from "./compare";
import type { Memory } from "./case";
import { omissions } from "./omissions";

const nothing: Sent = { method: "GET", path: "/" };

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(): Promise<number> {
  const kubeconfig = await testKubeconfig(process.env);
  if (kubeconfig === undefined) return refused;
  const namespace = process.env["VOLDECK_TEST_NAMESPACE"] ?? "shop";
  const real = new ApiClient(kubeconfig);
  using dataFolder = mkdtempDisposableSync(join(tmpdir(), "voldeck-api-"));
  const log = { info: () => undefined, warn: () => undefined, error: (message: string, error: unknown) => say(`${message}: ${String(error)}`) };
  const clock = { nowMs: () => Date.now(), sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }) };
  const server = await startApiServer({ dataFolder: dataFolder.path, clock, log });
  const ours = new ApiClient(server.kubeconfigPath);
  try {
    return await compareAll(real, ours, namespace);
  } finally {
    for (const request of cleanUp(namespace)) await real.send(request);
    real.close();
    ours.close();
    await server.close();
  }
}

async function compareAll(real: ApiClient, ours: ApiClient, namespace: string): Promise<number> {
  for (const client of [real, ours]) {
    for (const request of cleanUp(namespace)) await client.send(request);
    await client.send({ method: "POST", path: "/api/v1/namespaces", body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } } });
  }
  let equal = 0;
  const all = cases(namespace);
  const memories: readonly [Memory, Memory] = [new Map(), new Map()];
  for (const { title, request, remember } of all) {
    const sent = memories.map((memory) => (typeof request === "function" ? request(memory) : request));
    const [a, b] = await Promise.all([real.send(sent[0] ?? nothing), ours.send(sent[1] ?? nothing)]);
    if (remember !== undefined) {
      memories[0].set(remember, parsed(a));
      memories[1].set(remember, parsed(b));
    }
    const found = difference(a, b);
    if (found === undefined) equal += 1;
    else say(`${title} (${sent[0]?.method} ${sent[0]?.path}) differs at ${found}`);
  }
  for (const { what, reason } of omissions) say(`not compared: ${what} (${reason})`);
  say(`${all.length} requests, ${equal} equal`);
  return equal === all.length ? 0 : 1;
}

function parsed(received: Received): unknown {
  try {
    return JSON.parse(received.text);
  } catch {
    return undefined;
  }
}

process.exitCode = await main();
