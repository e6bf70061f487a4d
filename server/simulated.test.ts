/** A whole simulated node in this process, on the sample of a first start. */
import { lstat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { NodeReport } from "@/lib/node-report";
import { openDataFolder } from "@/server/data-folder";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { MemoryLog } from "@/server/hosts/memory";
import { parseOptions } from "@/server/options";
import { copySample } from "@/server/sample";
import { openSharedOperations } from "@/server/shared-operations";
import { openStandalone, type Standalone } from "@/server/standalone";

let folder = "";
beforeEach(() => {
  folder = isolatedFolder();
});
afterEach(() => removeFolder(folder));

const volumes = [
  { name: "config", configMap: { name: "web" } },
  { name: "tls", secret: { secretName: "web-tls" } },
];
const shell = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "shell", namespace: "shop" },
  spec: { volumes, containers: [{ name: "c", image: "busybox", volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) }] },
};

/** The first report that fits; what changes the node makes it report anew. */
function reportOf(standalone: Standalone, fits: (report: NodeReport) => boolean): Promise<NodeReport> {
  const node = standalone.node();
  if (!node) throw new Error("the node was started");
  return new Promise((resolve) => {
    const look = (report: NodeReport | undefined) => void (report && fits(report) && resolve(report));
    node.onReport(look);
    look(node.report());
  });
}

it("a simulated node sets up the sample's volumes in memory, now, and says what it can't simulate", { timeout: 60_000 }, async () => {
  const data = join(folder, "d");
  const held = await openDataFolder(data, process.getuid?.() ?? 0);
  await copySample(process.cwd(), data);
  // The sample's own user of these waits for disks, which need root.
  await writeFile(join(data, "manifests/50-shell.json"), JSON.stringify(shell));
  const options = parseOptions(["--data", data, "--simulated"], {});
  const begunMs = Date.now();
  const given = { log: new MemoryLog(), point: () => undefined };
  const shared = openSharedOperations({ journalPath: join(data, "journal.sqlite"), ...given });
  const standalone = await openStandalone({ options, manifestsFolder: join(data, "manifests"), ...given, shared });
  try {
    await standalone.start?.();
    const mounted = (report: NodeReport) => new Set(report.volumes.filter(({ state }) => state === "mounted").map(({ podName, volumeName }) => `${podName}/${volumeName}`));
    const wanted = ["cache/hot", "cache/cold", "shell/config", "shell/tls"];
    const report = await reportOf(standalone, (each) => wanted.every((name) => mounted(each).has(name)));
    expect(report).toMatchObject({ mounter: "simulated", root: join(data, "node"), flexDrivers: [{ name: "voldeck.dev/share" }] });
    expect(Date.parse(report.takenAt)).toBeGreaterThanOrEqual(begunMs);
    expect(await lstat(join(data, "node/pods")).catch(({ code }: { code: string }) => code)).toBe("ENOENT");
    const share = standalone.view(standalone.clusterId)?.pluginHosts()[0]?.table.rows.find(({ name }) => name === "voldeck.dev/share");
    expect(share).toMatchObject({ state: "failed", error: expect.stringContaining("this node is simulated and runs no programs") as string });
  } finally {
    await standalone.close();
    shared.close();
    await held.release();
  }
});
