import { describe, expect, it } from "vitest";
import { AppError } from "@/lib/errors";
import { FakeClock, MemoryLog, SeededRandom } from "@/server/hosts/memory";
import { FakeCluster } from "@/server/node/fake-cluster";
import { Recorder, type NodeEvent } from "@/server/node/recorder";

const event = (message: string, extra: Partial<NodeEvent> = {}): NodeEvent => ({
  subject: { kind: "Pod", namespace: "shop", name: "web", uid: "uid-web" },
  type: "Warning",
  reason: "FailedMount",
  message,
  component: "kubelet",
  ...extra,
});

function start() {
  const cluster = new FakeCluster();
  const clock = new FakeClock();
  const log = new MemoryLog();
  const recorder = new Recorder({ client: cluster.client, clock, random: new SeededRandom(), log, nodeName: "node-1" });
  return { cluster, clock, recorder };
}

describe("a recorder", () => {
  it("writes an event as the kubelet's recorder does", async () => {
    const { cluster, recorder } = start();
    recorder.record(event("it failed"));
    await recorder.flushed();
    const [written] = cluster.events();
    expect(written?.metadata.name).toMatch(/^web\.[0-9a-f]+$/);
    expect(written).toMatchObject({
      metadata: { namespace: "shop" },
      involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web", uid: "uid-web" },
      type: "Warning",
      reason: "FailedMount",
      message: "it failed",
      count: 1,
      firstTimestamp: "2026-01-02T03:04:05Z",
      source: { component: "kubelet", host: "node-1" },
      reportingInstance: "node-1",
    });
  });

  it("counts what is said again within ten minutes, and begins anew after them", async () => {
    const { cluster, clock, recorder } = start();
    for (const minutes of [0, 4, 4, 4]) {
      await clock.advance(minutes * 60_000);
      recorder.record(event("again"));
      await recorder.flushed();
    }
    expect(cluster.events().map(({ count, lastTimestamp }) => [count, lastTimestamp])).toEqual([
      [3, "2026-01-02T03:12:05Z"],
      [1, "2026-01-02T03:16:05Z"],
    ]);
  });

  it("makes a new event when the counted one is gone", async () => {
    const { cluster, recorder } = start();
    recorder.record(event("again"));
    await recorder.flushed();
    cluster.remove("events", "shop", cluster.events()[0]?.metadata.name ?? "");
    recorder.record(event("again"));
    await recorder.flushed();
    expect(cluster.events().map(({ count }) => count)).toEqual([1]);
  });

  it("puts events about objects without a namespace into default, and controllers' without a host", async () => {
    const { cluster, recorder } = start();
    recorder.record(event("x", { subject: { kind: "PersistentVolume", namespace: "", name: "pv", uid: "u" }, component: "persistentvolume-controller" }));
    await recorder.flushed();
    expect(cluster.events()[0]).toMatchObject({ metadata: { namespace: "default" }, source: { component: "persistentvolume-controller" } });
    expect(cluster.events()[0]?.source?.host).toBeUndefined();
  });

  it.each([
    { name: "tries again while the API can't be reached", code: "transient" as const, written: ["second"] },
    { name: "gives up what the API refuses", code: "forbidden" as const, written: [] },
  ])("$name, and goes on with the next", async ({ code, written }) => {
    const { cluster, clock, recorder } = start();
    let refusals = 2;
    cluster.refuse = () => ((refusals -= 1) >= 0 ? new AppError(code, "no") : undefined);
    recorder.record(event("second"));
    if (code === "forbidden") recorder.record(event("third"));
    await clock.advance(5_000);
    await recorder.flushed();
    expect(cluster.events().map(({ message }) => message)).toEqual(written);
  });

  it("ends when it is stopped, whatever waits", async () => {
    const { cluster, clock, recorder } = start();
    cluster.refuse = () => new AppError("transient", "no");
    recorder.record(event("never"));
    await clock.advance(10);
    await recorder.stop();
    recorder.record(event("late"));
    expect(cluster.events()).toEqual([]);
  });
});
