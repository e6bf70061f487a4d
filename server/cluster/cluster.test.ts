import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { openCluster, type Cluster, type ClusterChange } from "@/server/cluster/cluster";
import { json, listBody, openWatch, startFakeApi, statusBody, writeEvent, type FakeAnswer } from "@/server/cluster/fake-api";
import { TestClock } from "@/server/cluster/test-clock";
import { silentLog } from "@/server/cluster/time";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const pod = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: "shop", uid: `uid-${name}`, resourceVersion, annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } },
  spec: { containers: [{ name: "c", env: [{ name: "PASSWORD", value: "secret" }] }], volumes: [{ name: "data", emptyDir: {} }] },
});

async function open(answer?: (response: ServerResponse, path: string) => boolean, clock = new TestClock({ holdFromMs: 400 })) {
  const podWatches: ServerResponse[] = [];
  const serve: FakeAnswer = (response, { url, isWatch }) => {
    if (answer?.(response, url.pathname)) return;
    if (url.pathname === "/version") return json(response, 200, { major: "1", minor: "37", gitVersion: "v1.37.2" });
    if (!isWatch) return json(response, 200, listBody(url.pathname === "/api/v1/pods" ? [pod("a", "1")] : [], "10"));
    openWatch(response);
    if (url.pathname === "/api/v1/pods") podWatches.push(response);
  };
  const api = await startFakeApi(serve);
  const cluster = openCluster({ context: api.context, log: silentLog, clock, random: { next: () => 0.5 } });
  cleanups.push(() => api.close(), () => cluster.close());
  return { api, cluster, clock, podWatches };
}

function nextChange(cluster: Cluster, wanted: (change: ClusterChange) => boolean = () => true): Promise<ClusterChange> {
  return new Promise((resolve) => {
    const stop = cluster.onChange((change) => {
      if (!wanted(change)) return;
      stop();
      resolve(change);
    });
  });
}

describe("a cluster", () => {
  it("reads every kind but Secrets and ConfigMaps, and is settled when each was listed", async () => {
    const { api, cluster } = await open();
    await cluster.settled;
    expect([...cluster.snapshot().pods.keys()]).toEqual(["shop/a"]);
    expect(cluster.freshness().kinds.map((kind) => kind.state)).toEqual(Array(10).fill("live"));
    const asked = new Set(api.requests.map((request) => request.url.pathname));
    expect([...asked].filter((path) => /secrets|configmaps/.test(path))).toEqual([]);
    expect(asked).toContain("/apis/storage.k8s.io/v1/csidrivers");
  });

  it("keeps no environment of containers and no copy of what was applied", async () => {
    const { cluster } = await open();
    await cluster.settled;
    expect(JSON.stringify([...cluster.snapshot().pods.values()])).not.toMatch(/secret|last-applied/);
  });

  it.each([{ volumes: 5 }, { containers: {} }, { volumes: [null] }])("leaves out a pod of a wrong shape (%j) and goes on", async (spec) => {
    const { cluster } = await open((response, path) => {
      if (path !== "/api/v1/pods") return false;
      json(response, 200, listBody([{ ...pod("odd", "1"), spec }, pod("a", "2")], "10"));
      return true;
    });
    await cluster.settled;
    expect([...cluster.snapshot().pods.keys()]).toEqual(["shop/a"]);
  });

  it("settles although a kind is forbidden or absent, and says so", async () => {
    const { cluster } = await open((response, path) => {
      if (path === "/api/v1/nodes") json(response, 403, statusBody(403, "Forbidden", "nodes is forbidden"));
      else if (path.endsWith("/csinodes")) json(response, 404, statusBody(404, "NotFound", "no such kind"));
      else return false;
      return true;
    });
    await cluster.settled;
    expect(cluster.freshness().kinds.filter((kind) => kind.state !== "live").map(({ kind, state, reason }) => [kind, state, reason])).toEqual([
      ["nodes", "forbidden", "nodes is forbidden"],
      ["csinodes", "absent", "no such kind"],
    ]);
  });

  it("gathers changes: the first at once, those within half a second after it together", async () => {
    const { cluster, clock, podWatches } = await open();
    await cluster.settled;
    clock.advance(500);
    const seen: number[] = [];
    cluster.onChange((change) => seen.push(change.snapshot.pods.size));
    const first = nextChange(cluster, (change) => change.kinds.has("pods"));
    while (podWatches.length === 0) await new Promise(setImmediate);
    const [watch] = podWatches as [ServerResponse];
    writeEvent(watch, "ADDED", pod("b", "11"));
    expect((await first).snapshot.pods.size).toBe(2);
    for (const [index, name] of ["c", "d", "e"].entries()) writeEvent(watch, "ADDED", pod(name, String(12 + index)));
    writeEvent(watch, "ADDED", pod("end", "20"));
    const second = nextChange(cluster, (change) => change.snapshot.pods.has("shop/end"));
    const heard = () => cluster.freshness().kinds.find((kind) => kind.kind === "pods")?.objects;
    while (heard() !== 6) await new Promise(setImmediate);
    expect(cluster.snapshot().pods.size).toBe(2);
    clock.advance(500);
    expect((await second).kinds).toEqual(new Set(["pods"]));
    expect(seen.filter((size) => size > 2)).toEqual([6]);
  });

  it("learns the version of the server", async () => {
    const { cluster } = await open();
    while (!cluster.serverVersion()) await new Promise(setImmediate);
    expect(cluster.serverVersion()).toEqual({ major: "1", minor: "37", gitVersion: "v1.37.2" });
  });

  it("goes on when a listener throws", async () => {
    const { cluster } = await open();
    cluster.onChange(() => {
      throw new Error("a listener's own fault");
    });
    await cluster.settled;
    expect(cluster.snapshot().pods.size).toBe(1);
  });
});
