import { describe, expect, it } from "vitest";
import { createMemoryHost, type MemoryHost } from "@/server/hosts/memory";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { parseQuantity } from "@/lib/quantity";
import { FakeCluster } from "@/server/node/fake-cluster";
import type { NodeEvent } from "@/server/node/recorder";
import { resizeEphemeralVolume, ResizeVolumes } from "@/server/node/resize-volumes";
import { boundPod, testNode } from "@/server/node/test-node";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";

const mebibytes = (count: number) => BigInt(count) * 1024n * 1024n;
const wholeSeconds = /^2026-.*:\d\dZ$/u;
const capacity = { memory: "4Gi" };
const root = "/var/lib/kubelet";
const pathOf = (podUID: string, volume: string) => `${root}/pods/${podUID}/volumes/kubernetes.io~empty-dir/${volume}`;
const memory = (sizeLimit: string, name = "hot"): Volume => ({ name, emptyDir: { medium: "Memory", sizeLimit } });

interface WorldOptions {
  readonly memory?: MemoryHost;
  readonly cluster?: FakeCluster;
  readonly point?: (name: string) => void;
}

/** A node whose pods' volumes are mounted. A second one over the same memory and cluster is a restart. */
async function start(options: WorldOptions = {}) {
  const host = options.memory ?? createMemoryHost({ nodeAllocatable: capacity });
  const cluster = options.cluster ?? new FakeCluster();
  const node = await testNode({ host: host.host, plugins: [newEmptyDirPlugin({})], cluster });
  const events: NodeEvent[] = [];
  const points: string[] = [];
  const resizer = new ResizeVolumes({
    host: host.host,
    manager: node.manager,
    client: cluster.client,
    recorder: { record: (event) => void events.push(event) },
    actual: node.actual,
    folder: root,
    point: (name) => {
      points.push(name);
      options.point?.(name);
    },
  });
  const step = async () => {
    await node.settle();
    await resizer.step(cluster.snapshot());
  };
  const pod = (name = "cache") => cluster.get("pods", "shop", name);
  return {
    memory: host,
    cluster,
    node,
    resizer,
    events,
    points,
    step,
    pod,
    put: (volumes: readonly Volume[], change: Partial<Pod["metadata"]> = {}, spec: Partial<Pod["spec"]> = {}) => {
      const made = boundPod("cache", volumes, spec);
      return cluster.put("pods", { ...made, metadata: { ...made.metadata, generation: 1, ...change } });
    },
    /** As the API server does it: the spec of that volume changes, and the generation rises. */
    resize: (sizeLimit: string, name = "hot") => {
      const known = pod();
      if (!known) throw new Error("no pod");
      const volumes = (known.spec.volumes ?? []).map((volume) => (volume.name === name ? { ...volume, emptyDir: { ...volume.emptyDir, sizeLimit } } : volume));
      const { generation = 0 } = known.metadata;
      cluster.put("pods", { ...known, metadata: { ...known.metadata, generation: generation + 1 }, spec: { ...known.spec, volumes } });
    },
    sizeOf: async (volume = "hot", podUID = "uid-cache") => (await host.files.statfs(pathOf(podUID, volume))).totalBytes,
    condition: () => pod()?.status?.conditions?.find(({ type }) => type === "PodResizeInProgress"),
    remounts: () => host.mounter.log.actions.filter(({ options: given }) => given.includes("remount")).map(({ target, options: given }) => [target, given.at(-1)]),
  };
}

const told = (events: readonly NodeEvent[]) => events.map(({ type, reason, message }) => [type, reason, message]);

