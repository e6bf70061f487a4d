import { describe, expect, it } from "vitest";
import type { PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { createMemoryHost } from "@/server/hosts/memory";
import { FakeCluster } from "@/server/node/fake-cluster";
import { LoopDisks, type LoopDisksOptions, type LoopPort } from "@/server/node/loop-disks";
import type { NodeEvent } from "@/server/node/recorder";

const gibibyte = 1024n * 1024n * 1024n;
const storageClass: StorageClass = { metadata: { name: "fast" }, provisioner: "voldeck.dev/loop", parameters: { fstype: "ext4" }, reclaimPolicy: "Delete" };
const claim = (storage: string, extra: Partial<PersistentVolumeClaim["spec"]> = {}): PersistentVolumeClaim => ({
  metadata: { name: "data", namespace: "shop", uid: "u1" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...extra },
});

function start(options: Partial<LoopDisksOptions> & { readonly freeBytes?: bigint } = {}) {
  const sizes = new Map<string, bigint>();
  const memory = createMemoryHost({
    programs: {
      truncate: ({ args }) => {
        const size = BigInt(args[1]?.slice("--size=".length) ?? "0");
        sizes.set(args[3] ?? "", size);
        return "";
      },
    },
  });
  const { files, exec, clock } = memory;
  const lstat = files.lstat.bind(files);
  files.lstat = async (path) => {
    const stat = await lstat(path);
    return stat && { ...stat, sizeBytes: sizes.get(path) ?? stat.sizeBytes };
  };
  const statfs = files.statfs.bind(files);
  files.statfs = async (path) => ({ ...(await statfs(path)), availableBytes: options.freeBytes ?? 100n * gibibyte });
  const devices = new Map<string, string>();
  const calls: string[] = [];
  const loop: LoopPort = {
    attach: async (file) => {
      const device = devices.get(file) ?? `/dev/loop${devices.size + 7}`;
      devices.set(file, device);
      calls.push(`attach ${device}`);
      return device;
    },
    refreshSize: async (device) => void calls.push(`refresh ${device}`),
    detach: async (device) => {
      calls.push(`detach ${device}`);
      devices.forEach((known, file) => known === device && devices.delete(file));
    },
    find: async (file) => [devices.get(file) ?? []].flat(),
  };
  const cluster = new FakeCluster();
  const events: NodeEvent[] = [];
  const newDisks = () =>
    new LoopDisks({
      folder: "/var/lib/kubelet/disks",
      nodeName: "node-1",
      client: cluster.client,
      recorder: { record: (event) => events.push(event) },
      files,
      exec,
      clock,
      loop,
      isInUse: () => false,
      point: () => undefined,
      ...options,
    });
  const disks = newDisks();
  const bind = (storage: string, capacity: string) =>
    cluster.put("persistentvolumeclaims", { ...claim(storage), spec: { ...claim(storage).spec, volumeName: "pvc-u1" }, status: { phase: "Bound", capacity: { storage: capacity } } });
  const said = () => events.map(({ reason, message }) => `${reason}: ${message}`);
  return { memory, files, cluster, disks, newDisks, bind, said, calls, devices, sizes };
}

const file = "/var/lib/kubelet/disks/pvc-u1.img";
const link = "/var/lib/kubelet/disks/pvc-u1";

describe("provisioning", () => {
  it("makes a sparse file, a device, a link to it and the volume", async () => {
    const world = start();
    await world.disks.provision(claim("2Gi"), storageClass);
    expect(world.sizes.get(file)).toBe(2n * gibibyte);
    expect(await world.files.readLink(link)).toBe("/dev/loop7");
    expect(world.cluster.get("persistentvolumes", undefined, "pvc-u1")).toMatchObject({
      metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "voldeck.dev/loop" } },
      spec: {
        capacity: { storage: "2Gi" },
        claimRef: { namespace: "shop", name: "data", uid: "u1" },
        persistentVolumeReclaimPolicy: "Delete",
        storageClassName: "fast",
        local: { path: link, fsType: "ext4" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["node-1"] }] }] } },
      },
    });
    expect(world.said()).toEqual(['Provisioning: External provisioner is provisioning volume for claim "shop/data"', "ProvisioningSucceeded: Successfully provisioned volume pvc-u1"]);
  });

  it("goes on where an earlier try ended, and makes nothing smaller", async () => {
    const world = start();
    await world.disks.provision(claim("2Gi"), storageClass);
    await world.newDisks().provision(claim("1Gi"), storageClass);
    expect(world.sizes.get(file)).toBe(2n * gibibyte);
    expect(world.devices.size).toBe(1);
  });

  it.each([
    { name: "without loop devices", options: { loop: { missing: "a loop device needs root" } }, storage: "1Gi", fsType: "xfs", text: "a loop device needs root" },
    { name: "of more than there is", options: { freeBytes: gibibyte }, storage: "2Gi", fsType: "xfs", text: "2147483648 bytes more are asked for, 1073741824 are free below /var/lib/kubelet/disks" },
    { name: "of less than XFS needs", options: {}, storage: "100Mi", fsType: "xfs", text: "an XFS file system needs at least 314572800 bytes, 100Mi were asked for" },
  ])("$name is refused, and leaves nothing", async ({ options, storage, fsType, text }) => {
    const world = start(options);
    await expect(world.disks.provision(claim(storage), { ...storageClass, parameters: { fstype: fsType } })).rejects.toThrow(text);
    expect(await world.files.lstat(file)).toBeUndefined();
    expect(world.cluster.snapshot().persistentVolumes.size).toBe(0);
  });
});

