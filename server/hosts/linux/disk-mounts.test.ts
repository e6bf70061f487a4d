import { describe, expect, it } from "vitest";
import { requireDiskMount } from "./disk-mounts";

const target = "/data/plugins/mounts/v";

describe("requireDiskMount", () => {
  it.each([
    ["xfs", ["noatime", "logbsize=256k"]],
    ["ext4", ["ro", "defaults"]],
    ["", []],
  ])("takes %j with %j", (fsType, options) => {
    expect(() => requireDiskMount({ fsType, options, target })).not.toThrow();
  });

  it.each([
    ["an overlay over folders of the machine", "overlay", ["lowerdir=/etc"], "overlay"],
    ["a file system whose mounting starts a program", "fuse.dd", [], "fuse.dd"],
    ["a list of types", "xfs,overlay", [], "xfs,overlay"],
    ["a file system without a device", "tmpfs", [], "tmpfs"],
    ["a log on another device", "xfs", ["logdev=/dev/sda"], "logdev=/dev/sda"],
    ["the same, hidden behind a comma", "xfs", ["ro,rtdev=/dev/sda"], "rtdev=/dev/sda"],
    ["a way out of the file system", "ext4", ["X-mount.subdir=../x"], "X-mount.subdir=../x"],
  ])("refuses %s", (_, fsType, options, named) => {
    expect(() => requireDiskMount({ fsType, options, target })).toThrow(expect.objectContaining({ code: "refused", message: expect.stringContaining(named) }));
  });
});
