import { afterEach, describe, expect, it } from "vitest";
import { createMemoryHost, type MemoryHost } from "@/server/hosts/memory";
import { FakeCluster } from "@/server/node/fake-cluster";
import { startNode, type RunningNode } from "@/server/node/node";
import { volumesMountedCondition } from "@/server/node/pod-status";
import { Recorder } from "@/server/node/recorder";
import { boundPod } from "@/server/node/test-node";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newHostPathPlugin } from "@/server/volume/plugins/host-path";
import { VolumePluginManager } from "@/server/volume/plugin-manager";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const flexVolumeDir = "/var/lib/flexvolume";
const capacity = { memory: "4Gi", cpu: "2" };
const facts = async () => ({ labels: { zone: "a" }, capacity, allocatable: capacity, nodeInfo: { kubeletVersion: "v1.37.2" } });

async function start(memory: MemoryHost = createMemoryHost({ nodeAllocatable: capacity }), cluster = new FakeCluster()) {
  const { host, ports } = memory;
  const manager = new VolumePluginManager({ clock: ports.clock, log: ports.log });
  await manager.initPlugins([newEmptyDirPlugin({}), newHostPathPlugin({})], undefined, host);
  const recorder = new Recorder({ client: cluster.client, clock: ports.clock, random: ports.random, log: ports.log, nodeName: "node-1" });
  const node = startNode({ host, manager, cluster, recorder, root: "/var/lib/kubelet", mounter: "simulated", facts, flexVolumeDir, controllers: () => [] });
  stops.push(() => node.stop());
  return { memory, cluster, node, recorder };
}

type World = Awaited<ReturnType<typeof start>>;

/** Lets the node go on until the condition holds: its clock moves, and what it waits for happens. */
async function until({ memory }: World, condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !condition(); turn += 1) await memory.clock.advance(100);
  expect(condition()).toBe(true);
}

const mountedCondition = (cluster: FakeCluster, name: string) =>
  cluster.get("pods", "shop", name)?.status?.conditions?.find((condition) => condition.type === volumesMountedCondition);

const volumeOf = (node: RunningNode, name: string) => node.report()?.volumes.find((volume) => volume.volumeName === name);

