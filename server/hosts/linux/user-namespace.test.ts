import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryLog } from "@/server/hosts/memory";
import { createLinuxHost } from "./linux-host";
import type { LinuxHost } from "./linux-host";
import { identityOf } from "./process-identity";
import { holderCommand } from "./user-namespace";
import { isolatedFolder, removeFolder } from "./test-folder";

const refusal = spawnSync("unshare", ["-Urm", "true"], { encoding: "utf8" });
if (refusal.status !== 0) console.log(`user namespace: skipped: ${refusal.stderr.trim()}`);

let folder = "";
let host: LinuxHost;
const open = (): Promise<LinuxHost> => createLinuxHost({ root: join(folder, "d"), log: new MemoryLog(), mode: "user-namespace" });

describe.skipIf(refusal.status !== 0)("a user namespace", () => {
  beforeEach(async () => {
    folder = isolatedFolder();
    host = await open();
  });
  afterEach(async () => {
    await host.namespace?.end();
    await host.close();
    removeFolder(folder);
  });

  const tmpfs = async (target: string): Promise<void> => {
    mkdirSync(target);
    await host.mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options: ["size=1m"] });
  };

  it("keeps its mounts from the rest of the machine", async () => {
    const target = `${host.root}/t`;
    await tmpfs(target);
    await host.ports.files.writeFile(`${target}/f`, "inside", 0o644);
    expect(await host.ports.files.readText(`${target}/f`)).toBe("inside");
    expect(readdirSync(target)).toEqual([]);
    expect(execFileSync("cat", ["/proc/self/mountinfo"], { encoding: "utf8" })).not.toContain(target);
  });

  it.skipIf(process.getuid?.() !== 0)("lets go of what is unmounted outside, where the machine's mounts are shared", () => {
    const target = join(folder, "outside");
    mkdirSync(target);
    const script = `
      mount -t tmpfs outside "$0"
      "$@" & holder=$!
      until [ "$(cat /proc/$holder/comm)" = sleep ]; do :; done
      grep -q " $0 " /proc/$holder/mountinfo && echo copied
      umount "$0"
      grep -q " $0 " /proc/$holder/mountinfo || echo gone
      kill $holder`;
    const said = execFileSync("unshare", ["-m", "--propagation", "shared", "sh", "-c", script, target, ...holderCommand], { encoding: "utf8", timeout: 10_000 });
    expect(said).toBe("copied\ngone\n");
  });

  it("outlives a restart, with what is mounted in it", async () => {
    const target = `${host.root}/t`;
    await tmpfs(target);
    await host.ports.files.writeFile(`${target}/f`, "kept", 0o644);
    const holder = host.namespace?.holderPid;
    await host.close();
    host = await open();
    expect(host.namespace?.holderPid).toBe(holder);
    expect(await host.ports.files.readText(`${target}/f`)).toBe("kept");
  });

  it("is made anew when its holder is gone", async () => {
    const holder = host.namespace?.holderPid ?? 0;
    process.kill(holder, "SIGKILL");
    await vi.waitFor(async () => expect(await identityOf(holder)).toBeUndefined(), { timeout: 15_000 });
    await host.close();
    host = await open();
    expect(host.namespace?.holderPid).not.toBe(holder);
  });

  it("is where drivers run: what they mount is seen", async () => {
    const target = `${host.root}/t`;
    mkdirSync(target);
    const driver = join(folder, "driver");
    writeFileSync(driver, '#!/bin/sh\nmount -t tmpfs tmpfs "$1" && pwd\n', { mode: 0o755 });
    const result = await host.ports.exec.run(driver, [target], { timeoutMs: 10_000, cwd: host.root });
    expect(result).toMatchObject({ exitCode: 0, output: `${host.root}\n` });
    expect(await host.mounter.isMountPoint(target)).toBe(true);
  });

  it("never lets a mount point be removed from outside of it", async () => {
    await tmpfs(`${host.root}/t`);
    await expect(host.ports.files.rmdir(`${host.root}/t`)).rejects.toMatchObject({ code: "EBUSY" });
    await expect(host.ports.files.rename(`${host.root}/t`, `${host.root}/u`)).rejects.toMatchObject({ code: "EBUSY" });
    expect(await host.mounter.isMountPoint(`${host.root}/t`)).toBe(true);
  });
});
