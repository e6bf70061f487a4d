import { describe, expect, it } from "vitest";
import type { Condition } from "@/lib/kube/meta";
import { createMemoryHost, type MemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { EphemeralResizer } from "@/server/node/ephemeral-resizer";
import { FakeCluster } from "@/server/node/fake-cluster";
import type { NodeEvent } from "@/server/node/recorder";
import { boundPod, testNode } from "@/server/node/test-node";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";

const mebibytes = (count: number) => String(count * 1024 * 1024);

function podOf(sizes: Readonly<Record<string, string>>, generation: number, status: { observedGeneration?: number; conditions?: Condition[] } = {}) {
  const pod = boundPod("cache", Object.entries(sizes).map(([name, sizeLimit]) => ({ name, emptyDir: { medium: "Memory", sizeLimit } })));
  return { ...pod, metadata: { ...pod.metadata, generation }, status };
}

async function start(memory: MemoryHost, cluster = new FakeCluster()) {
  const node = await testNode({ host: memory.host, plugins: [newEmptyDirPlugin({})], cluster });
  const events: NodeEvent[] = [];
  const { client } = cluster;
  const recorder = { record: (event: NodeEvent) => void events.push(event) };
  const resizer = new EphemeralResizer({ client, manager: node.manager, recorder, clock: memory.clock, point: () => undefined });
  const settle = async () => {
    await node.settle();
    await resizer.step(node.reconciler.picture.resolved, node.actual, () => false);
    await node.settle();
  };
  const sizes = () => memory.mounter.log.actions.filter((action) => action.op === "mount").map((action) => action.options.join(","));
  const pod = () => cluster.get("pods", "shop", "cache");
  const progress = () => pod()?.status?.conditions?.find((condition) => condition.type === "PodResizeInProgress");
  const said = () => events.map((event) => `${event.type} ${event.reason}: ${event.message}`);
  return { node, cluster, settle, sizes, pod, progress, said };
}

const memoryHost = (options: MemoryHostOptions = {}) => createMemoryHost({ nodeAllocatable: { memory: "4Gi" }, ...options });

describe("a changed sizeLimit", () => {
  it("is remounted, told in events, and done when the generation is observed without a condition", async () => {
    const world = await start(memoryHost());
    world.cluster.put("pods", podOf({ hot: "64Mi" }, 1, { observedGeneration: 1 }));
    await world.settle();
    expect(world.said()).toEqual([]);
    world.cluster.put("pods", podOf({ hot: "128Mi" }, 2, { observedGeneration: 1 }));
    await world.settle();
    expect(world.sizes()).toEqual([`size=${mebibytes(64)}`, `remount,size=${mebibytes(128)}`]);
    expect(world.progress()).toBeUndefined();
    expect(world.pod()?.status?.observedGeneration).toBe(2);
    expect(world.said()).toEqual([
      'Normal ResizeStarted: Pod resize started: {"containers":[{"name":"main","resources":{}}],"generation":2}',
      'Normal ResizeCompleted: Pod resize completed: {"containers":[{"name":"main","resources":{}}],"generation":2}',
    ]);
    await world.settle();
    expect(world.sizes()).toHaveLength(2);
  });

  it("shrinks volumes before it grows others", async () => {
    const world = await start(memoryHost());
    world.cluster.put("pods", podOf({ a: "64Mi", b: "64Mi" }, 1, { observedGeneration: 1 }));
    await world.settle();
    world.cluster.put("pods", podOf({ a: "128Mi", b: "32Mi" }, 2, { observedGeneration: 1 }));
    await world.settle();
    expect(world.sizes().slice(2)).toEqual([`remount,size=${mebibytes(32)}`, `remount,size=${mebibytes(128)}`]);
  });

  it("that the kernel refuses stays an error, said once, until it works or is taken back", async () => {
    let full = true;
    const world = await start(memoryHost({ mountFailures: { mount: ({ options }) => (full && options.includes("remount") ? new Error("mount point not mounted or bad option.") : undefined) } }));
    world.cluster.put("pods", podOf({ hot: "64Mi" }, 1, { observedGeneration: 1 }));
    await world.settle();
    world.cluster.put("pods", podOf({ hot: "1Mi" }, 2, { observedGeneration: 1 }));
    await world.settle();
    await world.settle();
    expect(world.progress()).toMatchObject({ status: "True", reason: "Error", message: "failed to resize volume hot: mount point not mounted or bad option.", observedGeneration: 2 });
    expect(world.said().map((text) => text.split(":")[0])).toEqual(["Normal ResizeStarted", "Warning ResizeError"]);
    full = false;
    await world.settle();
    expect(world.progress()).toBeUndefined();
    expect(world.said().at(-1)).toContain("ResizeCompleted");
  });

  it("that is taken back ends without a remount", async () => {
    const world = await start(memoryHost({ mountFailures: { mount: ({ options }) => (options.includes("remount") ? new Error("no") : undefined) } }));
    world.cluster.put("pods", podOf({ hot: "64Mi" }, 1, { observedGeneration: 1 }));
    await world.settle();
    world.cluster.put("pods", podOf({ hot: "1Mi" }, 2, { observedGeneration: 1 }));
    await world.settle();
    const failing = world.pod();
    world.cluster.put("pods", podOf({ hot: "64Mi" }, 3, { observedGeneration: 2, conditions: failing?.status?.conditions ?? [] }));
    await world.settle();
    expect(world.progress()).toBeUndefined();
    expect(world.pod()?.status?.observedGeneration).toBe(3);
  });
});

describe("after a restart", () => {
  it.each([
    { name: "a settled size is left as it is", status: { observedGeneration: 2 }, remounts: 0 },
    { name: "a generation that nobody observed is applied", status: { observedGeneration: 1 }, remounts: 1 },
    { name: "a resize that was under way is finished", status: { observedGeneration: 2, conditions: [{ type: "PodResizeInProgress", status: "True", observedGeneration: 2 }] }, remounts: 1 },
  ])("$name", async ({ status, remounts }) => {
    const memory = memoryHost();
    const first = await start(memory);
    first.cluster.put("pods", podOf({ hot: "64Mi" }, 1, { observedGeneration: 1 }));
    await first.settle();
    first.cluster.put("pods", podOf({ hot: "128Mi" }, 2, status));
    const second = await start(memory, first.cluster);
    await second.settle();
    expect(second.sizes().filter((options) => options.startsWith("remount"))).toEqual(Array(remounts).fill(`remount,size=${mebibytes(128)}`));
    expect(second.progress()).toBeUndefined();
  });
});
