import { describe, expect, it } from "vitest";
import { createMemoryHost } from "@/server/hosts/memory";
import type { FileKind } from "@/server/volume/ports";

describe("file types", () => {
  it.each<readonly [FileKind, string]>([
    ["directory", "Directory"],
    ["file", "File"],
    ["socket", "Socket"],
    ["char-device", "CharDevice"],
    ["block-device", "BlockDevice"],
  ])("%s is %s, through a link too", async (kind, type) => {
    const { hostUtils } = createMemoryHost({ files: { "/x": { kind }, "/l": { kind: "symlink", target: "x" } } });
    expect(await hostUtils.getFileType("/l")).toBe(type);
  });

  it("a pipe is none of them", async () => {
    const { hostUtils } = createMemoryHost({ files: { "/x": { kind: "fifo" } } });
    await expect(hostUtils.getFileType("/x")).rejects.toThrow("only recognise file, directory, socket, block device and character device");
  });

  it("what is missing, or only a link to it, does not exist", async () => {
    const { hostUtils } = createMemoryHost({ files: { "/l": { kind: "symlink", target: "gone" } } });
    await expect(hostUtils.getFileType("/x y")).rejects.toMatchObject({ code: "ENOENT", message: 'path "/x y" does not exist' });
    await expect(hostUtils.getFileType("/l")).rejects.toThrow('path "/l" does not exist');
    expect(await hostUtils.pathExists("/l")).toBe(false);
    expect(await hostUtils.pathIsDevice("/l")).toBe(false);
  });

  it("fixed answers come before the tree", async () => {
    const { hostUtils } = createMemoryHost({ fileTypes: { "/d": "BlockDevice", "/no": "" }, fileTypeOfOthers: "Directory" });
    expect(await hostUtils.getFileType("/d")).toBe("BlockDevice");
    expect(await hostUtils.getFileType("/other")).toBe("Directory");
    await expect(hostUtils.getFileType("/no")).rejects.toThrow('path "/no" does not exist');
  });
});

describe("a mount whose server is gone", () => {
  it("exists all the same", async () => {
    const { files, hostUtils } = createMemoryHost();
    files.failOn("stat", "/dead", Object.assign(new Error("stat /dead: transport endpoint is not connected"), { code: "ENOTCONN" }));
    expect(await hostUtils.pathExists("/dead")).toBe(true);
  });
});

describe("device name of a mount", () => {
  const global = "/var/lib/kubelet/plugins/kubernetes.io/fc";
  it("is the part below the plugin's global mounts", async () => {
    const { hostUtils } = createMemoryHost({
      mounting: "recorded",
      mounts: [{ device: "/dev/sdb", path: "/pod" }, { device: "/dev/sdb", path: `${global}/mounts/a/b` }],
    });
    expect(await hostUtils.getDeviceNameFromMount("/pod", global)).toBe("a/b");
  });

  it("is the last name of the path when no global mount is there", async () => {
    const { hostUtils } = createMemoryHost({
      mounting: "recorded",
      mounts: [{ device: "/dev/sdb", path: "/pod/vol" }, { device: "/dev/sdb", path: "/elsewhere" }],
    });
    expect(await hostUtils.getDeviceNameFromMount("/pod/vol", global)).toBe("vol");
  });

  it("is an error for what is not mounted", async () => {
    const { hostUtils } = createMemoryHost({ mounting: "recorded" });
    await expect(hostUtils.getDeviceNameFromMount("/pod", global)).rejects.toThrow("directory /pod is not mounted");
  });
});

describe("SELinux", () => {
  const mountWith = async (options: readonly string[]) => {
    const memory = createMemoryHost({ seLinuxContexts: {}, files: { "/m": { kind: "directory" } } });
    await memory.mounter.mount({ source: "tmpfs", target: "/m", fsType: "tmpfs", options });
    return memory.hostUtils;
  };

  it("takes the context from the mount, without its quotes", async () => {
    const utils = await mountWith(['context="system_u:object_r:container_file_t:s0:c1,c2"']);
    expect(await utils.getSELinuxMountContext("/m/below")).toBe("system_u:object_r:container_file_t:s0:c1,c2");
  });

  it("has support where the mount is labelled", async () => {
    expect(await (await mountWith(["seclabel"])).getSELinuxSupport("/m")).toBe(true);
    expect(await (await mountWith([])).getSELinuxSupport("/m")).toBe(false);
  });

  it("has neither where it is off", async () => {
    const { hostUtils } = createMemoryHost();
    expect(await hostUtils.getSELinuxMountContext("/m")).toBe("");
    expect(await hostUtils.getSELinuxSupport("/m")).toBe(false);
  });
});
