import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { createMemoryHost, type MemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { FakeCluster } from "@/server/node/fake-cluster";
import { boundPod, testNode } from "@/server/node/test-node";
import { VolumeError } from "@/server/volume/errors";
import { newConfigMapPlugin } from "@/server/volume/plugins/configmap";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newHostPathPlugin } from "@/server/volume/plugins/host-path";
import { newLocalVolumePlugin } from "@/server/volume/plugins/local-volume";
import type { VolumePlugin } from "@/server/volume/plugin";

const root = "/var/lib/kubelet";
const pathOf = (pod: string, plugin: string, volume: string) => `${root}/pods/uid-${pod}/volumes/kubernetes.io~${plugin}/${volume}`;

function memoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const plugins: { find?: (spec: never) => Promise<VolumePlugin> } = {};
  const memory = createMemoryHost({
    configMaps: [{ metadata: { name: "web", namespace: "shop" }, data: { motd: "hello" } }],
    nodeAllocatable: { memory: "4Gi" },
    ...options,
    findPluginBySpec: (spec) => {
      if (!plugins.find) throw new VolumeError("no plugins yet");
      return plugins.find(spec as never);
    },
  });
  return Object.assign(memory, { plugins });
}

async function start(memory: MemoryHost, cluster = new FakeCluster()) {
  const plugins = [newEmptyDirPlugin({}), newHostPathPlugin({}), newConfigMapPlugin(), newLocalVolumePlugin()];
  const node = await testNode({ host: memory.host, plugins, cluster });
  (memory as unknown as { plugins: { find: unknown } }).plugins.find = (spec: never) => node.manager.findPluginBySpec(spec);
  return node;
}

/** The mount table without the root's own row. */
const table = async (memory: MemoryHost) => (await memory.mounter.list()).filter((mount) => mount.path !== "/");
const mountsAt = async (memory: MemoryHost, path: string) => (await table(memory)).filter((mount) => mount.path === path);

