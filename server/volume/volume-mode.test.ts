import { describe, expect, it } from "vitest";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";
import { checkVolumeModeFilesystem, getVolumeMode, isLocalEphemeralVolume } from "@/server/volume/volume-mode";

const ofMode = (volumeMode?: string): ReturnType<typeof newSpecFromVolume> =>
  newSpecFromPersistentVolume({ metadata: { name: "pv" }, spec: { volumeMode } }, false);

describe("the mode of a volume", () => {
  it("is that of the persistent volume, and Filesystem without one", () => {
    expect(getVolumeMode(ofMode("Block"))).toBe("Block");
    expect(getVolumeMode(newSpecFromVolume({ name: "v" }))).toBe("Filesystem");
    expect(getVolumeMode(newSpecFromVolume(undefined))).toBe("Filesystem");
    expect(getVolumeMode(undefined)).toBe("Filesystem");
  });
  it("must be said by a persistent volume", () => {
    expect(() => getVolumeMode(ofMode())).toThrow("cannot get volumeMode for volume: pv");
  });
  it("is a file system unless it is Block", () => {
    expect([ofMode("Block"), ofMode("Filesystem")].map(checkVolumeModeFilesystem)).toEqual([false, true]);
  });
});

describe("isLocalEphemeralVolume", () => {
  it.each([
    [{ name: "v", emptyDir: {} }, true],
    [{ name: "v", emptyDir: { medium: "Memory" } }, false],
    [{ name: "v", configMap: { name: "c" } }, true],
    [{ name: "v", gitRepo: { repository: "r" } }, true],
    [{ name: "v", secret: { secretName: "s" } }, false],
    [{ name: "v" }, false],
  ])("of %j is %s", (volume, local) => {
    expect(isLocalEphemeralVolume(volume)).toBe(local);
  });
});
