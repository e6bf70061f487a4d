import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { hostContract } from "@/server/hosts/host-contract";
import { programNames } from "@/server/hosts/contract-kit";
import type { ContractHost, ProgramName } from "@/server/hosts/contract-kit";
import { MemoryLog } from "@/server/hosts/memory";
import { mountsAtOrBelow } from "@/server/hosts/mount-queries";
import { createLinuxHost, parseMountInfo } from "@/server/hosts/linux";
import { isolatedFolder, removeFolder } from "./test-folder";

const scripts: Readonly<Record<ProgramName, string>> = {
  "echo-args": 'for each in "$@"; do printf "%s\\n" "$each"; done',
  "exit-3": "echo failing; exit 3",
  noisy: "head -c 100000 /dev/zero | tr '\\0' x",
  "both-streams": "echo out; echo err >&2",
  where: "pwd",
  hang: "exec sleep 1000",
  stubborn: "trap '' TERM; sleep 1000; sleep 1000",
  "stubborn-child": "(trap '' TERM; sleep 1000; sleep 1000) & wait",
  killed: "kill -KILL $$",
  "leaves-daemon": "sleep 2 & echo started",
  "reads-input": "cat; echo end of input",
  "not-executable": "true",
};

const isRoot = process.geteuid?.() === 0;

async function hostOf(mode: "root" | "user-namespace"): Promise<ContractHost> {
  const folder = isolatedFolder();
  const host = await createLinuxHost({ root: join(folder, "data"), log: new MemoryLog(), mode });
  const root = join(host.root, "r");
  const outside = join(folder, "outside");
  const programs = join(folder, "programs");
  for (const path of [root, outside, programs]) mkdirSync(path);
  for (const name of programNames) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${scripts[name]}\n`);
    chmodSync(join(programs, name), name === "not-executable" ? 0o644 : 0o755);
  }
  const files = new Map<string, string>();
  const foreignDevices: string[] = [];
  return {
    root,
    allowedRoot: host.root,
    outside,
    ports: host.ports,
    mounter: host.mounter,
    foreignDevice: async () => {
      // Without root there is no device to be had, and any will do.
      if (!isRoot) return "/dev/loop0";
      writeFileSync(join(outside, "disk"), "");
      truncateSync(join(outside, "disk"), 1 << 24);
      const device = execFileSync("losetup", ["-f", "--show", join(outside, "disk")], { encoding: "utf8" }).trim();
      foreignDevices.push(device);
      return device;
    },
    program: (name) => join(programs, name),
    putSpecial: async (path, kind) => {
      expect(kind).toBe("fifo");
      execFileSync("mkfifo", [path]);
    },
    makeDevice: async (sizeBytes) => {
      const file = join(host.root, `disk${files.size}`);
      writeFileSync(file, "");
      truncateSync(file, Number(sizeBytes));
      const device = await host.loop.attach(file);
      files.set(device, file);
      return device;
    },
    growDevice: async (device, sizeBytes) => {
      truncateSync(files.get(device) ?? "", Number(sizeBytes));
      await host.loop.refreshSize(device);
    },
    scribble: async (device, where) => {
      const size = Number(await host.ports.blockTools.sizeBytes(device));
      const fd = openSync(device, "r+");
      writeSync(fd, "unknown", where === "start" ? 5000 : size - 5000);
      closeSync(fd);
    },
    cleanUp: async () => {
      const table = await host.mounter.mountInfo();
      for (const path of [...mountsAtOrBelow(table, host.root)].reverse()) await host.mounter.unmount(path);
      for (const device of files.keys()) await host.loop.detach(device);
      for (const device of foreignDevices) execFileSync("losetup", ["-d", device]);
      expect(mountsAtOrBelow(await host.mounter.mountInfo(), folder)).toEqual([]);
      expect(await host.loop.list()).toEqual([]);
      await host.namespace?.end();
      expect(programsOf(programs)).toEqual([]);
      await host.close();
      removeFolder(folder);
    },
  };
}

afterAll(() => {
  const targets = parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8")).map((row) => row.mountPoint);
  expect(targets.filter((path) => path.startsWith(join(realpathSync(tmpdir()), "vd-")))).toEqual([]);
});

if (isRoot) hostContract({ name: "linux as root", create: () => hostOf("root") });

hostContract({
  name: "linux in a user namespace",
  create: () => hostOf("user-namespace"),
  withoutMounts: withoutNamespace(),
  withoutDevices: isRoot ? "file systems on devices need root; run above" : "file systems on devices need root",
});
if (!isRoot) console.log("contract linux as root: skipped, not root");

/** Command lines that still run something of a folder. */
function programsOf(programs: string): readonly string[] {
  const lines = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return "";
    }
  });
  return lines.filter((line) => line.includes(`${programs}/`));
}

/** The system's refusal, or undefined. */
function withoutNamespace(): string | undefined {
  const { status, stderr } = spawnSync("unshare", ["-Urm", "true"], { encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim();
}