describe("the size of a memory-backed volume", () => {
  it.each([
    { condition: "grows", to: "96Mi", bytes: mebibytes(96) },
    { condition: "shrinks", to: "32Mi", bytes: mebibytes(32) },
    { condition: "is no whole number of pages", to: "33554433", bytes: mebibytes(32) + 4096n },
    { condition: "is respelt and grows", to: "98304Ki", bytes: mebibytes(96) },
  ])("follows its sizeLimit that $condition", async ({ to, bytes }) => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    expect(await world.sizeOf()).toBe(mebibytes(64));
    expect(world.pod()?.status?.observedGeneration).toBe(1);
    expect([world.remounts(), world.events]).toEqual([[], []]);
    world.resize(to);
    await world.step();
    expect(await world.sizeOf()).toBe(bytes);
    expect(world.remounts()).toEqual([[pathOf("uid-cache", "hot"), `size=${parseQuantity(to).ceilValue()}`]]);
    expect(world.pod()?.status).toMatchObject({ observedGeneration: 2, conditions: [] });
    expect(told(world.events)).toEqual([
      ["Normal", "ResizeStarted", 'Pod resize started: {"containers":[{"name":"main","resources":{}}],"generation":2}'],
      ["Normal", "ResizeCompleted", 'Pod resize completed: {"containers":[{"name":"main","resources":{}}],"generation":2}'],
    ]);
    const writes = world.cluster.writes.length;
    await world.step();
    expect([world.cluster.writes.length, world.events.length]).toEqual([writes, 2]);
  });

  it("says while it works that it works, with the generation that it works for", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    world.resize("96Mi");
    await world.step();
    expect(world.cluster.writes.filter(({ verb }) => verb === "patch").map(({ body }) => body)).toEqual([
      { metadata: { uid: "uid-cache" }, status: { observedGeneration: 1 } },
      {
        metadata: { uid: "uid-cache" },
        status: {
          observedGeneration: 2,
          conditions: [
            { type: "PodResizeInProgress", status: "True", reason: null, message: null, lastProbeTime: expect.stringMatching(wholeSeconds), lastTransitionTime: expect.stringMatching(wholeSeconds), observedGeneration: 2 },
          ],
        },
      },
      { metadata: { uid: "uid-cache" }, status: { observedGeneration: 2, conditions: [{ $patch: "delete", type: "PodResizeInProgress" }] } },
    ]);
  });

  it("is left alone when the sizeLimit is only spelt otherwise", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    world.resize("65536Ki");
    await world.step();
    expect([world.remounts(), world.events]).toEqual([[], []]);
    expect(world.pod()?.status?.observedGeneration).toBe(2);
  });

  it("stays when it would be below what is used, with mount's words; is tried again with growing pauses; and follows once there is room", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    await world.memory.files.writeFile(`${pathOf("uid-cache", "hot")}/full`, new Uint8Array(40 * 1024 * 1024), 0o644);
    world.resize("32Mi");
    await world.step();
    const path = pathOf("uid-cache", "hot");
    const message =
      "failed to resize volume hot: mount failed: exit status 32\nMounting command: mount\n" +
      `Mounting arguments:  -t tmpfs -o remount,size=33554432 tmpfs ${path}\nOutput: mount: ${path}: mount point not mounted or bad option.\n`;
    expect(world.condition()).toMatchObject({ status: "True", reason: "Error", message, observedGeneration: 2 });
    expect(world.pod()?.status?.observedGeneration).toBe(2);
    expect(await world.sizeOf()).toBe(mebibytes(64));
    await world.step();
    expect(world.remounts()).toHaveLength(1);
    expect(world.resizer.nextDueMs()).toBe(world.memory.clock.nowMs() + 500);
    await world.memory.clock.advance(500);
    await world.step();
    expect(world.remounts()).toHaveLength(2);
    await world.memory.clock.advance(500);
    await world.step();
    expect(world.remounts()).toHaveLength(2);
    expect(world.events.map(({ reason }) => reason)).toEqual(["ResizeStarted", "ResizeError"]);
    expect(world.events.at(-1)?.message).toContain(`"generation":2,"error":${JSON.stringify(message)}}`);
    await world.memory.files.unlink(`${path}/full`);
    await world.memory.clock.advance(500);
    await world.step();
    expect(await world.sizeOf()).toBe(mebibytes(32));
    expect(world.condition()).toBeUndefined();
    expect(world.events.map(({ reason }) => reason)).toEqual(["ResizeStarted", "ResizeError", "ResizeCompleted"]);
    await world.step();
    expect(world.resizer.nextDueMs()).toBeUndefined();
  });

  it("does not wait for the pause of a failure when another size is asked for, and is complete when the old one is", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    await world.memory.files.writeFile(`${pathOf("uid-cache", "hot")}/full`, new Uint8Array(40 * 1024 * 1024), 0o644);
    world.resize("32Mi");
    await world.step();
    world.resize("64Mi");
    await world.step();
    expect(await world.sizeOf()).toBe(mebibytes(64));
    expect(world.condition()).toBeUndefined();
    expect(world.pod()?.status?.observedGeneration).toBe(3);
    expect(world.events.map(({ reason, message }) => [reason, /"generation":\d/u.exec(message)?.[0]])).toEqual([
      ["ResizeStarted", '"generation":2'],
      ["ResizeError", '"generation":2'],
      ["ResizeStarted", '"generation":3'],
      ["ResizeCompleted", '"generation":3'],
    ]);
  });

  it("shrinks before another grows, and the first error keeps the rest as it is", async () => {
    const world = await start();
    world.put([memory("64Mi", "a"), memory("64Mi", "b"), memory("64Mi", "c")]);
    await world.step();
    await world.memory.files.writeFile(`${pathOf("uid-cache", "c")}/full`, new Uint8Array(40 * 1024 * 1024), 0o644);
    world.resize("96Mi", "a");
    world.resize("48Mi", "b");
    world.resize("32Mi", "c");
    await world.step();
    expect(world.remounts().map(([target]) => target)).toEqual([pathOf("uid-cache", "b"), pathOf("uid-cache", "c")]);
    expect([await world.sizeOf("a"), await world.sizeOf("b"), await world.sizeOf("c")]).toEqual([mebibytes(64), mebibytes(48), mebibytes(64)]);
    expect(world.condition()?.message).toContain("failed to resize volume c: ");
    await world.memory.files.unlink(`${pathOf("uid-cache", "c")}/full`);
    await world.memory.clock.advance(1_000);
    await world.step();
    expect([await world.sizeOf("a"), await world.sizeOf("b"), await world.sizeOf("c")]).toEqual([mebibytes(96), mebibytes(48), mebibytes(32)]);
    expect(world.condition()).toBeUndefined();
  });

  it("is that of the pod's limit when mounted, and jumps past it with the first resize", async () => {
    const world = await start();
    world.put([memory("64Mi")], {}, { resources: { limits: { memory: "16Mi" } } });
    await world.step();
    await world.step();
    expect([await world.sizeOf(), world.remounts()]).toEqual([mebibytes(16), []]);
    world.resize("96Mi");
    await world.step();
    expect(await world.sizeOf()).toBe(mebibytes(96));
  });

  it("is the newest sizeLimit when it changes before the volume is mounted, and no remount is needed", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.resizer.step(world.cluster.snapshot());
    world.resize("96Mi");
    await world.resizer.step(world.cluster.snapshot());
    expect(world.condition()).toMatchObject({ status: "True", observedGeneration: 2 });
    await world.step();
    expect([await world.sizeOf(), world.remounts()]).toEqual([mebibytes(96), []]);
    expect(world.condition()).toBeUndefined();
  });

  it("follows when it changed between the mount and its first record", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.node.settle();
    world.resize("96Mi");
    await world.step();
    expect(await world.sizeOf()).toBe(mebibytes(96));
    expect(world.pod()?.status?.observedGeneration).toBe(2);
  });

  it("is an error when somebody took the mount away", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    await world.memory.mounter.unmount(pathOf("uid-cache", "hot"));
    world.resize("96Mi");
    await world.resizer.step(world.cluster.snapshot());
    expect(world.condition()).toMatchObject({ reason: "Error", message: "failed to resize volume hot: volume hot is not yet mounted; deferring resize" });
  });

  it("is the template's in a pod that replaced the one that was resized", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    world.resize("96Mi");
    await world.step();
    world.cluster.remove("pods", "shop", "cache");
    world.put([memory("64Mi")], { uid: "uid-second" });
    await world.step();
    expect(await world.sizeOf("hot", "uid-second")).toBe(mebibytes(64));
    expect(world.remounts()).toHaveLength(1);
    expect(await world.memory.files.readText(`${root}/volume-sizes.json`)).not.toContain("uid-cache");
  });

  it("is not touched in a pod that is being deleted; conditions of one that ended are taken away", async () => {
    const world = await start();
    world.put([memory("64Mi")]);
    await world.step();
    const running = world.pod();
    if (!running) throw new Error("no pod");
    world.resize("96Mi");
    world.cluster.put("pods", { ...running, metadata: { ...running.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await world.resizer.step(world.cluster.snapshot());
    expect(world.remounts()).toEqual([]);
    const stale = { type: "PodResizeInProgress", status: "True", reason: "Error", message: "old" };
    world.cluster.put("pods", { ...running, status: { phase: "Failed", conditions: [stale, { ...stale, type: "PodResizePending" }] } });
    await world.resizer.step(world.cluster.snapshot());
    expect(world.pod()?.status?.conditions).toEqual([]);
    expect(world.events).toEqual([]);
  });

  it("is left as it is when its volume is disk-backed, without limit, or mounted by no container", async () => {
    const world = await start();
    world.put([{ name: "disk", emptyDir: { sizeLimit: "1Gi" } }, { name: "free", emptyDir: { medium: "Memory" } }, memory("64Mi", "idle")], {}, {
      containers: [{ name: "main", volumeMounts: [{ name: "disk", mountPath: "/d" }, { name: "free", mountPath: "/f" }] }],
    });
    await world.step();
    world.resize("96Mi", "idle");
    await world.step();
    await world.step();
    expect(world.remounts()).toEqual([]);
    expect(world.condition()).toBeUndefined();
    expect(world.pod()?.status?.observedGeneration).toBe(2);
  });
});

describe("a process that is killed while it resizes", () => {
  const pointNames = ["resize-after-allocation", "resize-after-status", "resize-before-remount", "resize-after-remount", "resize-after-checkpoint", "resize-after-status"];

  /** Nothing that comes after the point leaves a trace. */
  async function killedAt(index: number) {
    const first = await start({
      point: () => {
        if (first.points.length - began - 1 !== index) return;
        first.cluster.refuse = () => new Error("killed");
        throw new Error("killed");
      },
    });
    let began = Number.POSITIVE_INFINITY;
    first.put([memory("64Mi")]);
    await first.step();
    began = first.points.length;
    first.resize("96Mi");
    await first.step();
    first.cluster.refuse = undefined;
    expect(first.points.slice(began)).toEqual(pointNames.slice(0, index + 1));
    return first;
  }

  it.each(pointNames.map((name, index) => ({ name, index })))("at point $index, $name, is continued to the same end", async ({ index }) => {
    const { memory: host, cluster } = await killedAt(index);
    const second = await start({ memory: host, cluster });
    await second.step();
    expect(await second.sizeOf()).toBe(mebibytes(96));
    expect(second.pod()?.status).toMatchObject({ observedGeneration: 2, conditions: [] });
    expect((await host.mounter.list()).filter(({ type }) => type === "tmpfs")).toHaveLength(1);
    expect(await host.files.readText(`${root}/volume-sizes.json`)).toBe(
      `${JSON.stringify({ version: 1, pods: [{ podUID: "uid-cache", admitted: 2, volumes: [{ name: "hot", allocated: "96Mi", actuated: "96Mi", inDoubt: false }] }] })}\n`,
    );
  });

  it.each(pointNames.map((name, index) => ({ name, index })))("at point $index, $name, gives the old size back when that is asked for meanwhile", async ({ index }) => {
    const first = await killedAt(index);
    first.resize("64Mi");
    const second = await start({ memory: first.memory, cluster: first.cluster });
    await second.step();
    expect(await second.sizeOf()).toBe(mebibytes(64));
    expect(second.pod()?.status).toMatchObject({ observedGeneration: 3, conditions: [] });
  });

  it("reads the sizes from the mounts when its record is lost or damaged", async () => {
    const first = await start();
    first.put([memory("64Mi")]);
    await first.step();
    await first.memory.files.writeFile(`${root}/volume-sizes.json`, '{"version":1,"pods":[{', 0o600);
    first.resize("96Mi");
    const second = await start({ memory: first.memory, cluster: first.cluster });
    await second.step();
    expect(await second.sizeOf()).toBe(mebibytes(96));
    expect(second.pod()?.status?.observedGeneration).toBe(2);
    expect(first.memory.log.entries.filter(({ level }) => level === "error").map(({ message }) => message)).toEqual([
      "the recorded sizes of memory-backed volumes can't be read",
    ]);
  });
});

describe("resizeEphemeralVolume of the volume manager", () => {
  const pod = boundPod("cache", [memory("64Mi"), { name: "host", hostPath: { path: "/srv" } }, { name: "disk", emptyDir: { sizeLimit: "1Gi" } }]);
  it.each([
    { condition: "is not in the pod", volumeName: "none", text: "volume none not found in pod cache" },
    { condition: "is no emptyDir", volumeName: "host", text: "volume host does not support direct resizing" },
    { condition: "is on disk", volumeName: "disk", text: "only memory-backed emptyDir volumes support direct resize" },
    { condition: "is not mounted", volumeName: "hot", text: "volume hot is not yet mounted; deferring resize" },
  ])("refuses a volume that $condition", async ({ volumeName, text }) => {
    const { node } = await start();
    await expect(resizeEphemeralVolume(node.manager, pod, { volumeName, newSize: parseQuantity("96Mi") })).rejects.toThrow(text);
  });

  it("says that there is no plugin", async () => {
    const manager = { findPluginByName: () => Promise.reject(new Error('no volume plugin matched name: kubernetes.io/empty-dir')) };
    const request = resizeEphemeralVolume(manager, pod, { volumeName: "hot", newSize: parseQuantity("96Mi") });
    await expect(request).rejects.toThrow("plugin kubernetes.io/empty-dir not found: no volume plugin matched name: kubernetes.io/empty-dir");
  });
});
