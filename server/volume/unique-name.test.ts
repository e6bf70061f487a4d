import { describe, expect, it } from "vitest";
import { newSpecFromVolume } from "@/server/volume/spec";
import { testPlugin } from "@/server/volume/test-plugins";
import {
  getUniqueVolumeName,
  getUniqueVolumeNameFromSpec,
  getUniqueVolumeNameFromSpecWithPod,
  isAttachableVolume,
  isDeviceMountableVolume,
  splitUniqueName,
} from "@/server/volume/unique-name";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { ManualClock, quietLog } from "@/server/volume/test-plugins";

const spec = newSpecFromVolume({ name: "v" });

describe("unique names", () => {
  it("hold the plugin, and the pod where the volume is its own", () => {
    expect(getUniqueVolumeName("a/b", "disk")).toBe("a/b/disk");
    expect(getUniqueVolumeNameFromSpecWithPod("uid", testPlugin("a/b"), spec)).toBe("a/b/uid-v");
  });

  it("come from the plugin, which must be there and know one", async () => {
    const named = (name: string): Promise<string> =>
      getUniqueVolumeNameFromSpec(testPlugin("a/b", { getVolumeName: async () => name }), spec);
    expect(await named("disk")).toBe("a/b/disk");
    await expect(named("")).rejects.toThrow('failed to GetVolumeName from volumePlugin for volumeSpec "v" err=<nil>');
    await expect(getUniqueVolumeNameFromSpec(undefined, spec)).rejects.toThrow('volumePlugin should not be nil. volumeSpec.Name="v"');
    const failing = testPlugin("a/b", { getVolumeName: () => Promise.reject(new Error("no such disk")) });
    await expect(getUniqueVolumeNameFromSpec(failing, spec)).rejects.toThrow('for volumeSpec "v" err=no such disk');
  });

  it("split after the second slash", () => {
    expect(splitUniqueName("kubernetes.io/csi/driver^a/b")).toEqual({ plugin: "kubernetes.io/csi", volume: "driver^a/b" });
    expect(() => splitUniqueName("plain/v")).toThrow("cannot split volume unique name plain/v to plugin/volume components");
  });
});

describe("what a node shares between pods", () => {
  const method = async (): Promise<object> => ({});
  const attachable = { newAttacher: method, newDetacher: method, canAttach: async () => true, verifyExhaustedResource: () => false };
  const deviceMountable = {
    newDeviceMounter: method,
    newDeviceUnmounter: method,
    getDeviceMountRefs: method,
    canDeviceMount: async () => false,
  };

  async function answersWith(extra: object): Promise<{ attaches: boolean; mountsDevices: boolean }> {
    const plugin = testPlugin("a/b", { ...extra } as object);
    const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
    await manager.initPlugins([plugin], undefined, undefined);
    return { attaches: await isAttachableVolume(spec, manager), mountsDevices: await isDeviceMountableVolume(spec, manager) };
  }

  it("is a volume whose plugin attaches it or mounts its device", async () => {
    expect(await answersWith({ ...attachable, ...deviceMountable })).toEqual({ attaches: true, mountsDevices: false });
    expect(await answersWith({ ...deviceMountable, canDeviceMount: async () => true })).toEqual({ attaches: false, mountsDevices: true });
  });

  it("takes an error for a no", async () => {
    const unsure = { ...attachable, ...deviceMountable, canAttach: () => Promise.reject(new Error("no API")) };
    expect(await answersWith(unsure)).toEqual({ attaches: false, mountsDevices: false });
    const broken = { ...attachable, ...deviceMountable, newAttacher: () => Promise.reject(new Error("no API")) };
    expect(await answersWith(broken)).toEqual({ attaches: false, mountsDevices: false });
  });
});
