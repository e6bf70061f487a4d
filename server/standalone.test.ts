/** A whole standalone node in this process; left out where nothing can be mounted. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDataFolder } from "@/server/data-folder";
import { MemoryLog } from "@/server/hosts/memory";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { parseOptions } from "@/server/options";
import { resetExit, runReset } from "@/server/reset";
import { openSharedOperations } from "@/server/shared-operations";
import { openStandalone } from "@/server/standalone";

const hasNamespaces = spawnSync("unshare", ["-Urm", "true"]).status === 0;

let folder = "";
let data = "";
beforeEach(() => {
  folder = isolatedFolder();
  data = join(folder, "d");
});
afterEach(async () => {
  expect(await runReset(["--data", data, "--yes", "--all"], { print: () => undefined })).toBe(resetExit.done);
  removeFolder(folder);
});

/** A pod whose driver says that it has begun, and then hangs in one of its calls. */
function writeWorld(hangsIn: string): { readonly begun: string } {
  const begun = join(folder, "begun");
  const driver = join(data, "flexvolume/voldeck.dev~hangs/hangs");
  mkdirSync(join(driver, ".."), { recursive: true });
  const script = `#!/bin/sh
if [ "$1" = ${hangsIn} ]; then echo $$ > ${begun}.new; mv ${begun}.new ${begun}; exec sleep 1000; fi
[ "$1" = init ] && echo '{"status":"Success","capabilities":{"attach":false}}' || echo '{"status":"Not supported"}'
`;
  writeFileSync(driver, script, { mode: 0o755 });
  mkdirSync(join(data, "manifests"));
  const volumes = [{ name: "data", flexVolume: { driver: "voldeck.dev/hangs" } }];
  const containers = [{ name: "c", image: "busybox", volumeMounts: [{ name: "data", mountPath: "/data" }] }];
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "hangs", namespace: "default" }, spec: { containers, volumes } };
  writeFileSync(join(data, "manifests/pod.json"), JSON.stringify(pod));
  return { begun };
}

/** False for a process that ended and was not reaped yet. */
function isAlive(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

describe.skipIf(!hasNamespaces && process.getuid?.() !== 0)("a standalone node", () => {
  it.each(["init", "mount"])("stops at once while a driver hangs in %s", { timeout: 60_000 }, async (call) => {
    const held = await openDataFolder(data, process.getuid?.() ?? 0);
    const { begun } = writeWorld(call);
    const options = parseOptions(["--data", data, "--port", "0"], {});
    const given = { log: new MemoryLog(), point: () => undefined };
    const shared = openSharedOperations({ journalPath: join(data, "journal.sqlite"), ...given });
    const standalone = await openStandalone({ options, manifestsFolder: join(data, "manifests"), ...given, shared });
    const started = standalone.start?.();
    await expect.poll(() => existsSync(begun), { timeout: 30_000 }).toBe(true);
    const beginMs = performance.now();
    await standalone.close();
    expect(performance.now() - beginMs).toBeLessThan(2000);
    expect(isAlive(readFileSync(begun, "utf8").trim())).toBe(false);
    await started;
    shared.close();
    await held.release();
  });
});
