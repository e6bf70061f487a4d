import { execFileSync } from "node:child_process";
import { truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "@/server/hosts/memory";
import { createLinuxHost } from "./linux-host";
import type { LinuxHost } from "./linux-host";
import { isolatedFolder, removeFolder } from "./test-folder";

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.log("loop devices: skipped: not root");

let folder = "";
let host: LinuxHost;

function file(path: string): string {
  writeFileSync(path, "");
  truncateSync(path, 1 << 24);
  return path;
}

describe.skipIf(!isRoot)("loop devices", () => {
  beforeEach(async () => {
    folder = isolatedFolder();
    host = await createLinuxHost({ root: join(folder, "d"), log: new MemoryLog(), mode: "root" });
  });
  afterEach(async () => {
    for (const { device } of await host.loop.list()) await host.loop.detach(device);
    expect(await host.loop.list()).toEqual([]);
    await host.close();
    removeFolder(folder);
  });

  it("are one for one file, however often it is attached", async () => {
    const disk = file(join(host.root, "a disk"));
    const device = await host.loop.attach(disk);
    expect(await host.loop.attach(disk)).toBe(device);
    expect(await host.loop.list()).toEqual([{ device, file: disk, deleted: false }]);
    expect(await host.loop.find(disk)).toEqual([device]);
  });

  it("take over the size of their file when told to", async () => {
    const disk = file(join(host.root, "disk"));
    const device = await host.loop.attach(disk);
    truncateSync(disk, 1 << 25);
    expect(await host.ports.blockTools.sizeBytes(device)).toBe(1n << 24n);
    await host.loop.refreshSize(device);
    expect(await host.ports.blockTools.sizeBytes(device)).toBe(1n << 25n);
  });

  it("say so when their file is deleted, and are ours still", async () => {
    const disk = file(join(host.root, "disk"));
    const device = await host.loop.attach(disk);
    unlinkSync(disk);
    expect(await host.loop.list()).toEqual([{ device, file: disk, deleted: true }]);
    expect(await host.ports.blockTools.probe(device)).toEqual({ fsType: "" });
  });

  it("of others are neither made, listed nor detached", async () => {
    const disk = file(join(folder, "disk"));
    await expect(host.loop.attach(disk)).rejects.toMatchObject({ code: "EACCES" });
    const device = execFileSync("losetup", ["-f", "--show", disk], { encoding: "utf8" }).trim();
    try {
      expect(await host.loop.list()).toEqual([]);
      await expect(host.loop.detach(device)).rejects.toMatchObject({ code: "EACCES" });
      await expect(host.loop.refreshSize(device)).rejects.toMatchObject({ code: "EACCES" });
    } finally {
      execFileSync("losetup", ["-d", device]);
    }
  });

  it("are held while they are mounted", async () => {
    const device = await host.loop.attach(file(join(host.root, "disk")));
    const target = join(host.root, "t");
    await host.ports.files.mkdirAll(target, 0o755);
    expect(await host.hostUtils.deviceOpened(device)).toBe(false);
    await host.mounter.formatAndMount({ source: device, target, fsType: "ext4", options: [] });
    expect(await host.hostUtils.deviceOpened(device)).toBe(true);
    expect(await host.hostUtils.getFileType(device)).toBe("BlockDevice");
    await host.mounter.unmount(target);
    expect(await host.hostUtils.deviceOpened(device)).toBe(false);
  });
});