const cachePod = boundPod("cache", [
  { name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
  { name: "cold", emptyDir: {} },
  { name: "config", configMap: { name: "web", defaultMode: 0o644 } },
  { name: "host", hostPath: { path: "/srv/data", type: "" } },
]);

const bound = (name: string, path: string): { claim: PersistentVolumeClaim; volume: PersistentVolume } => ({
  claim: {
    metadata: { name, namespace: "shop", uid: `uid-${name}` },
    spec: { volumeName: `pv-${name}`, accessModes: ["ReadWriteOnce"] },
    status: { phase: "Bound" },
  },
  volume: {
    metadata: { name: `pv-${name}` },
    spec: { local: { path }, volumeMode: "Filesystem", claimRef: { name, namespace: "shop", uid: `uid-${name}` }, capacity: { storage: "1Gi" } },
  },
});

describe("reconcile", () => {
  it("mounts what a pod wants, once however often it runs", async () => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", cachePod);
    await node.settle();
    await node.settle();
    expect((await mountsAt(memory, pathOf("cache", "empty-dir", "hot"))).map((mount) => mount.type)).toEqual(["tmpfs"]);
    expect((await memory.files.stat(pathOf("cache", "empty-dir", "cold")))?.kind).toBe("directory");
    expect(await memory.files.readText(`${pathOf("cache", "configmap", "config")}/motd`)).toBe("hello");
    expect(node.actual.mounts().map((mount) => [mount.volumeName, mount.certainty]).sort()).toEqual([
      ["cold", "certain"],
      ["config", "certain"],
      ["host", "certain"],
      ["hot", "certain"],
    ]);
    expect(node.events).toEqual([]);
  });

  it("unmounts when the pod goes, and removes its folders", async () => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", cachePod);
    await node.settle();
    node.cluster.remove("pods", "shop", "cache");
    await node.settle();
    expect(node.actual.mounts()).toEqual([]);
    expect(await table(memory)).toEqual([]);
    expect(await memory.files.lstat(`${root}/pods/uid-cache`)).toBeUndefined();
  });

  it.each([
    { name: "has ended", change: { status: { phase: "Succeeded" } } },
    { name: "is being deleted", change: { metadata: { ...cachePod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } } },
  ])("unmounts when the pod $name", async ({ change }) => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", cachePod);
    await node.settle();
    node.cluster.put("pods", { ...cachePod, ...change });
    await node.settle();
    expect(await table(memory)).toEqual([]);
  });

  it("closes a pod's folders to others, whatever its plugins make in them", async () => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", cachePod);
    await node.settle();
    const modes = await Promise.all(["", "/volumes", "/plugins"].map(async (name) => (await memory.files.lstat(`${root}/pods/uid-cache${name}`))?.mode));
    expect(modes).toEqual([0o750, 0o750, 0o750]);
  });

  it("leaves pods of other nodes and volumes that no container mounts alone", async () => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", { ...cachePod, spec: { ...cachePod.spec, nodeName: "node-2" } });
    node.cluster.put("pods", boundPod("idle", [{ name: "unused", emptyDir: { medium: "Memory" } }], { containers: [{ name: "main" }] }));
    await node.settle();
    expect(node.actual.mounts()).toEqual([]);
    expect(await table(memory)).toEqual([]);
  });

  it("mounts a claim's volume for two pods, and frees it pod by pod", async () => {
    const memory = memoryHost({ files: { "/srv/data": { kind: "directory" } } });
    const node = await start(memory);
    const { claim, volume } = bound("data", "/srv/data");
    node.cluster.put("persistentvolumeclaims", claim);
    node.cluster.put("persistentvolumes", volume);
    for (const name of ["a", "b"]) node.cluster.put("pods", boundPod(name, [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]));
    await node.settle();
    expect((await table(memory)).map((mount) => mount.path).sort()).toEqual([
      pathOf("a", "local-volume", "pv-data"),
      pathOf("b", "local-volume", "pv-data"),
    ]);
    node.cluster.remove("pods", "shop", "a");
    await node.settle();
    expect((await table(memory)).map((mount) => mount.path)).toEqual([pathOf("b", "local-volume", "pv-data")]);
    node.cluster.remove("pods", "shop", "b");
    await node.settle();
    expect(await table(memory)).toEqual([]);
    expect(node.actual.allDevices()).toEqual([]);
  });

  it("gives a ReadWriteOncePod volume to one pod, and to the next when that is gone", async () => {
    const memory = memoryHost({ files: { "/srv/data": { kind: "directory" } } });
    const node = await start(memory);
    const { claim, volume } = bound("data", "/srv/data");
    node.cluster.put("persistentvolumeclaims", claim);
    node.cluster.put("persistentvolumes", { ...volume, spec: { ...volume.spec, accessModes: ["ReadWriteOncePod"] } });
    const pod = (name: string) => boundPod(name, [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]);
    node.cluster.put("pods", pod("b"));
    await node.settle();
    node.cluster.put("pods", pod("a"));
    await node.settle();
    expect((await table(memory)).map((mount) => mount.path)).toEqual([pathOf("b", "local-volume", "pv-data")]);
    expect(node.events.map((event) => [event.pod, event.message.split(": ").at(-1)])).toEqual([
      ["a", "volume uses the ReadWriteOncePod access mode and is already in use by another pod"],
    ]);
    node.cluster.remove("pods", "shop", "b");
    await node.settle();
    expect((await table(memory)).map((mount) => mount.path)).toEqual([pathOf("a", "local-volume", "pv-data")]);
  });

  it("keeps a volume mounted whose claim vanished under its pod, and says so", async () => {
    const memory = memoryHost({ files: { "/srv/data": { kind: "directory" } } });
    const node = await start(memory);
    const { claim, volume } = bound("data", "/srv/data");
    node.cluster.put("persistentvolumeclaims", claim);
    node.cluster.put("persistentvolumes", volume);
    node.cluster.put("pods", boundPod("a", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]));
    await node.settle();
    node.cluster.remove("persistentvolumeclaims", "shop", "data");
    await node.settle();
    expect(await table(memory)).toHaveLength(1);
    expect(node.events.map((event) => event.message)).toEqual([
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC shop/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found',
    ]);
  });

  it("writes a changed ConfigMap within a minute, also when the clock was set back", async () => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", cachePod);
    await node.settle();
    memory.kubeClient.replace({ configMaps: [{ metadata: { name: "web", namespace: "shop" }, data: { motd: "changed" } }] });
    await node.settle();
    const file = `${pathOf("cache", "configmap", "config")}/motd`;
    expect(await memory.files.readText(file)).toBe("hello");
    await memory.clock.advance(60_000);
    await node.settle();
    expect(await memory.files.readText(file)).toBe("changed");
    memory.kubeClient.replace({ configMaps: [{ metadata: { name: "web", namespace: "shop" }, data: { motd: "changed again" } }] });
    memory.clock.setBack(3_600_000);
    await memory.clock.advance(60_000);
    await node.settle();
    expect(await memory.files.readText(file)).toBe("changed again");
  });
});

