import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import { followOperations, mountedSize } from "@/server/cluster-operations";
import type { Hosts } from "@/server/cluster-view";
import { FakeClock, MemoryLog } from "@/server/hosts/memory";

const pod: Pod = { metadata: { namespace: "shop", name: "cache", uid: "u" }, spec: { nodeName: "node-1", containers: [] } };
const hot = { podUID: "u", specName: "hot", volumeName: "hot", pluginName: "kubernetes.io/empty-dir", mode: "Filesystem", path: "/p", found: true, mounts: [], capacityBytes: "4096", usedBytes: "0" } as const;

function hosts(nodeName: string, volumes: readonly ReportedVolume[] | undefined): Hosts {
  const report: NodeReport | undefined = volumes && { nodeName, takenAt: "", root: "/", mounter: "root", volumes, otherMounts: [], leftovers: [], pluginSockets: [], flexDrivers: [] };
  return {
    pluginHosts: () => [{ nodeName, source: "node", table: { version: 1, plugins: [] } as never }],
    nodeReport: () => report,
    onChange: () => () => undefined,
  };
}

describe("the size of a mounted volume", () => {
  it.each([
    { name: "is what the node's report says", node: "node-1", volumes: [{ ...hot, state: "mounted" as const }], expected: { capacityBytes: 4096n, usedBytes: 0n } },
    { name: "is not there yet before the first report", node: "node-1", volumes: undefined, expected: { notYet: true } },
    { name: "is not there yet of what a restart found and did not look at", node: "node-1", volumes: [{ ...hot, state: "uncertain" as const }], expected: { notYet: true } },
    { name: "is not visible where the node knows no such volume", node: "node-1", volumes: [], expected: undefined },
    { name: "is not visible on a node that nobody looks at", node: "node-2", volumes: [{ ...hot, state: "mounted" as const }], expected: undefined },
  ])("$name", async ({ node, volumes, expected }) => {
    const snapshot = { pods: new Map([["shop/cache" as never, pod]]) };
    expect(await mountedSize(snapshot, hosts(node, volumes), { podUID: "u", volumeName: "hot" })).toEqual(expected);
  });
});

describe("following operations", () => {
  const idle = { ...hosts("node-1", undefined), onChange: () => () => undefined };
  const parts = (settled: Promise<void>, followAll: () => Promise<void>) => ({
    operations: { followAll },
    cluster: { settled, onChange: () => () => undefined },
    hosts: idle,
    clock: new FakeClock(),
    log: new MemoryLog(),
  });

  it("begins when the cluster has been read, and ends when it is stopped", async () => {
    const read = Promise.withResolvers<void>();
    const followed = Promise.withResolvers<void>();
    const stop = followOperations(parts(read.promise, async () => followed.resolve()));
    read.resolve();
    await followed.promise;
    await stop();
  });

  it("ends at a stop though the cluster was never read", async () => {
    let count = 0;
    const stop = followOperations(parts(new Promise(() => undefined), async () => void (count += 1)));
    await stop();
    expect(count).toBe(0);
  });
});
