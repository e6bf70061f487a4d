/** What a built app weighs: scripts that its first page loads, and memory after its start. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { startApp, type RunningApp } from "@/e2e/app";

export interface BuiltApp {
  readonly scripts: number;
  /** Sum of the scripts, each compressed by gzip at its default level. */
  readonly compressedBytes: number;
  readonly rawBytes: number;
  readonly residentBytes: number;
  readonly startMs: number;
}

const readyWithinMs = 20_000;

export async function weighBuiltApp(): Promise<BuiltApp> {
  const begin = performance.now();
  const app = await startApp();
  try {
    const startMs = performance.now() - begin;
    await untilReady(app);
    const bodies = await scriptsOf(app, "/c/x/plugins");
    return {
      scripts: bodies.length,
      compressedBytes: sum(bodies.map((body) => gzipSync(body).length)),
      rawBytes: sum(bodies.map((body) => body.length)),
      residentBytes: residentBytesOf(app.pid),
      startMs,
    };
  } finally {
    await app.stop();
  }
}

async function untilReady({ origin }: RunningApp): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  while (!(await fetch(`${origin}/readyz`)).ok) {
    if (performance.now() > deadline) throw new Error(`not ready within ${readyWithinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The bodies of all scripts that the page's HTML names; those for browsers without modules are loaded by none that can run this. */
async function scriptsOf({ origin }: RunningApp, path: string): Promise<readonly Buffer[]> {
  const html = await (await fetch(origin + path)).text();
  const tags = html.match(/<(?:script|link)\b[^>]*>/g) ?? [];
  const urls = tags.filter((tag) => !/\snomodule/i.test(tag)).flatMap((tag) => /\s(?:src|href)="([^"]+\.js[^"]*)"/.exec(tag)?.[1] ?? []);
  if (urls.length === 0) throw new Error(`${path} names no script`);
  return Promise.all([...new Set(urls)].map(async (url) => Buffer.from(await (await fetch(new URL(url, origin))).arrayBuffer())));
}

function residentBytesOf(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
