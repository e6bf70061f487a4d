import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { createMemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { newFcPlugin } from "@/server/volume/plugins/fc";
import { newIscsiPlugin } from "@/server/volume/plugins/iscsi";
import { lunOf, type NetworkDiskPlugin } from "@/server/volume/plugins/network-disk";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";

const root = "/var/lib/kubelet";
const pod: Pod = { metadata: { name: "db", namespace: "shop", uid: "u1" }, spec: { containers: [] } };
const disk: Volume["iscsi"] = { targetPortal: "10.0.0.1", iqn: "iqn.2017-05.com.example:store", lun: 2, iscsiInterface: "default" };

interface Kind {
  readonly create: () => NetworkDiskPlugin;
  readonly volume: Volume;
  readonly globalPath: string;
  readonly reconstructed: Volume;
}

const kinds: Readonly<Record<"iscsi" | "fc", Kind>> = {
  iscsi: {
    create: newIscsiPlugin,
    volume: { name: "data", iscsi: disk },
    globalPath: `${root}/plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-iqn.2017-05.com.example:store-lun-2`,
    reconstructed: { name: "data", iscsi: { ...disk, targetPortal: "10.0.0.1:3260" } },
  },
  fc: {
    create: newFcPlugin,
    volume: { name: "data", fc: { targetWWNs: ["500a", "500b"], lun: 0 } },
    globalPath: `${root}/plugins/kubernetes.io/fc/500a-500b-lun-0`,
    reconstructed: { name: "data", fc: { targetWWNs: ["500a", "500b"], lun: 0 } },
  },
};

async function start(kind: Kind, options: MemoryHostOptions = {}) {
  const memory = createMemoryHost(options);
  const plugin = kind.create();
  await plugin.init(memory.host);
  return { memory, plugin, spec: newSpecFromVolume(kind.volume) };
}

describe.each(Object.entries(kinds))("the %s plugin", (name, kind) => {
  const podDir = `${root}/pods/u1/volumes/kubernetes.io~${name}/data`;

  it("binds the global mount once, finds the disk again from it, and takes the pod's folder away", async () => {
    const { memory, plugin, spec } = await start(kind);
    memory.files.put("/dev/sdx", { kind: "block-device", rdev: "8:16" });
    memory.blockTools.addDevice("/dev/sdx", { sizeBytes: 1n << 30n, fsType: "ext4" });
    const attacher = await plugin.newAttacher();
    expect(await attacher.getDeviceMountPath(spec)).toBe(kind.globalPath);
    await attacher.mountDevice({ ...spec, volume: { ...kind.volume, ...withFsType(kind.volume) } }, "/dev/sdx", kind.globalPath, {});

    const mounter = await plugin.newMounter(spec, pod);
    await mounter?.setUp({});
    await mounter?.setUp({});
    expect((await memory.mounter.list()).filter(({ device }) => device === "/dev/sdx").map(({ path }) => path)).toEqual([
      kind.globalPath,
      podDir,
    ]);
    expect((await plugin.constructVolumeSpec("data", podDir)).spec).toEqual(newSpecFromVolume(kind.reconstructed));

    const unmounter = await plugin.newUnmounter("data", "u1");
    await unmounter?.tearDown();
    await unmounter?.tearDown();
    await (await plugin.newDetacher()).unmountDevice(kind.globalPath);
    expect((await memory.mounter.list()).filter(({ device }) => device === "/dev/sdx")).toEqual([]);
    expect(await memory.files.lstat(podDir)).toBeUndefined();
  });

  it("has nothing to attach on the controller's side", async () => {
    const { plugin, spec } = await start(kind);
    const attacher = await plugin.newAttacher();
    expect(await attacher.attach(spec, "node-1")).toBe("");
    expect([...((await attacher.volumesAreAttached([spec], "node-1")) ?? [])]).toEqual([[spec, true]]);
  });

  it("finds a mapped device again by its number and the pod", async () => {
    const globalMap = kind.globalPath.replace(`kubernetes.io/${name}/`, `kubernetes.io/${name}/volumeDevices/`);
    const mapPath = `${root}/pods/u1/volumeDevices/kubernetes.io~${name}/data`;
    const { plugin } = await start(kind, {
      files: {
        "/dev/sdx": { kind: "block-device", rdev: "8:16" },
        [mapPath]: { kind: "symlink", target: "/dev/sdx" },
        [`${globalMap}/u1`]: { kind: "block-device", rdev: "8:16" },
        [`${globalMap}/u2`]: { kind: "block-device", rdev: "8:16" },
      },
    });
    const { iscsi, fc } = kind.reconstructed;
    const source = iscsi ? { iscsi } : { fc };
    expect(await plugin.constructBlockVolumeSpec("u1", "data", mapPath)).toEqual(
      newSpecFromPersistentVolume({ metadata: { name: "data" }, spec: { ...source, volumeMode: "Block" } }, false),
    );
  });
});

function withFsType({ iscsi, fc }: Volume): Partial<Volume> {
  return { ...(iscsi && { iscsi: { ...iscsi, fsType: "ext4" } }), ...(fc && { fc: { ...fc, fsType: "ext4" } }) };
}

describe("waiting for a disk", () => {
  it("ends in the kubelet's words where there is no initiator", async () => {
    const { plugin, spec } = await start(kinds.iscsi);
    const waiting = (await plugin.newAttacher()).waitForAttach(spec, "", pod, 1_000);
    await expect(waiting).rejects.toThrow("executable file not found in $PATH");
  });

  it("ends in our own where there is one, since nothing logs in from here", async () => {
    const { plugin, spec } = await start(kinds.iscsi, { programs: { iscsiadm: () => "iface.transport_name = tcp\n" } });
    const waiting = (await plugin.newAttacher()).waitForAttach(spec, "", pod, 1_000);
    await expect(waiting).rejects.toMatchObject({ code: "refused" });
  });

  it("ends in the kubelet's words where there is no host bus adapter", async () => {
    const { plugin, spec } = await start(kinds.fc);
    const waiting = (await plugin.newAttacher()).waitForAttach(spec, "", pod, 1_000);
    await expect(waiting).rejects.toThrow("no fc disk found");
  });
});

describe("lunOf", () => {
  it.each([
    ["0", 0],
    ["+7", 7],
    ["4294967297", 1],
    ["99999999999", 1215752191],
    ["-1", -1],
  ])("reads %s as %d, cut to 32 bits", (text, lun) => {
    expect(lunOf(text)).toBe(lun);
  });

  it.each([
    ["", 'strconv.Atoi: parsing "": invalid syntax'],
    ["0x1", 'strconv.Atoi: parsing "0x1": invalid syntax'],
    ["99999999999999999999", 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
  ])("refuses %j in Go's words", (text, message) => {
    expect(() => lunOf(text)).toThrow(message);
  });
});

describe("a reconstruction where the real code crashes", () => {
  it.each([
    ["iface-a-lun-b/10.0.0.1-iqn.x", "no lun after the iqn"],
    ["iface-default/p-lun-0-iqn.x", "no lun after the iqn"],
  ])("says what is wrong with %s", async (name, message) => {
    const mountPath = `${root}/pods/u1/volumes/kubernetes.io~iscsi/data`;
    const { plugin } = await start(kinds.iscsi, {
      mounting: "recorded",
      mounts: [
        { device: "/dev/sdx", path: mountPath },
        { device: "/dev/sdx", path: `${root}/plugins/kubernetes.io/iscsi/${name}` },
      ],
    });
    await expect(plugin.constructVolumeSpec("data", mountPath)).rejects.toThrow(message);
  });
});
