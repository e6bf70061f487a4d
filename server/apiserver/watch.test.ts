import { describe, expect, it } from "vitest";
import type { ServerContext } from "./context";
import { ask, testContext } from "./test-context";

const configMaps = "/api/v1/namespaces/default/configmaps";

function map(name: string, labels: Record<string, string> = {}): unknown {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } };
}

interface Told {
  readonly type: string;
  readonly object: { readonly kind: string; readonly code?: number; readonly metadata?: { readonly name?: string; readonly annotations?: Record<string, string> } };
}

/** Watches while `act` runs; what was told until then. */
async function told(context: ServerContext, query: string, act: () => void = () => undefined): Promise<Told[]> {
  const answer = ask(context, "GET", `${configMaps}?watch=true&${query}`);
  const stop = new AbortController();
  const lines: string[] = [];
  const run = answer.stream?.run((text) => lines.push(text), stop.signal);
  await Promise.resolve();
  act();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await run;
  return lines.join("").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Told);
}

function short(events: readonly Told[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.kind}`);
}

describe("a watch", () => {
  it("tells what is there, then what happens", async () => {
    const context = testContext();
    ask(context, "POST", configMaps, map("a"));
    const events = await told(context, "", () => {
      ask(context, "POST", configMaps, map("b"));
      ask(context, "DELETE", `${configMaps}/a`);
    });
    expect(short(events)).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
  });

  it("goes on after a version", async () => {
    const context = testContext();
    ask(context, "POST", configMaps, map("a"));
    const from = context.store.revision;
    ask(context, "POST", configMaps, map("b"));
    expect(short(await told(context, `resourceVersion=${from}`))).toEqual(["ADDED b"]);
  });

  it("answers 410 for a version that its log no longer holds", async () => {
    const context = testContext(2);
    const from = context.store.revision;
    for (const name of ["a", "b", "c", "d"]) ask(context, "POST", configMaps, map(name));
    const events = await told(context, `resourceVersion=${from - 1}`);
    expect(events.map(({ type, object }) => [type, object.code])).toEqual([["ERROR", 410]]);
  });

  it("tells an object that leaves the selection as deleted, one that enters as added", async () => {
    const context = testContext();
    ask(context, "POST", configMaps, map("a", { x: "1" }));
    const events = await told(context, "labelSelector=x%3D1", () => {
      ask(context, "PATCH", `${configMaps}/a`, { metadata: { labels: { x: "2" } } });
      ask(context, "PATCH", `${configMaps}/a`, { metadata: { labels: { x: "1" } } });
    });
    expect(short(events)).toEqual(["ADDED a", "DELETED a", "ADDED a"]);
  });

  it("ends the initial events with a bookmark", async () => {
    const context = testContext();
    ask(context, "POST", configMaps, map("a"));
    const events = await told(context, "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan");
    expect(events.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(events[1]?.object.metadata?.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  });
});
