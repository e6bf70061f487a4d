import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdirSync, openSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "@/server/hosts/memory";
import { mountsAtOrBelow } from "@/server/hosts/mount-queries";
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

const apart = new Set<ChildProcess>();

/** Runs a shell script in a mount namespace of its own until `end`; `said` is its first line. */
async function inNamespace(script: string, ...args: readonly string[]): Promise<{ readonly said: string; end(): Promise<void> }> {
  const child = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", script, "sh", ...args]);
  apart.add(child);
  const [said] = await once(child.stdout.setEncoding("utf8"), "data");
  return { said: String(said).trim(), end: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  apart.delete(child);
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe.skipIf(!isRoot)("loop devices", () => {
  beforeEach(async () => {
    folder = isolatedFolder();
    host = await createLinuxHost({ root: join(folder, "d"), log: new MemoryLog(), mode: "root" });
  });
  afterEach(async () => {
    for (const child of apart) await ended(child);
    for (const target of mountsAtOrBelow(await host.mounter.mountInfo(), folder).toReversed()) execFileSync("umount", [target]);
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

  it("are not detached while they are mounted, by whomever and in whatever namespace", async () => {
    const device = await host.loop.attach(file(join(host.root, "disk")));
    await host.ports.blockTools.format(device, "ext4", []);
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    const busy = { code: "EBUSY", message: `losetup ${device}: device or resource busy` };

    execFileSync("mount", [device, elsewhere]);
    await expect(host.loop.detach(device)).rejects.toMatchObject(busy);
    execFileSync("umount", [elsewhere]);

    const { end } = await inNamespace('mount "$1" "$2" && echo mounted && exec sleep 60', device, elsewhere);
    await expect(host.loop.detach(device)).rejects.toMatchObject(busy);
    await end();

    const claim = openSync(device, constants.O_RDONLY | constants.O_EXCL);
    await expect(host.loop.detach(device)).rejects.toMatchObject(busy);
    closeSync(claim);

    const node = join(folder, "node");
    writeFileSync(node, "");
    execFileSync("mount", ["--bind", device, node]);
    await expect(host.loop.detach(device)).rejects.toMatchObject(busy);
    execFileSync("umount", [node]);
    expect(await host.loop.list()).toHaveLength(1);
    await host.loop.detach(device);
  });

  it("are ours by their inode: a file at the same path in another namespace is another's", async () => {
    const disk = file(join(host.root, "disk"));
    const script = 'mount -t tmpfs tmpfs "$1" && truncate -s 16M "$1/disk" && losetup -f --show "$1/disk" && exec sleep 60';
    const { said: device } = await inNamespace(script, host.root);
    try {
      expect(readFileSync(`/sys/block/${basename(device)}/loop/backing_file`, "utf8")).toBe(`${disk}\n`);
      expect(await host.loop.list()).toEqual([]);
      expect(await host.access.mayUseDevice(device)).toBe(false);
      await expect(host.loop.detach(device)).rejects.toMatchObject({ code: "EACCES" });
      await expect(host.ports.blockTools.format(device, "ext4", [])).rejects.toMatchObject({ code: "EACCES" });
    } finally {
      execFileSync("losetup", ["-d", device]);
    }
  });

  it("are not made over a file that another device covers in part", async () => {
    const disk = file(join(host.root, "disk"));
    const part = execFileSync("losetup", ["-f", "--show", "--offset", "1048576", disk], { encoding: "utf8" }).trim();
    await expect(host.loop.attach(disk)).rejects.toMatchObject({ message: expect.stringContaining("overlapping loop device") });
    await host.loop.detach(part);
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
