import { describe, expect, it } from "vitest";
import type { PersistentVolume } from "@/lib/kube/storage";
import {
  goSyntaxOf,
  isKubeletExpandable,
  kubeletExpandablePluginName,
  newSpecFromPersistentVolume,
  newSpecFromVolume,
  specName,
  type Spec,
} from "@/server/volume/spec";

const flexVolume: PersistentVolume = { metadata: { name: "pv" }, spec: { flexVolume: { driver: "vendor/pv" } } };
const both: Spec = { ...newSpecFromPersistentVolume(flexVolume, false), volume: { name: "v", emptyDir: {} } };

describe("a spec", () => {
  it("is named after its volume, else after its persistent volume, else not at all", () => {
    expect(specName(newSpecFromVolume({ name: "foo" }))).toBe("foo");
    expect(specName(newSpecFromPersistentVolume(flexVolume, false))).toBe("pv");
    expect(specName(both)).toBe("v");
    expect(specName(newSpecFromVolume(undefined))).toBe("");
  });

  it("lets the volume alone say whether the node can grow it, but takes the driver from either", () => {
    expect(isKubeletExpandable(both)).toBe(false);
    expect(isKubeletExpandable(newSpecFromPersistentVolume(flexVolume, false))).toBe(true);
    expect(kubeletExpandablePluginName(both)).toBe("vendor/pv");
  });

  it("takes the volume's own driver even when that is empty", () => {
    const spec: Spec = { ...both, volume: { name: "v", flexVolume: { driver: "" } } };
    expect(kubeletExpandablePluginName(spec)).toBe("");
  });

  it.each([specName, isKubeletExpandable, kubeletExpandablePluginName])("says that a missing spec is nil", (rule) => {
    expect(() => rule(undefined)).toThrow(expect.objectContaining({ code: "nil-dereference", message: "volume spec is nil" }));
  });

  it("is printed as Go prints it", () => {
    expect(goSyntaxOf(newSpecFromPersistentVolume(flexVolume, true))).toBe(
      "&volume.Spec{Volume:(*v1.Volume)(nil), PersistentVolume:(*v1.PersistentVolume)(0xPTR), ReadOnly:true, InlineVolumeSpecForCSIMigration:false, Migrated:false}",
    );
    expect(goSyntaxOf(undefined)).toBe("(*volume.Spec)(nil)");
  });
});
