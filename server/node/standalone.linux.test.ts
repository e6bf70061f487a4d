/** On this machine's own mounts and loop devices; left out where it is not root or can't make them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { expandControllerHost } from "@/server/hosts/controller-hosts";
import { KubeletHost } from "@/server/hosts/kubelet-host";
import { createLinuxHost, type LinuxHost } from "@/server/hosts/linux";
import { kubeClientOf } from "@/server/node/client";
import { FakeCluster } from "@/server/node/fake-cluster";
import type { RunningNode } from "@/server/node/node";
import { Recorder } from "@/server/node/recorder";
import { pluginEventRecorder, startStandaloneNode } from "@/server/node/standalone";
import { boundPod, nodeName } from "@/server/node/test-node";
import { newControllerPlugins, newKubeletPlugins } from "@/server/volume/plugins";
import { VolumePluginManager } from "@/server/volume/plugin-manager";

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const possible = process.getuid?.() === 0 && succeeds("losetup", "-f") && succeeds("sh", "-c", "command -v mkfs.xfs");

const mebibytes = (count: number) => count * 1024 * 1024;
const capacity = { memory: "4Gi", cpu: "2" };
const facts = async () => ({ labels: {}, capacity, allocatable: capacity, nodeInfo: {} });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startOn(linux: LinuxHost, cluster: FakeCluster): Promise<RunningNode> {
  const manager = new VolumePluginManager({ clock: linux.ports.clock, log: linux.ports.log });
  const { client } = cluster;
  const recorder = new Recorder({ client, clock: linux.ports.clock, random: linux.ports.random, log: linux.ports.log, nodeName });
  const node = { getNode: async () => ({ metadata: { name: nodeName, labels: { "kubernetes.io/hostname": nodeName } }, status: { allocatable: capacity } }) };
  const kubeClient = kubeClientOf(client);
  const host = new KubeletHost({
    rootDir: linux.root,
    nodeName,
    ports: linux.ports,
    mounter: linux.mounter,
    hostUtils: linux.hostUtils,
    node: { ...node, getNodeAnyWay: node.getNode },
    findPluginBySpec: (spec) => manager.findPluginBySpec(spec),
    eventRecorder: pluginEventRecorder(recorder),
    api: {
      kubeClient,
      getSecret: (namespace, name) => kubeClient.getSecret(namespace, name),
      getConfigMap: (namespace, name) => kubeClient.getConfigMap(namespace, name),
      getServiceAccountToken: () => Promise.reject(new Error("no tokens")),
      deleteServiceAccountToken: () => undefined,
    },
  });
  await manager.initPlugins(newKubeletPlugins(), undefined, host);
  const expandManager = new VolumePluginManager({ clock: linux.ports.clock, log: linux.ports.log });
  await expandManager.initPlugins(newControllerPlugins("expand"), undefined, expandControllerHost({ ports: linux.ports, kubeClient }));
  return startStandaloneNode({ host, manager, expandManager, cluster, recorder, root: linux.root, flexVolumeDir: `${linux.root}/flexvolume`, mounter: "root", facts, loop: linux.loop });
}

/** Whatever a failed test left: mounts, loop devices, files. */
async function removeAll(linux: LinuxHost): Promise<void> {
  const below = (await linux.mounter.list()).filter((mount) => mount.path.startsWith(`${linux.root}/`));
  for (const mount of below.reverse()) await linux.mounter.unmount(mount.path);
  for (const { device } of await linux.loop.list()) await linux.loop.detach(device);
  for (const { name } of await linux.ports.files.readDir(linux.root)) await linux.ports.files.removeAll(join(linux.root, name));
  await linux.close();
  rmdirSync(linux.root);
}

/** Resolves when the condition holds after a write to the API or a report. */
function until(world: { cluster: FakeCluster; node: RunningNode }, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return;
      stops.forEach((stop) => stop());
      resolve();
    };
    const stops = [world.cluster.onChange(check), world.node.onReport(check)];
    check();
  });
}

