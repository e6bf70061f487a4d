import { describe, expect, it } from "vitest";
import {
  accessModesAsString,
  accessModesFromString,
  containsAccessMode,
  containsAllAccessModes,
  isMultiAttachAllowed,
} from "@/server/volume/access-modes";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";

describe("access modes as text", () => {
  it("lists each known mode once, in the fixed order", () => {
    const modes = ["ReadWriteOncePod", "ReadWriteMany", "Bogus", "ReadOnlyMany", "ReadWriteMany"];
    expect(accessModesAsString(modes)).toBe("ROX,RWX,RWOP");
    expect(accessModesAsString([])).toBe("");
  });

  it("are read in the order written, spaces and unknown words left out", () => {
    expect(accessModesFromString(" RWX ,rwo,RWOP,")).toEqual(["ReadWriteMany", "ReadWriteOncePod"]);
    expect(accessModesFromString("")).toEqual([]);
  });
});

describe("what a volume offers", () => {
  it("is compared mode by mode", () => {
    expect(containsAccessMode(["ReadWriteOnce"], "ReadWriteOnce")).toBe(true);
    expect(containsAllAccessModes(["ReadWriteOnce"], [])).toBe(true);
    expect(containsAllAccessModes(["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"])).toBe(false);
  });
});

describe("isMultiAttachAllowed", () => {
  const ofModes = (...accessModes: string[]): boolean =>
    isMultiAttachAllowed(newSpecFromPersistentVolume({ metadata: { name: "pv" }, spec: { accessModes } }, false));

  it("allows what it cannot tell", () => {
    expect(isMultiAttachAllowed(undefined)).toBe(true);
    expect(ofModes()).toBe(true);
    expect(isMultiAttachAllowed(newSpecFromVolume({ name: "v", nfs: { server: "s", path: "/" } }))).toBe(true);
  });
  it("refuses persistent volumes for one node, and allows those for many", () => {
    expect(ofModes("ReadWriteOnce")).toBe(false);
    expect(ofModes("ReadWriteOncePod")).toBe(false);
    expect(ofModes("ReadWriteOnce", "ReadOnlyMany")).toBe(true);
  });
  it("refuses disks that are known to fail slowly", () => {
    expect(isMultiAttachAllowed(newSpecFromVolume({ name: "v", cinder: {} }))).toBe(false);
    expect(isMultiAttachAllowed(newSpecFromVolume({ name: "v", azureDisk: {} }))).toBe(false);
  });
});