describe("failures", () => {
  it("become one event with the kubelet's text, and pause for longer each time", async () => {
    const memory = memoryHost({ configMaps: [] });
    const node = await start(memory);
    node.cluster.put("pods", boundPod("web", [{ name: "config", configMap: { name: "web", defaultMode: 0o644 } }]));
    await node.settle();
    expect(node.events).toEqual([
      { pod: "web", type: "Warning", reason: "FailedMount", message: 'MountVolume.SetUp failed for volume "config" : configmaps "web" not found' },
    ]);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const due = node.reconciler.operations.nextRetryMs() ?? 0;
      pauses.push(due - memory.clock.nowMs());
      await memory.clock.advance(due - memory.clock.nowMs());
      await node.settle();
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000]);
    expect(node.events).toHaveLength(11);
  });

  it("end when their cause does", async () => {
    const memory = memoryHost({ configMaps: [] });
    const node = await start(memory);
    node.cluster.put("pods", boundPod("web", [{ name: "config", configMap: { name: "web", defaultMode: 0o644 } }]));
    await node.settle();
    memory.kubeClient.replace({ configMaps: [{ metadata: { name: "web", namespace: "shop" }, data: { motd: "there" } }] });
    await memory.clock.advance(500);
    await node.settle();
    expect(node.actual.mounts().map((mount) => mount.certainty)).toEqual(["certain"]);
    expect(node.reconciler.operations.keys()).toEqual([]);
  });

  it("of a volume that no plugin serves are said as the kubelet says them, and again after two minutes", async () => {
    const memory = memoryHost();
    const node = await start(memory);
    node.cluster.put("pods", boundPod("legacy", [{ name: "lost", flexVolume: { driver: "example.com/gone" } }]));
    await node.settle();
    const message =
      'Unable to attach or mount volumes: unmounted volumes=[lost], unattached volumes=[], failed to process volumes=[lost]: failed to get Plugin from volumeSpec for volume "lost" err=no volume plugin matched';
    expect(node.events).toEqual([{ pod: "legacy", type: "Warning", reason: "FailedMount", message }]);
    await memory.clock.advance(123_000);
    await node.settle();
    expect(node.events).toHaveLength(2);
  });

  it("of an unmount leave the volume uncertain and are tried again", async () => {
    let broken = false;
    const memory = memoryHost({ mountFailures: { unmount: () => (broken ? new Error("target is busy") : undefined) } });
    const node = await start(memory);
    node.cluster.put("pods", cachePod);
    await node.settle();
    broken = true;
    node.cluster.remove("pods", "shop", "cache");
    await node.settle();
    expect(node.actual.mounts().map((mount) => [mount.volumeName, mount.certainty])).toEqual([["hot", "uncertain"]]);
    expect(node.reconciler.picture.leftovers).toEqual([]);
    broken = false;
    await memory.clock.advance(500);
    await node.settle();
    expect(await table(memory)).toEqual([]);
    expect(node.events).toEqual([]);
  });
});