describe.skipIf(!possible)("a node on Linux", () => {
  it("provisions, mounts, finds again, grows, unmounts and removes a loop disk", { timeout: 60_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), "voldeck-node-"));
    const linux = await createLinuxHost({ root, log: silent });
    cleanups.push(() => removeAll(linux));
    const cluster = new FakeCluster();
    let node = await startOn(linux, cluster);
    cleanups.push(() => node.stop());
    cluster.put("storageclasses", { metadata: { name: "fast" }, provisioner: "voldeck.dev/loop", parameters: { fstype: "xfs" }, allowVolumeExpansion: true, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
    const claim = (storage: string) => ({
      metadata: { name: "data", namespace: "shop" },
      spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem", resources: { requests: { storage } } },
    });
    cluster.put("persistentvolumeclaims", claim("320Mi"));
    const pod = boundPod("web", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]);
    cluster.put("pods", { ...pod, spec: { ...pod.spec, nodeName: undefined } });

    const reported = () => node.report()?.volumes.find((volume) => volume.volumeName === "data");
    await until({ cluster, node }, () => reported()?.state === "mounted");
    const path = `${root}/pods/uid-web/volumes/kubernetes.io~local-volume/pvc-uid-data`;
    expect(reported()).toMatchObject({ path, pluginName: "kubernetes.io/local-volume", deviceMountPath: `${root}/plugins/kubernetes.io/local-volume/mounts/pvc-uid-data` });
    expect(reported()?.mounts.map((mount) => mount.fsType)).toEqual(["xfs", "xfs"]);
    expect(statfsSync(path).type).toBe(0x58465342);
    const sizeOf = () => statfsSync(path).blocks * statfsSync(path).bsize;
    expect(sizeOf()).toBeLessThan(mebibytes(320));

    await node.stop();
    node = await startOn(linux, cluster);
    await until({ cluster, node }, () => reported()?.state === "mounted");
    expect((await linux.mounter.list()).filter((mount) => mount.path === path)).toHaveLength(1);

    const bound = cluster.get("persistentvolumeclaims", "shop", "data");
    if (!bound) throw new Error("the claim is gone");
    expect(bound.status).toMatchObject({ phase: "Bound", capacity: { storage: "320Mi" } });
    cluster.put("persistentvolumeclaims", { ...bound, spec: { ...bound.spec, resources: { requests: { storage: "400Mi" } } } });
    await until({ cluster, node }, () => cluster.get("persistentvolumeclaims", "shop", "data")?.status?.capacity?.["storage"] === "400Mi");
    expect(sizeOf()).toBeGreaterThan(mebibytes(320));
    expect(cluster.get("persistentvolumeclaims", "shop", "data")?.status?.allocatedResourceStatuses).toBeUndefined();
    const saysSuccess = () => cluster.events().some((event) => event.reason === "FileSystemResizeSuccessful" && event.involvedObject.kind === "PersistentVolumeClaim");
    await until({ cluster, node }, saysSuccess);
    expect(cluster.events().map((event) => event.reason)).toEqual(
      expect.arrayContaining(["Provisioning", "ProvisioningSucceeded", "Scheduled", "ExternalExpanding", "Resizing", "FileSystemResizeRequired", "FileSystemResizeSuccessful"]),
    );

    cluster.remove("pods", "shop", "web");
    cluster.remove("persistentvolumeclaims", "shop", "data");
    await until({ cluster, node }, () => cluster.get("persistentvolumes", undefined, "pvc-uid-data") === undefined);
    expect((await linux.mounter.list()).filter((mount) => mount.path.startsWith(root))).toEqual([]);
    expect(await linux.loop.list()).toEqual([]);
    expect(await linux.ports.files.readDir(join(root, "disks"))).toEqual([]);
  });

  it("maps a raw block volume, finds it again, grows it and takes it away", { timeout: 60_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), "voldeck-node-"));
    const linux = await createLinuxHost({ root, log: silent });
    cleanups.push(() => removeAll(linux));
    const cluster = new FakeCluster();
    let node = await startOn(linux, cluster);
    cleanups.push(() => node.stop());
    cluster.put("storageclasses", { metadata: { name: "fast" }, provisioner: "voldeck.dev/loop", allowVolumeExpansion: true, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
    cluster.put("persistentvolumeclaims", {
      metadata: { name: "raw", namespace: "shop" },
      spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"], volumeMode: "Block", resources: { requests: { storage: "16Mi" } } },
    });
    const pod = boundPod("web", [{ name: "raw", persistentVolumeClaim: { claimName: "raw" } }], {
      containers: [{ name: "main", volumeDevices: [{ name: "raw", devicePath: "/dev/raw" }] }],
    });
    cluster.put("pods", pod);
    const reported = () => node.report()?.volumes.find((volume) => volume.volumeName === "raw");
    await until({ cluster, node }, () => reported()?.state === "mounted");
    const link = `${root}/pods/uid-web/volumeDevices/kubernetes.io~local-volume/pvc-uid-raw`;
    expect(reported()).toMatchObject({ mode: "Block", path: link });
    expect((await linux.ports.files.lstat(link))?.kind).toBe("symlink");
    const bound = `${root}/plugins/kubernetes.io~local-volume/volumeDevices/pvc-uid-raw/uid-web`;
    const binds = async () => (await linux.mounter.list()).filter((mount) => mount.path === bound);
    expect(await binds()).toHaveLength(1);
    const [device = ""] = await linux.loop.find(`${root}/disks/pvc-uid-raw.img`);
    const sizeOf = () => Number(spawnSync("blockdev", ["--getsize64", device]).stdout.toString());
    expect(sizeOf()).toBe(mebibytes(16));

    await linux.mounter.unmount(bound);
    node.wake();
    await until({ cluster, node }, () => reported()?.state === "lost");
    expect(reported()).toMatchObject({ problem: `nothing is mounted at ${bound} any more`, setUpAgain: "for a new pod" });
    expect(await binds()).toHaveLength(0);

    await node.stop();
    node = await startOn(linux, cluster);
    await until({ cluster, node }, () => reported()?.state === "mounted");
    expect(await binds()).toHaveLength(1);

    const claim = cluster.get("persistentvolumeclaims", "shop", "raw");
    if (!claim) throw new Error("the claim is gone");
    cluster.put("persistentvolumeclaims", { ...claim, spec: { ...claim.spec, resources: { requests: { storage: "24Mi" } } } });
    await until({ cluster, node }, () => cluster.get("persistentvolumeclaims", "shop", "raw")?.status?.capacity?.["storage"] === "24Mi");
    expect(sizeOf()).toBe(mebibytes(24));

    cluster.remove("pods", "shop", "web");
    cluster.remove("persistentvolumeclaims", "shop", "raw");
    await until({ cluster, node }, () => cluster.get("persistentvolumes", undefined, "pvc-uid-raw") === undefined);
    expect((await linux.mounter.list()).filter((mount) => mount.path.startsWith(root))).toEqual([]);
    expect(await linux.loop.list()).toEqual([]);
  });

  it("gives a memory volume its new size, tells the end in the pod, and keeps the old size below what is used", { timeout: 30_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), "voldeck-node-"));
    const linux = await createLinuxHost({ root, log: silent });
    cleanups.push(() => removeAll(linux));
    const cluster = new FakeCluster();
    let node = await startOn(linux, cluster);
    cleanups.push(() => node.stop());
    const asked = (sizeLimit: string, generation: number) => {
      const pod = boundPod("cache", [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit } }]);
      const status = cluster.get("pods", "shop", "cache")?.status;
      cluster.put("pods", { ...pod, metadata: { ...pod.metadata, generation }, ...(status ? { status } : {}) });
    };
    const path = `${root}/pods/uid-cache/volumes/kubernetes.io~empty-dir/hot`;
    const status = () => cluster.get("pods", "shop", "cache")?.status;
    const progress = () => status()?.conditions?.find((condition) => condition.type === "PodResizeInProgress");
    const isAt = (generation: number) => status()?.observedGeneration === generation && progress() === undefined;
    const reported = () => node.report()?.volumes.find((volume) => volume.volumeName === "hot");
    const sizeOf = async () => [
      (await linux.mounter.mountInfo()).filter((mount) => mount.mountPoint === path).map((mount) => mount.superOptions.find((option) => option.startsWith("size="))),
      statfsSync(path).blocks * statfsSync(path).bsize,
    ];

    asked("64Mi", 1);
    await until({ cluster, node }, () => reported()?.state === "mounted" && isAt(1));
    expect(await sizeOf()).toEqual([["size=65536k"], mebibytes(64)]);

    asked("96Mi", 2);
    await until({ cluster, node }, () => isAt(2) && reported()?.capacityBytes === String(mebibytes(96)));
    expect(await sizeOf()).toEqual([["size=98304k"], mebibytes(96)]);

    await linux.ports.files.writeFile(`${path}/full`, new Uint8Array(mebibytes(40)), 0o600);
    asked("32Mi", 3);
    await until({ cluster, node }, () => progress()?.reason === "Error");
    expect(progress()?.message).toContain(`failed to resize volume hot: mount failed: exit status 32\nMounting command: mount\nMounting arguments:  -t tmpfs -o remount,size=33554432 tmpfs ${path}\nOutput: mount: ${path}: `);
    expect(await sizeOf()).toEqual([["size=98304k"], mebibytes(96)]);

    await node.stop();
    await linux.ports.files.unlink(`${path}/full`);
    node = await startOn(linux, cluster);
    await until({ cluster, node }, () => isAt(3));
    expect(await sizeOf()).toEqual([["size=32768k"], mebibytes(32)]);
    cluster.remove("pods", "shop", "cache");
    await until({ cluster, node }, () => node.report()?.volumes.length === 0);
  });
});
