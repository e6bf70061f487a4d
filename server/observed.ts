/**
 * Nodes without an agent, derived from API objects: the in-tree plugins of their version, registered on a host that can't act.
 * What is probed on a node is not visible from the API, and says so.
 */
import type { PluginHost } from "@/server/api/context";
import type { Cluster } from "@/server/cluster/cluster";
import type { Hosts } from "@/server/cluster-view";
import { systemClock } from "@/server/hosts/clock";
import { createMemoryHost } from "@/server/hosts/memory";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { PluginTable } from "@/server/volume/plugin-table";
import { newKubeletPlugins } from "@/server/volume/plugins";

const notVisible = "FlexVolume drivers are probed on the node: not visible without the agent";

/** Observed nodes share one table: what differs per node (drivers, limits) is data of the API. */
export async function observedHosts(): Promise<(cluster: Cluster) => Hosts> {
  const table = withoutHistory(await tableOf(newKubeletPlugins()));
  return (cluster) => ({
    pluginHosts: () =>
      [...cluster.snapshot().nodes.values()].map((node): PluginHost => ({
        nodeName: node.metadata.name ?? "",
        source: "observed",
        kubeletVersion: node.status?.nodeInfo?.kubeletVersion,
        table,
        notVisible,
      })),
    nodeReport: () => undefined,
    onChange: () => () => {},
  });
}

/** What plugins answer on a host that can't act. */
export async function tableOf(plugins: readonly VolumePlugin[]): Promise<PluginTable> {
  const { host, ports } = createMemoryHost({ nodeName: "observed" });
  const manager = new VolumePluginManager({ clock: systemClock, log: ports.log });
  await manager.initPlugins(plugins, undefined, host);
  return manager.published();
}

/** When a node that is only observed has registered what, nobody here knows. */
function withoutHistory(table: PluginTable): PluginTable {
  return { ...table, rows: table.rows.map((row) => ({ ...row, loadedAtMs: undefined })), inits: [] };
}
