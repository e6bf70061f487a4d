import { describe, expect, it } from "vitest";
import { explain } from "@/server/volume/explain";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { emptyTable, type PluginTable } from "@/server/volume/plugin-table";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";
import { ManualClock, quietLog, supportsVolumeField, testPlugin } from "@/server/volume/test-plugins";

async function tableOf(...plugins: ReturnType<typeof testPlugin>[]): Promise<PluginTable> {
  const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
  await manager.initPlugins(plugins, undefined, undefined);
  return manager.published();
}

const hostPath = testPlugin("kubernetes.io/host-path", {
  ...supportsVolumeField("hostPath"),
  sources: { volume: ["hostPath"], persistentVolume: ["hostPath"] },
});
const emptyDir = testPlugin("kubernetes.io/empty-dir", { ...supportsVolumeField("emptyDir"), sources: { volume: ["emptyDir"] } });
const flex = testPlugin("vendor/driver", {
  canSupport: (spec) => spec.volume?.flexVolume?.driver === "vendor/driver",
  sources: { volume: ["flexVolume"], persistentVolume: ["flexVolume"], driver: "vendor/driver" },
});
const silent = testPlugin("example.com/silent", { canSupport: () => false });

describe("explain", () => {
  it("names the winner and the field that decided for each plugin, in the order asked", async () => {
    const table = await tableOf(hostPath, emptyDir, flex, silent);
    expect(explain(table, newSpecFromVolume({ name: "v", emptyDir: {} }))).toEqual({
      winner: "kubernetes.io/empty-dir",
      plugins: [
        {
          name: "kubernetes.io/host-path",
          origin: "registered",
          could: false,
          field: "volume.hostPath or persistentVolume.spec.hostPath",
          reason: "volume.hostPath and persistentVolume.spec.hostPath are not set",
        },
        { name: "kubernetes.io/empty-dir", origin: "registered", could: true, field: "volume.emptyDir", reason: "volume.emptyDir is set" },
        expect.objectContaining({ name: "vendor/driver", could: false }),
        {
          name: "example.com/silent",
          origin: "registered",
          could: false,
          field: "the whole spec",
          reason: "it reads the whole spec and says no",
        },
      ],
    });
  });

  it("compares the driver where the source names one", async () => {
    const table = await tableOf(flex);
    const reasonFor = (driver: string): string | undefined =>
      explain(table, newSpecFromVolume({ name: "v", flexVolume: { driver } })).plugins[0]?.reason;
    expect(reasonFor("vendor/driver")).toBe('volume.flexVolume.driver is "vendor/driver"');
    expect(reasonFor("vendor/other")).toBe('volume.flexVolume.driver is "vendor/other", not "vendor/driver"');
  });

  it("says so when the source is there and the plugin declines all the same", async () => {
    const declining = testPlugin("a/a", { canSupport: () => false, sources: { persistentVolume: ["nfs"] } });
    const pv = { metadata: { name: "pv" }, spec: { nfs: { server: "s", path: "/" } } };
    const { error, plugins } = explain(await tableOf(declining), newSpecFromPersistentVolume(pv, false));
    expect(error).toEqual({ message: "no volume plugin matched", code: "no-plugin-matched" });
    expect(plugins[0]).toMatchObject({
      could: false,
      field: "persistentVolume.spec.nfs",
      reason: "persistentVolume.spec.nfs is set, and it says no all the same",
    });
  });

  it("answers a nil spec and an empty table", async () => {
    expect(explain(emptyTable, newSpecFromVolume({ name: "v" }))).toMatchObject({ error: { code: "no-plugin-matched" }, plugins: [] });
    expect(explain(await tableOf(hostPath), undefined)).toMatchObject({
      error: { message: "could not find plugin because volume spec is nil" },
      plugins: [{ could: false, reason: "there is no spec" }],
    });
  });
});
