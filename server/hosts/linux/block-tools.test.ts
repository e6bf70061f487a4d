import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codeOf } from "@/lib/errors";
import { MemoryLog } from "@/server/hosts/memory";
import type { Exec } from "@/server/volume/ports";
import { LinuxBlockTools } from "./block-tools";
import { LinuxExec } from "./exec";
import { createLinuxHost } from "./linux-host";
import type { LinuxHost } from "./linux-host";
import { MountReader } from "./mount-reader";
import { isolatedFolder, removeFolder } from "./test-folder";

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.log("a device held while it is formatted: skipped: not root");
const sizeBytes = 1 << 24;

let folder = "";
let host: LinuxHost;

function disk(path: string): string {
  writeFileSync(path, "");
  truncateSync(path, sizeBytes);
  return path;
}

function isZero(path: string): boolean {
  const buffer = Buffer.alloc(sizeBytes);
  const fd = openSync(path, "r");
  readSync(fd, buffer, 0, buffer.length, 0);
  closeSync(fd);
  return buffer.every((byte) => byte === 0);
}

/** Tries to put another file behind the device once the program of this name is about to run. */
function swapping(before: string, device: string, file: string): Exec {
  const exec = new LinuxExec(new MemoryLog());
  return {
    run: async (command, args, options) => {
      if (command === before) {
        execFileSync("losetup", ["-d", device]);
        try {
          execFileSync("losetup", [device, file], { stdio: "ignore" });
        } catch (error) {
          expect(codeOf(error)).toBeUndefined();
        }
      }
      return exec.run(command, args, options);
    },
  };
}

describe.skipIf(!isRoot)("block tools on Linux", () => {
  beforeEach(async () => {
    folder = isolatedFolder();
    host = await createLinuxHost({ root: join(folder, "d"), log: new MemoryLog(), mode: "root" });
  });
  afterEach(async () => {
    for (const { device } of await host.loop.list()) await host.loop.detach(device);
    await host.close();
    removeFolder(folder);
  });

  it.each(["blkid", "blockdev", "mkfs.ext4"])("format never reaches a disk that takes the device's number before %s", async (program) => {
    const [empty, precious] = [disk(join(host.root, "empty")), disk(join(folder, "precious"))];
    const device = await host.loop.attach(empty);
    const tools = new LinuxBlockTools({ access: host.access, mounts: new MountReader(), exec: swapping(program, device, precious) });
    try {
      await tools.format(device, "ext4", []);
      expect(isZero(empty)).toBe(false);
      expect(isZero(precious)).toBe(true);
    } finally {
      const over = execFileSync("losetup", ["-n", "-O", "NAME", "-j", precious], { encoding: "utf8" }).trim();
      if (over !== "") execFileSync("losetup", ["-d", over]);
    }
  });
});
