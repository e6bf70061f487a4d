/**
 * Nodes without an agent, derived from API objects: the in-tree plugins of their version, registered on a host that can't act.
 * What is probed on a node is not visible from the API, and says so.
 */
import type { PluginHost } from "@/server/api/context";
import type { Cluster } from "@/server/cluster/cluster";
import type { Hosts } from "@/server/cluster-view";
import { createMemoryHost } from "@/server/hosts/memory";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newKubeletPlugins } from "@/server/volume/plugins";

const notVisible = "FlexVolume drivers are probed on the node: not visible without the agent";

/** Observed nodes share one manager: what differs per node (drivers, limits) is data of the API. */
export async function observedHosts(): Promise<(cluster: Cluster) => Hosts> {
  const { host, ports } = createMemoryHost({ nodeName: "observed" });
  const manager = new VolumePluginManager(ports);
  await manager.initPlugins(newKubeletPlugins(), undefined, host);
  return (cluster) => ({
    pluginHosts: () =>
      [...cluster.snapshot().nodes.values()].map((node): PluginHost => ({
        nodeName: node.metadata.name ?? "",
        source: "observed",
        kubeletVersion: node.status?.nodeInfo?.kubeletVersion,
        table: manager.published(),
        notVisible,
      })),
    nodeReport: () => undefined,
    onChange: () => () => {},
  });
}