describe("a node", () => {
  it("registers itself, binds a pod that fits, mounts its volumes and says so in the pod", async () => {
    const world = await start();
    const pod = boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }]);
    world.cluster.put("pods", { ...pod, spec: { ...pod.spec, nodeName: undefined, nodeSelector: { zone: "a" } } });
    await until(world, () => mountedCondition(world.cluster, "cache")?.status === "True");
    expect(world.cluster.get("nodes", undefined, "node-1")).toMatchObject({ metadata: { labels: { zone: "a", "kubernetes.io/hostname": "node-1" } }, status: { allocatable: capacity, declaredFeatures: ["InPlacePodVerticalScalingMemoryBackedVolumes"] } });
    expect(world.cluster.get("pods", "shop", "cache")).toMatchObject({ spec: { nodeName: "node-1" } });
    expect(world.cluster.get("pods", "shop", "cache")?.status?.containerStatuses).toBeUndefined();
    expect(mountedCondition(world.cluster, "cache")?.message).toBe("mounted: hot; this node runs no containers");
    expect(world.cluster.events().map((event) => [event.reason, event.message])).toEqual([["Scheduled", "Successfully assigned shop/cache to node-1"]]);
    await until(world, () => volumeOf(world.node, "hot")?.state === "mounted");
    expect(volumeOf(world.node, "hot")).toMatchObject({
      podNamespace: "shop",
      podName: "cache",
      pluginName: "kubernetes.io/empty-dir",
      wanted: true,
      found: true,
      mounts: [{ fsType: "tmpfs", target: "/var/lib/kubelet/pods/uid-cache/volumes/kubernetes.io~empty-dir/hot" }],
      capacityBytes: String(64 * 1024 * 1024),
    });
  });

  it.each([
    { name: "its selector does not fit", spec: { nodeSelector: { zone: "b" } }, text: '0/1 nodes are available: node "node-1" does not have the label zone=b of spec.nodeSelector' },
    { name: "its claim is missing", spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "gone" } }] }, text: '0/1 nodes are available: persistentvolumeclaim "gone" not found' },
  ])("lets a pod wait when $name, and says why once", async ({ spec, text }) => {
    const world = await start();
    world.cluster.put("pods", boundPod("web", [], { nodeName: undefined, ...spec }));
    const scheduled = () => world.cluster.get("pods", "shop", "web")?.status?.conditions?.find((condition) => condition.type === "PodScheduled");
    await until(world, () => scheduled()?.message === text);
    await world.memory.clock.advance(60_000);
    expect(scheduled()).toMatchObject({ status: "False", reason: "Unschedulable" });
    expect(world.cluster.events().map((event) => [event.reason, event.message, event.count])).toEqual([["FailedScheduling", text, 1]]);
  });

  it("says in the pod which volume is missing and why", async () => {
    const world = await start();
    world.cluster.put("pods", boundPod("web", [{ name: "host", hostPath: { path: "/srv/none", type: "Directory" } }]));
    await until(world, () => mountedCondition(world.cluster, "web")?.message?.includes("hostPath type check failed") ?? false);
    expect(mountedCondition(world.cluster, "web")).toMatchObject({ status: "False", reason: "VolumesNotMounted" });
    await until(world, () => world.cluster.events().some((event) => event.reason === "FailedMount" && (event.count ?? 0) > 1));
    expect(new Set(world.cluster.events().map((event) => event.message))).toEqual(new Set(['MountVolume.SetUp failed for volume "host" : hostPath type check failed, /srv/none is not a directory, unable to determine its type: path "/srv/none" does not exist']));
    await until(world, () => volumeOf(world.node, "host")?.state === "failed");
    expect(volumeOf(world.node, "host")).toMatchObject({ operation: { name: "MountVolume" } });
  });

  it("finishes the deletion of a pod when its volumes are gone", async () => {
    const world = await start();
    const pod = boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory" } }]);
    world.cluster.put("pods", pod);
    await until(world, () => mountedCondition(world.cluster, "cache")?.status === "True");
    world.cluster.put("pods", { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await until(world, () => world.cluster.get("pods", "shop", "cache") === undefined);
    const last = world.cluster.writes.at(-1);
    expect(last).toMatchObject({ verb: "delete", path: "/api/v1/namespaces/shop/pods/cache", body: { gracePeriodSeconds: 0, preconditions: { uid: "uid-cache" } } });
    expect((await world.memory.mounter.list()).map((mount) => mount.path)).toEqual(["/"]);
  });

  it("reads its mounts anew when somebody needs to know what is used now", async () => {
    const world = await start();
    world.cluster.put("pods", boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }]));
    await until(world, () => volumeOf(world.node, "hot")?.state === "mounted");
    await world.memory.clock.advance(3_000);
    const write = (bytes: number) => world.memory.files.writeFile("/var/lib/kubelet/pods/uid-cache/volumes/kubernetes.io~empty-dir/hot/file", new Uint8Array(bytes), 0o600);
    const used = async () => (await world.node.freshReport())?.volumes.find((volume) => volume.volumeName === "hot")?.usedBytes;
    await write(8_192);
    expect(await used()).toBe("8192");
    await write(16_384);
    expect(await used()).toBe("8192");
    await world.memory.clock.advance(1_001);
    expect(await used()).toBe("16384");
  });

  it("goes on reporting when the clock was set back", async () => {
    const world = await start();
    world.cluster.put("pods", boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }]));
    await until(world, () => volumeOf(world.node, "hot")?.state === "mounted");
    const used = () => volumeOf(world.node, "hot")?.usedBytes;
    const write = (bytes: number) => world.memory.files.writeFile("/var/lib/kubelet/pods/uid-cache/volumes/kubernetes.io~empty-dir/hot/file", new Uint8Array(bytes), 0o600);
    await write(8_192);
    world.memory.clock.setBack(3_600_000);
    expect((await world.node.freshReport())?.volumes.find((volume) => volume.volumeName === "hot")?.usedBytes).toBe("8192");
    await write(16_384);
    await until(world, () => used() === "16384");
  });

  it("lists the drivers and sockets that lie on its disk, and what it could not list", async () => {
    const memory = createMemoryHost({ nodeAllocatable: capacity, files: { [`${flexVolumeDir}/voldeck.dev~broken/other`]: "" } });
    await memory.files.mkdirAll(`${flexVolumeDir}/voldeck.dev~share`, 0o755);
    await memory.files.writeFile(`${flexVolumeDir}/voldeck.dev~share/share`, new Uint8Array(), 0o755);
    await memory.files.mkdirAll("/var/lib/kubelet", 0o755);
    await memory.files.writeFile("/var/lib/kubelet/plugins_registry", new Uint8Array(), 0o600);
    const world = await start(memory);
    await until(world, () => world.node.report() !== undefined);
    expect(world.node.report()).toMatchObject({
      flexDrivers: [
        { name: "voldeck.dev/broken", path: `${flexVolumeDir}/voldeck.dev~broken/broken`, problem: "the driver's executable is missing" },
        { name: "voldeck.dev/share", path: `${flexVolumeDir}/voldeck.dev~share/share` },
      ],
      pluginSockets: [],
      unread: [{ path: "/var/lib/kubelet/plugins_registry", why: expect.stringContaining("not a directory") }],
    });
  });

  it("says in the pod and in the report that a mount is gone", async () => {
    const world = await start();
    world.cluster.put("pods", boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }]));
    await until(world, () => mountedCondition(world.cluster, "cache")?.status === "True");
    const path = "/var/lib/kubelet/pods/uid-cache/volumes/kubernetes.io~empty-dir/hot";
    await world.memory.mounter.unmount(path);
    await until(world, () => mountedCondition(world.cluster, "cache")?.status === "False");
    expect(mountedCondition(world.cluster, "cache")?.message).toBe(`not mounted: hot: nothing is mounted at ${path} any more`);
    expect(volumeOf(world.node, "hot")).toMatchObject({ state: "lost", found: true, mounts: [] });
    expect(volumeOf(world.node, "hot")).not.toHaveProperty("capacityBytes");
  });

  it("leaves its mounts when it stops", async () => {
    const world = await start();
    world.cluster.put("pods", boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory" } }]));
    await until(world, () => mountedCondition(world.cluster, "cache")?.status === "True");
    await world.node.stop();
    expect((await world.memory.mounter.list()).map((mount) => mount.type)).toContain("tmpfs");
  });

  it("touches nothing as long as the pods were never read", async () => {
    const memory = createMemoryHost({ files: { "/var/lib/kubelet/pods/uid-x/volumes/kubernetes.io~empty-dir/data/precious": "data" } });
    const cluster = new FakeCluster();
    cluster.freshness = () => ({ kinds: [{ kind: "pods" as const, state: "live" as const, lastHeardMs: undefined as unknown as number, sinceMs: 0, objects: 0 }] });
    const world = await start(memory, cluster);
    await memory.clock.advance(120_000);
    expect(await memory.files.readText("/var/lib/kubelet/pods/uid-x/volumes/kubernetes.io~empty-dir/data/precious")).toBe("data");
    expect(world.node.report()).toBeUndefined();
  });
});