describe("after a restart", () => {
  it("finds what is mounted and mounts nothing twice", async () => {
    const memory = memoryHost({ files: { "/srv/data": { kind: "directory" } } });
    const first = await start(memory);
    const { claim, volume } = bound("data", "/srv/data");
    first.cluster.put("persistentvolumeclaims", claim);
    first.cluster.put("persistentvolumes", volume);
    first.cluster.put("pods", cachePod);
    first.cluster.put("pods", boundPod("a", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]));
    await first.settle();
    await memory.files.writeFile(`${pathOf("cache", "empty-dir", "hot")}/kept`, "data", 0o644);
    const before = (await table(memory)).map((mount) => mount.path).sort();

    const second = await start(memory, first.cluster);
    expect(second.actual.mounts().map((mount) => [mount.specName, mount.certainty, mount.reconstructed]).sort()).toEqual([
      ["cold", "uncertain", true],
      ["config", "uncertain", true],
      ["hot", "uncertain", true],
    ]);
    // As in the kubelet, a local directory can't be named from its folder; it is wanted, so it is left to a normal mount.
    await second.settle();
    expect(second.reconciler.picture.unknownFolders).toEqual([]);
    expect((await table(memory)).map((mount) => mount.path).sort()).toEqual(before);
    expect(second.actual.mounts().every((mount) => mount.certainty === "certain" && !mount.reconstructed)).toBe(true);
    expect(await memory.files.readText(`${pathOf("cache", "empty-dir", "hot")}/kept`)).toBe("data");
  });

  it("unmounts what nobody wants any more, even what it can't name", async () => {
    const memory = memoryHost({ files: { "/srv/data/precious": "data" } });
    const first = await start(memory);
    first.cluster.put("pods", cachePod);
    const { claim, volume } = bound("data", "/srv/data");
    first.cluster.put("persistentvolumeclaims", claim);
    first.cluster.put("persistentvolumes", volume);
    first.cluster.put("pods", boundPod("a", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]));
    await first.settle();
    expect((await table(memory)).map((mount) => mount.path).sort()).toEqual([pathOf("a", "local-volume", "pv-data"), pathOf("cache", "empty-dir", "hot")]);
    first.cluster.remove("pods", "shop", "cache");
    first.cluster.remove("pods", "shop", "a");
    const second = await start(memory, first.cluster);
    await second.settle();
    expect(await table(memory)).toEqual([]);
    expect(await memory.files.lstat(`${root}/pods/uid-cache`)).toBeUndefined();
    expect(await memory.files.lstat(`${root}/pods/uid-a`)).toBeUndefined();
    expect(await memory.files.readText("/srv/data/precious")).toBe("data");
  });

  it("never deletes what it can't name: content of an unknown volume stays, and is reported", async () => {
    const unknown = `${root}/pods/uid-gone/volumes/example.com~other/data`;
    const memory = memoryHost({ files: { [`${unknown}/precious`]: "data" } });
    const node = await start(memory);
    await node.settle();
    expect(await memory.files.readText(`${unknown}/precious`)).toBe("data");
    expect(node.reconciler.picture.unknownFolders.map((folder) => folder.problem)).toEqual(["no volume plugin matched name: example.com/other"]);
    expect(node.reconciler.picture.leftovers).toMatchObject([{ podUID: "uid-gone", why: expect.stringContaining("failed to rmdir() volume") as string }]);
  });

  it("warns of a folder that stays once, and again when the reason is another", async () => {
    const volumes = `${root}/pods/uid-gone/volumes/example.com~other`;
    const memory = memoryHost({ files: { [`${volumes}/data/precious`]: "data" } });
    const node = await start(memory);
    const warnings = () => memory.log.entries.filter((entry) => entry.message.startsWith("Orphaned pod found")).map((entry) => entry.fields["why"]);
    await node.settle();
    await node.settle();
    expect(warnings()).toHaveLength(1);
    await memory.files.rename(`${volumes}/data`, `${volumes}/more`);
    await node.settle();
    await node.settle();
    expect(warnings()).toEqual([expect.stringContaining(`${volumes}/data`), expect.stringContaining(`${volumes}/more`)]);
  });

  it("removes the empty folders of a pod that is gone", async () => {
    const memory = memoryHost({
      files: {
        [`${root}/pods/uid-gone/volumes/kubernetes.io~nfs`]: { kind: "directory" },
        [`${root}/pods/uid-gone/plugins/kubernetes.io~empty-dir/x/ready`]: "",
      },
    });
    const node = await start(memory);
    await node.settle();
    expect(await memory.files.lstat(`${root}/pods/uid-gone`)).toBeUndefined();
  });

  it("unmounts a global mount that a process left before any pod had it, and no other", async () => {
    const memory = memoryHost();
    const folder = `${root}/plugins/kubernetes.io/local-volume/mounts`;
    for (const name of ["stray", "pv-data"]) {
      await memory.files.mkdirAll(`${folder}/${name}`, 0o755);
      await memory.mounter.mount({ source: "tmpfs", target: `${folder}/${name}`, fsType: "tmpfs", options: [] });
    }
    const cluster = new FakeCluster();
    const { claim, volume } = bound("data", "/srv/missing");
    cluster.put("persistentvolumeclaims", claim);
    cluster.put("persistentvolumes", volume);
    cluster.put("pods", boundPod("a", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]));
    const node = await start(memory, cluster);
    await node.settle();
    expect((await table(memory)).map((mount) => mount.path)).toEqual([`${folder}/pv-data`]);
  });

  it("removes empty folders of volumes that are gone, and nothing that holds anything", async () => {
    const plugins = `${root}/plugins`;
    const memory = memoryHost({
      files: {
        [`${plugins}/kubernetes.io~local-volume/volumeDevices/pv-gone`]: { kind: "directory" },
        [`${plugins}/kubernetes.io/flexvolume/voldeck.dev/disk/mounts/gone`]: { kind: "directory" },
        [`${plugins}/kubernetes.io/local-volume/mounts/pv-full/precious`]: "data",
        [`${plugins}/kubernetes.io/local-volume/other`]: { kind: "directory" },
      },
    });
    const node = await start(memory);
    await node.settle();
    const left = ["kubernetes.io~local-volume/volumeDevices/pv-gone", "kubernetes.io/flexvolume/voldeck.dev/disk/mounts/gone", "kubernetes.io/local-volume/mounts/pv-full", "kubernetes.io/local-volume/other"];
    const found = await Promise.all(left.map(async (path) => (await memory.files.lstat(`${plugins}/${path}`)) !== undefined));
    expect(found).toEqual([false, false, true, true]);
  });
});
