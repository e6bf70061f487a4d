import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import { parseQuantity } from "@/lib/quantity";
import { createMemoryHost, type MemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { interfacesOf } from "@/server/volume/plugin";
import { newLocalVolumePlugin } from "@/server/volume/plugins/local-volume";
import { newSpecFromPersistentVolume, type Spec } from "@/server/volume/spec";

const device = "/dev/loop7";
const globalMount = "/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/pv1";
const podDir = "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~local-volume/pv1";
const pod: Pod = { metadata: { name: "web", namespace: "shop", uid: "u1" }, spec: { containers: [] } };

function localSpec(path: string, options: { readonly mode?: string; readonly readOnly?: boolean; readonly fsType?: string } = {}): Spec {
  const { mode = "Filesystem", readOnly = false, fsType } = options;
  return newSpecFromPersistentVolume({ metadata: { name: "pv1" }, spec: { local: { path, fsType }, volumeMode: mode } }, readOnly);
}

async function setUp(options: MemoryHostOptions = {}): Promise<{ memory: MemoryHost; plugin: ReturnType<typeof newLocalVolumePlugin> }> {
  const memory = createMemoryHost({ files: { "/mnt/data": { kind: "directory" } }, ...options });
  const plugin = newLocalVolumePlugin();
  await plugin.init(memory.host);
  return { memory, plugin };
}

async function withDevice(options: MemoryHostOptions = {}) {
  const { memory, plugin } = await setUp(options);
  memory.files.put(device, { kind: "block-device", rdev: "7:7" });
  const disk = memory.blockTools.addDevice(device, { sizeBytes: 1n << 30n });
  return { memory, plugin, disk, spec: localSpec(device, { fsType: "xfs" }) };
}

describe("the local-volume plugin", () => {
  it("is persistent, device mountable, node expandable and block, and neither attachable nor expandable", () => {
    expect(interfacesOf(newLocalVolumePlugin())).toEqual([
      "PersistentVolumePlugin",
      "DeviceMountableVolumePlugin",
      "NodeExpandableVolumePlugin",
      "BlockVolumePlugin",
    ]);
  });

  it("binds a directory once and takes the pod's folder away again, however often it is asked", async () => {
    const { memory, plugin } = await setUp();
    const spec = localSpec("/mnt/data");
    const mounter = await plugin.newMounter(spec, pod);
    await mounter?.setUp({});
    await mounter?.setUp({});
    expect(memory.mounter.log.actions).toEqual([
      { op: "mount", source: "/mnt/data", target: podDir, fsType: "", options: ["bind"] },
    ]);

    const unmounter = await plugin.newUnmounter("pv1", "u1");
    await unmounter?.tearDown();
    await unmounter?.tearDown();
    expect(await memory.files.lstat(podDir)).toBeUndefined();
    expect(await memory.files.stat("/mnt/data")).toBeDefined();
  });

  it("refuses a path that climbs", async () => {
    const { plugin } = await setUp();
    const mounter = await plugin.newMounter(localSpec("/mnt/x/../data"), pod);
    await expect(mounter?.setUp({})).rejects.toThrow("invalid path: /mnt/x/../data must not contain '..'");
  });

  it.each([
    ["a file", "/mnt/file", "only directory and block device are supported"],
    ["nothing", "/mnt/none", 'path "/mnt/none" does not exist'],
    ["an empty path", "", "local volume source is nil or local path is not set"],
  ])("refuses %s as its source", async (_name, path, message) => {
    const { plugin } = await setUp({ files: { "/mnt/file": "x" } });
    await expect(plugin.newMounter(localSpec(path), pod)).rejects.toThrow(message);
  });

  it("gives the volume to the first pod's group only, and warns the next one of another", async () => {
    const { memory, plugin } = await setUp();
    const spec = localSpec("/mnt/data");
    await (await plugin.newMounter(spec, pod))?.setUp({ fsGroup: 2000 });
    expect((await memory.files.stat("/mnt/data"))?.gid).toBe(2000);

    const second: Pod = { ...pod, metadata: { name: "api", namespace: "shop", uid: "u2" } };
    await (await plugin.newMounter(spec, second))?.setUp({ fsGroup: 3000 });
    expect((await memory.files.stat("/mnt/data"))?.gid).toBe(2000);
    expect(memory.events.events).toEqual([
      {
        object: { kind: "Pod", namespace: "shop", name: "api", uid: "u2" },
        type: "Warning",
        reason: "AlreadyMountedVolume",
        message: "The requested fsGroup is 3000, but the volume pv1 has GID 2000. The volume may not be shareable.",
      },
    ]);
  });

  it("formats, mounts, grows and finds again a block device", async () => {
    const { memory, plugin, disk, spec } = await withDevice();
    const deviceMounter = await plugin.newDeviceMounter();
    expect(await deviceMounter.getDeviceMountPath(spec)).toBe(globalMount);
    await deviceMounter.mountDevice(spec, "", globalMount, {});
    await deviceMounter.mountDevice(spec, "", globalMount, {});
    await (await plugin.newMounter(spec, pod))?.setUp({});
    expect((await memory.mounter.list()).filter((row) => row.device === device).map((row) => row.path)).toEqual([globalMount, podDir]);

    disk.sizeBytes = 2n << 30n;
    const grown = await plugin.nodeExpand({
      volumeSpec: spec,
      devicePath: device,
      deviceMountPath: globalMount,
      deviceStagePath: "",
      newSize: parseQuantity("2Gi"),
      oldSize: parseQuantity("1Gi"),
    });
    expect(grown).toBe(true);
    expect((await memory.files.statfs(podDir)).totalBytes).toBe(2n << 30n);

    const { spec: found } = await plugin.constructVolumeSpec("pv1", podDir);
    expect(found).toEqual(localSpec(device));

    await (await plugin.newUnmounter("pv1", "u1"))?.tearDown();
    const deviceUnmounter = await plugin.newDeviceUnmounter();
    await deviceUnmounter.unmountDevice(globalMount);
    await deviceUnmounter.unmountDevice(globalMount);
    expect((await memory.mounter.list()).filter((row) => row.device === device)).toEqual([]);
  });

  it("leaves a directory's device mount path alone", async () => {
    const { memory, plugin } = await setUp();
    await (await plugin.newDeviceUnmounter()).unmountDevice("/mnt/data");
    expect(await memory.files.stat("/mnt/data")).toBeDefined();
  });

  it("names device, folder and type when a device can't be mounted", async () => {
    const { memory, plugin } = await withDevice({ mountFailures: { mount: () => new Error("no luck") } });
    const deviceMounter = await plugin.newDeviceMounter();
    await expect(deviceMounter.mountDevice(localSpec(device), "", globalMount, {})).rejects.toThrow(
      `local: failed to mount device ${device} at ${globalMount} (fstype: ext4), error`,
    );
    expect(await memory.files.lstat(globalMount)).toBeUndefined();
  });

  it("maps a raw device by its path", async () => {
    const { plugin, spec } = await withDevice();
    const mapper = await plugin.newBlockVolumeMapper(spec, pod);
    expect(mapper.getPodDeviceMapPath()).toEqual({ dir: "/var/lib/kubelet/pods/u1/volumeDevices/kubernetes.io~local-volume", name: "pv1" });
    expect(await mapper.getGlobalMapPath(spec)).toBe("/var/lib/kubelet/plugins/kubernetes.io~local-volume/volumeDevices/pv1");
  });
});
