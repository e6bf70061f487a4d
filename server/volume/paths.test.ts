import { describe, expect, it } from "vitest";
import { escapeQualifiedName, hasMountRefs, kubeletPaths, splitQualifiedName, unescapeQualifiedName } from "@/server/volume/paths";
import { getWindowsPath, isWindowsLocalPath, isWindowsUNCPath, makeAbsolutePath } from "@/server/volume/windows-paths";

describe("names in paths", () => {
  it("are escaped and read back, except where the name had a tilde", () => {
    expect(escapeQualifiedName("kubernetes.io/csi")).toBe("kubernetes.io~csi");
    expect(unescapeQualifiedName("a~b~c")).toBe("a/b/c");
    expect(splitQualifiedName("a/b")).toEqual(["a", "b"]);
    expect(splitQualifiedName("a")).toEqual(["", "a"]);
  });
});

describe("kubeletPaths", () => {
  const paths = kubeletPaths("/var/lib/kubelet");
  it.each([
    [paths.pluginsRegistrationDir, "plugins_registry"],
    [paths.pluginDir("kubernetes.io/csi"), "plugins/kubernetes.io/csi"],
    [paths.volumeDevicePluginDir("kubernetes.io/csi"), "plugins/kubernetes.io/csi/volumeDevices"],
    [paths.podVolumeDir("uid", "kubernetes.io~nfs", "v"), "pods/uid/volumes/kubernetes.io~nfs/v"],
    [paths.podPluginDir("uid", "p"), "pods/uid/plugins/p"],
    [paths.podVolumeDeviceDir("uid", "p"), "pods/uid/volumeDevices/p"],
    [paths.podVolumeSubpathsDir("uid"), "pods/uid/volume-subpaths"],
    [paths.podContainerDir("uid", "c"), "pods/uid/containers/c"],
  ])("%s", (path, below) => {
    expect(path).toBe(`/var/lib/kubelet/${below}`);
  });
});

describe("hasMountRefs", () => {
  const device = "/var/lib/kubelet/plugins/kubernetes.io/some-plugin/mounts/volume-XXXX";
  it("does not count the same device path below another root", () => {
    expect(hasMountRefs(device, [`/home/x${device}`, device.replace("/var/lib", "/mnt")])).toBe(false);
  });
  it("counts any other path", () => {
    expect(hasMountRefs(device, [device, "/local/data/volume-XXXX"])).toBe(true);
  });
  it("compares whole paths that lie elsewhere", () => {
    expect(hasMountRefs("/data/x", ["/other/plugins/kubernetes.io/x"])).toBe(true);
  });
});

describe("paths on Windows", () => {
  it.each([
    ["/var/lib", String.raw`c:\var\lib`, "c:/var/lib"],
    ["/", "c:\\", "c:/"],
    ["", "", "c:\\"],
    ["d:/x", String.raw`d:\x`, "d:/x"],
    ["x", "x", String.raw`c:\x`],
  ])("%j", (path, windows, absolute) => {
    expect(getWindowsPath(path)).toBe(windows);
    expect(makeAbsolutePath("windows", path)).toBe(absolute);
  });
  it("tell shares from local paths, and neither on Linux", () => {
    expect(isWindowsUNCPath("windows", String.raw`\\server\share`)).toBe(true);
    expect(isWindowsLocalPath("windows", String.raw`\\server\share`)).toBe(false);
    expect(isWindowsLocalPath("windows", String.raw`\x`)).toBe(true);
    expect(isWindowsLocalPath("linux", "/x")).toBe(false);
    expect(makeAbsolutePath("linux", "a/../b")).toBe("/b");
  });
});
