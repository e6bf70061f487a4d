/** From the option to mount(8): an NFS export that was allowed is mounted, and no other. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Access } from "@/server/hosts/linux/access";
import { LinuxBlockTools } from "@/server/hosts/linux/block-tools";
import { LinuxFiles } from "@/server/hosts/linux/files";
import { ForeignCalls } from "@/server/hosts/linux/foreign-call";
import { MountReader } from "@/server/hosts/linux/mount-reader";
import { LinuxMounter } from "@/server/hosts/linux/mounter";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { MemoryLog } from "@/server/hosts/memory";
import type { Exec } from "@/server/volume/ports";
import { parseOptions } from "./options";

let folder = "";
let ran: string[] = [];

const exec: Exec = {
  run: async (command, args) => {
    ran.push([command, ...args].join(" "));
    return { exitCode: 0, signal: undefined, output: "", timedOut: false, truncated: false };
  },
};

beforeEach(() => {
  folder = isolatedFolder();
  mkdirSync(join(folder, "target"));
  ran = [];
});
afterEach(() => removeFolder(folder));

async function mounterWith(args: readonly string[]): Promise<LinuxMounter> {
  const access = await Access.create({ root: folder, allowedDevices: parseOptions(args, { HOME: folder }).allowDevices });
  const mounts = new MountReader("self");
  const log = new MemoryLog();
  const files = new LinuxFiles({ access, mounts, foreignCalls: new ForeignCalls({ log }), exec, log });
  return new LinuxMounter({ access, files, mounts, exec, blockTools: new LinuxBlockTools({ access, exec, mounts }) });
}

it.each(["127.0.0.1:/x", "[::1]:/x", "srv.example:/export/a"])("mounts %s after --allow-device, and nothing below or beside it", async (source) => {
  const mounter = await mounterWith(["--allow-device", source]);
  const target = `${folder}/target`;
  await mounter.mount({ source, target, fsType: "nfs", options: [] });
  expect(ran).toEqual([`mount -t nfs ${source} ${target}`]);
  for (const other of [`${source}/below`, "other:/x"]) {
    await expect(mounter.mount({ source: other, target, fsType: "nfs", options: [] })).rejects.toMatchObject({ code: "EACCES" });
  }
});
