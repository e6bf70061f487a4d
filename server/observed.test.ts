import { expect, it } from "vitest";
import type { Cluster } from "@/server/cluster/cluster";
import { FakeCluster } from "@/server/node/fake-cluster";
import { observedHosts } from "@/server/observed";

it("an observed node has its version's plugins, and no time at which they were loaded, which nobody knows", async () => {
  const cluster = new FakeCluster();
  cluster.put("nodes", { metadata: { name: "node1" }, status: { nodeInfo: { kubeletVersion: "v1.37.2" } } });
  const hosts = (await observedHosts())(cluster as unknown as Cluster);
  const [host] = hosts.pluginHosts();
  expect(host).toMatchObject({ nodeName: "node1", source: "observed", kubeletVersion: "v1.37.2" });
  expect(host?.table.rows).toHaveLength(13);
  expect(host?.table.rows.filter((row) => !row.serving || row.state !== "ok")).toEqual([]);
  expect([host?.table.inits, host?.table.probes, host?.table.rows.flatMap(({ loadedAtMs, failedAtMs }) => loadedAtMs ?? failedAtMs ?? [])]).toEqual([[], [], []]);
});