describe("growing", () => {
  it("grows file, device and volume in this order, and hands over to the node", async () => {
    const world = start();
    await world.disks.provision(claim("1Gi"), storageClass);
    world.bind("3Gi", "1Gi");
    await world.disks.step(world.cluster.snapshot());
    expect(world.sizes.get(file)).toBe(3n * gibibyte);
    expect(world.calls).toContain("refresh /dev/loop7");
    expect(world.cluster.get("persistentvolumes", undefined, "pvc-u1")?.spec.capacity).toEqual({ storage: "3Gi" });
    expect(world.cluster.get("persistentvolumeclaims", "shop", "data")).toMatchObject({
      metadata: { annotations: { "volume.kubernetes.io/storage-resizer": "voldeck.dev/loop" } },
      status: { capacity: { storage: "1Gi" }, allocatedResources: { storage: "3Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } },
    });
    expect(world.said().slice(2)).toEqual(["Resizing: External resizer is resizing volume pvc-u1", "FileSystemResizeRequired: Require file system resize of volume on node"]);
    const writes = world.cluster.writes.length;
    await world.disks.step(world.cluster.snapshot());
    expect(world.cluster.writes).toHaveLength(writes);
  });

  it("refuses what does not fit, keeps the size, and takes a smaller wish afterwards", async () => {
    const world = start({ freeBytes: 4n * gibibyte });
    await world.disks.provision(claim("1Gi"), storageClass);
    world.bind("9Gi", "1Gi");
    await world.disks.step(world.cluster.snapshot());
    const refused = world.cluster.get("persistentvolumeclaims", "shop", "data");
    expect(refused?.status).toMatchObject({ capacity: { storage: "1Gi" }, allocatedResources: { storage: "9Gi" }, allocatedResourceStatuses: { storage: "ControllerResizeInfeasible" } });
    expect(refused?.status?.conditions?.find((condition) => condition.type === "ControllerResizeError")?.message).toContain("8589934592 bytes more are asked for");
    expect(world.sizes.get(file)).toBe(gibibyte);
    const writes = world.cluster.writes.length;
    await world.disks.step(world.cluster.snapshot());
    expect(world.cluster.writes).toHaveLength(writes);
    if (!refused) throw new Error("the claim is gone");
    world.cluster.put("persistentvolumeclaims", { ...refused, spec: { ...refused.spec, resources: { requests: { storage: "2Gi" } } } });
    await world.disks.step(world.cluster.snapshot());
    expect(world.cluster.get("persistentvolumeclaims", "shop", "data")?.status).toMatchObject({ allocatedResources: { storage: "2Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } });
  });

  it("finishes a raw block volume by itself", async () => {
    const world = start();
    await world.disks.provision(claim("1Gi", { volumeMode: "Block" }), storageClass);
    world.bind("2Gi", "1Gi");
    await world.disks.step(world.cluster.snapshot());
    expect(world.cluster.get("persistentvolumeclaims", "shop", "data")?.status).toMatchObject({ capacity: { storage: "2Gi" } });
    expect(world.said().at(-1)).toBe("VolumeResizeSuccessful: Resize volume succeeded");
  });
});

describe("keeping and removing", () => {
  it("attaches disks again after a restart, and moves the link to the new device", async () => {
    const world = start();
    await world.disks.provision(claim("1Gi"), storageClass);
    world.devices.set(file, "/dev/loop42");
    await world.newDisks().step(world.cluster.snapshot());
    expect(await world.files.readLink(link)).toBe("/dev/loop42");
  });

  it("removes device, file, link and volume", async () => {
    const world = start();
    await world.disks.provision(claim("1Gi"), storageClass);
    const volume = world.cluster.get("persistentvolumes", undefined, "pvc-u1");
    if (!volume) throw new Error("no volume");
    await world.disks.remove(volume);
    expect(world.devices.size).toBe(0);
    expect(await world.files.readDir("/var/lib/kubelet/disks")).toEqual([]);
    expect(world.cluster.snapshot().persistentVolumes.size).toBe(0);
  });

  it("removes nothing that is in use", async () => {
    const world = start({ isInUse: () => true });
    await world.disks.provision(claim("1Gi"), storageClass);
    const volume = world.cluster.get("persistentvolumes", undefined, "pvc-u1");
    if (!volume) throw new Error("no volume");
    await expect(world.disks.remove(volume)).rejects.toThrow('the volume "pvc-u1" is still mounted on node-1');
    expect(await world.files.lstat(file)).toBeDefined();
  });
});
