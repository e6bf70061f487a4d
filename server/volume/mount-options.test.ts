import { describe, expect, it } from "vitest";
import type { PersistentVolume } from "@/lib/kube/storage";
import { checkMountOptionSupport, joinMountOptions, mountOptionFromSpec } from "@/server/volume/mount-options";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";
import { testPlugin } from "@/server/volume/test-plugins";

function specWith(annotation: string | undefined, mountOptions?: string[]): ReturnType<typeof newSpecFromVolume> {
  const annotations = annotation === undefined ? undefined : { "volume.beta.kubernetes.io/mount-options": annotation };
  const volume: PersistentVolume = { metadata: { name: "pv", annotations }, spec: { mountOptions } };
  return newSpecFromPersistentVolume(volume, false);
}

describe("mountOptionFromSpec", () => {
  const cases: [string, string[], string[]][] = [
    ["ro,nfsvers=3", [], ["nfsvers=3", "ro"]],
    ["", [], []],
    ["ro,nfsvers=3", ["hard", "fsid=100"], ["fsid=100", "hard", "nfsvers=3", "ro"]],
    ["ro", ["ro"], ["ro"]],
  ];
  it.each(cases)("joins the annotation %j with %j, sorted and once each", (annotation, system, joined) => {
    expect(mountOptionFromSpec(specWith(annotation), ...system)).toEqual(joined);
  });

  it("lets the annotation win over the field", () => {
    expect(mountOptionFromSpec(specWith("ro", ["rw"]))).toEqual(["ro"]);
    expect(mountOptionFromSpec(specWith(undefined, ["rw"]))).toEqual(["rw"]);
  });

  it("gives the system's options back as they are when none are asked for", () => {
    expect(mountOptionFromSpec(specWith(undefined), "b", "a", "b")).toEqual(["b", "a", "b"]);
  });
});

describe("joinMountOptions", () => {
  it("drops empty options of the user and keeps those of the system", () => {
    expect(joinMountOptions(["", "ro"], [])).toEqual(["ro"]);
    expect(joinMountOptions(["ro"], [""])).toEqual(["", "ro"]);
  });
});

describe("checkMountOptionSupport", () => {
  it("refuses options where the plugin takes none", () => {
    expect(() => checkMountOptionSupport(specWith("ro"), testPlugin("p"))).toThrow("mount options are not supported for this volume type");
    expect(() => checkMountOptionSupport(specWith("ro"), testPlugin("p", { supportsMountOption: () => true }))).not.toThrow();
    expect(() => checkMountOptionSupport(newSpecFromVolume({ name: "v" }), testPlugin("p"))).not.toThrow();
  });
});
