import { describe, expect, it } from "vitest";
import { newGitRepoPlugin } from "@/server/volume/plugins/git-repo";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { capabilitiesOf, capabilityNames, matchAll, rowOf, rowOfPlugin } from "@/server/volume/plugin-table";
import { newSpecFromVolume } from "@/server/volume/spec";
import { ManualClock, quietLog, supportsVolumeField, testPlugin } from "@/server/volume/test-plugins";

describe("a row", () => {
  const method = (): undefined => undefined;
  const block = { newBlockVolumeMapper: method, newBlockVolumeUnmapper: method, constructBlockVolumeSpec: method };
  const plugin = testPlugin("a/b", {
    ...block,
    getAccessModes: () => ["ReadWriteOnce"],
    requiresFSResize: () => true,
    supportsMountOption: () => true,
    about: { seLinuxMount: "per driver" },
  } as object);

  it("has a capability only where every method of the interface is there", () => {
    const capabilities = capabilitiesOf(plugin);
    expect(capabilityNames.filter((name) => capabilities[name] === true)).toEqual(["mount", "block", "mountOptions"]);
    expect(capabilities.seLinuxMount).toBe("per driver");
  });

  it("tells access modes, kind, a gate that is locked off and where a probed driver lies", () => {
    expect(rowOfPlugin(plugin, "a/b", { origin: "registered", loadedAtMs: 5 })).toMatchObject({
      kind: "in-tree",
      accessModes: ["ReadWriteOnce"],
      interfaces: ["PersistentVolumePlugin", "BlockVolumePlugin"],
      state: "ok",
      serving: true,
      loadedAtMs: 5,
    });
    expect(rowOfPlugin(newGitRepoPlugin(), "kubernetes.io/git-repo", { origin: "registered", loadedAtMs: 5 }).note).toContain("GitRepoVolumeDriver is locked off since 1.36");
    const driver = testPlugin("v/d", { about: { kind: "FlexVolume", driverPath: "/exec/v~d/d" } });
    expect(rowOfPlugin(driver, "v/d", { origin: "probed" })).toMatchObject({ kind: "FlexVolume", path: "/exec/v~d/d", serving: false });
  });

  it("shows a driver of which no plugin could be made", () => {
    const failure = { atMs: 7, error: "exit status 1", path: "/exec/v~d" };
    expect(rowOfPlugin(undefined, "v/d", { origin: "probed", failure })).toMatchObject({
      capabilities: undefined,
      interfaces: [],
      state: "failed",
      error: "exit status 1",
      failedAtMs: 7,
      path: "/exec/v~d",
    });
  });
});

describe("matchAll", () => {
  it("gives the match of each spec in order, from the table alone", async () => {
    const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
    await manager.initPlugins([testPlugin("a/nfs", supportsVolumeField("nfs"))], undefined, undefined);
    const table = manager.published();
    const matches = matchAll(table, [newSpecFromVolume({ name: "v", emptyDir: {} }), newSpecFromVolume({ name: "v", nfs: { server: "s", path: "/" } })]);
    expect(matches.map(({ outcome }) => outcome)).toEqual(["none", "found"]);
    expect(rowOf(table, "a/nfs")?.serving).toBe(true);
    expect(rowOf(table, "constructor")).toBeUndefined();
  });
});
