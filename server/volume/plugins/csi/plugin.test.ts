import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import type { CSIDriver } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import { createMemoryHost, type MemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { isPersistentPlugin } from "@/server/volume/plugin";
import { newCsiPlugin, type CSIPlugin } from "@/server/volume/plugins/csi/plugin";
import { newSpecFromPersistentVolume, newSpecFromVolume, type Spec } from "@/server/volume/spec";

const pod: Pod = { metadata: { name: "web", namespace: "shop", uid: "u1" }, spec: { containers: [] } };
const absent = "driver name ebs.csi.aws.com not found in the list of registered CSI drivers";
const inline = newSpecFromVolume({ name: "data", csi: { driver: "ebs.csi.aws.com" } });
const persistent = persistentSpec("Filesystem");

function persistentSpec(volumeMode: string): Spec {
  return newSpecFromPersistentVolume(
    { metadata: { name: "pv1" }, spec: { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" }, volumeMode } },
    false,
  );
}

function driver(spec: CSIDriver["spec"]): CSIDriver {
  return { metadata: { name: "ebs.csi.aws.com" }, spec };
}

async function start(options: MemoryHostOptions = {}): Promise<{ readonly memory: MemoryHost; readonly plugin: CSIPlugin }> {
  const memory = createMemoryHost(options);
  const plugin = newCsiPlugin();
  await plugin.init(memory.host);
  return { memory, plugin };
}

describe("the csi plugin", () => {
  it("declares no access modes, so it is not persistent", () => {
    expect(isPersistentPlugin(newCsiPlugin())).toBe(false);
  });

  it.each<[string, CSIDriver["spec"] | undefined, boolean]>([
    ["no CSIDriver object", undefined, true],
    ["an object that says nothing", {}, true],
    ["an object that asks for it", { attachRequired: true }, true],
    ["an object that does without", { attachRequired: false }, false],
  ])("can attach with %s", async (_name, spec, expected) => {
    const { plugin } = await start({ csiDrivers: spec ? [driver(spec)] : [] });
    expect(await plugin.canAttach(persistent)).toBe(expected);
    expect(await plugin.canAttach(inline)).toBe(false);
  });

  it("reads republishing and SELinux mounts from the CSIDriver object", async () => {
    const { plugin } = await start({ csiDrivers: [driver({ requiresRepublish: true, seLinuxMount: true })] });
    expect(await plugin.requiresRemount(persistent)).toBe(true);
    expect(await plugin.supportsSELinuxContextMount(persistent)).toBe(true);
  });

  it("says what is missing where the real code dereferences nil", async () => {
    const { plugin } = await start({ csiDrivers: [driver({})] });
    await expect(plugin.requiresRemount(persistent)).rejects.toMatchObject({ code: "nil-dereference" });
  });

  it("can tell nothing without an API", async () => {
    const { plugin } = await start({ noKubeClient: true });
    await expect(plugin.canAttach(persistent)).rejects.toThrow("CSIDriver lister does not exist");
    expect(await plugin.requiresRemount(persistent)).toBe(false);
    await expect(plugin.newMounter(persistent, pod)).rejects.toThrow("kubernetes.io/csi: failed to get a kubernetes client");
  });

  it("is transient about a driver that is not registered, in the words of each step", async () => {
    const { plugin } = await start({
      files: {
        "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pv1/vol_data.json": '{"driverName":"ebs.csi.aws.com"}',
        "/var/lib/kubelet/plugins/kubernetes.io/csi/ebs.csi.aws.com/hash/vol_data.json": '{"driverName":"ebs.csi.aws.com"}',
      },
    });
    const attacher = await plugin.newAttacher();
    const staging = "/var/lib/kubelet/plugins/kubernetes.io/csi/ebs.csi.aws.com/hash/globalmount";
    const sizes = { newSize: parseQuantity("2Gi"), oldSize: parseQuantity("1Gi") };
    const paths = { devicePath: "", deviceMountPath: "", deviceStagePath: "" };
    const steps: readonly (readonly [Promise<unknown> | undefined, string])[] = [
      [(await plugin.newMounter(persistent, pod))?.setUp({}), `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${absent}`],
      [(await plugin.newUnmounter("pv1", "u1"))?.tearDown(), `kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: ${absent}`],
      [
        attacher.mountDevice(persistent, "", staging, {}),
        `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${absent}`,
      ],
      [
        (await plugin.newDetacher()).unmountDevice(staging),
        `kubernetes.io/csi: attacher.UnmountDevice failed to create newCsiDriverClient: ${absent}`,
      ],
      [plugin.nodeExpand({ volumeSpec: persistent, ...paths, ...sizes }), absent],
    ];
    for (const [step, message] of steps) await expect(step).rejects.toMatchObject({ code: "transient", message });
  });

  it("has nothing to unstage without a data file", async () => {
    const { plugin } = await start();
    await expect((await plugin.newDetacher()).unmountDevice("/nowhere/globalmount")).resolves.toBeUndefined();
  });

  it("finds a mapped block volume again from the data file that its mapper wrote", async () => {
    const { plugin } = await start();
    const block = persistentSpec("Block");
    await plugin.newBlockVolumeMapper(block, pod);
    expect(await plugin.constructBlockVolumeSpec("u1", "pv1", "/map")).toEqual(block);
    const unmapper = await plugin.newBlockVolumeUnmapper("pv1", "u1");
    expect(await unmapper.getGlobalMapPath(block)).toBe("/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv1/dev");
  });

  it("does not take a hostile data file for more than texts", async () => {
    const { plugin } = await start({ files: { "/v/vol_data.json": '{"__proto__":"x","driverName":"d","volumeLifecycleMode":"Ephemeral"}' } });
    expect((await plugin.constructVolumeSpec("pv1", "/v")).spec).toEqual(newSpecFromVolume({ name: "", csi: { driver: "d" } }));
  });
});
