/** Clusters of kubeconfig contexts: opened when somebody looks, at most a few kept warm. */
import { AppError } from "@/lib/errors";
import type { ClusterSummary, ClusterView } from "@/server/api/context";
import { createClusterView } from "@/server/cluster-view";
import { openCluster, type Cluster } from "@/server/cluster/cluster";
import type { ClusterContext } from "@/server/cluster/kubeconfig";
import { observedHosts } from "@/server/observed";
import type { Log } from "@/server/volume/ports";

const maxOpen = 4;

interface Opened {
  readonly cluster: Cluster;
  readonly view: ClusterView;
  lastUsedMs: number;
}

export interface LiveClusters {
  summaries(): readonly ClusterSummary[];
  /** undefined: no such context. */
  view(id: string): ClusterView | undefined;
  close(): Promise<void>;
}

export interface LiveOptions {
  readonly contexts: readonly ClusterContext[];
  readonly log: Log;
  readonly nowMs: () => number;
}

export async function createLiveClusters(options: LiveOptions): Promise<LiveClusters> {
  const contexts = new Map(options.contexts.map((context) => [context.slug, context]));
  const opened = new Map<string, Opened>();
  const hostsOf = await observedHosts();

  const open = (context: ClusterContext): Opened => {
    const cluster = openCluster({ context, log: options.log });
    const view = createClusterView({ summary: () => summaryOf(context, cluster), cluster, hosts: hostsOf(cluster) });
    return { cluster, view, lastUsedMs: options.nowMs() };
  };
  const closeLeastUsed = () => {
    const ids = [...opened.entries()].sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs).slice(0, -maxOpen);
    for (const [id, { cluster }] of ids) {
      opened.delete(id);
      cluster.close().catch((error: unknown) => options.log.error("closing a cluster", error, { cluster: id }));
    }
  };
  return {
    summaries: () => options.contexts.map((context) => summaryOf(context, opened.get(context.slug)?.cluster)),
    view: (id) => {
      const context = contexts.get(id);
      if (!context) return undefined;
      const entry = opened.get(id) ?? open(context);
      entry.lastUsedMs = options.nowMs();
      opened.set(id, entry);
      closeLeastUsed();
      return entry.view;
    },
    close: async () => {
      await Promise.all([...opened.values()].map(({ cluster }) => cluster.close()));
    },
  };
}

function summaryOf(context: ClusterContext, cluster: Cluster | undefined): ClusterSummary {
  return {
    id: context.slug,
    name: context.name,
    mode: "live",
    server: context.server,
    version: cluster?.serverVersion()?.gitVersion,
    simulated: false,
    insecure: context.cluster.skipTLSVerify === true,
  };
}

export function noSuchCluster(id: string): AppError {
  return new AppError("not-found", `There is no cluster ${id}`);
}
