/** Clusters of kubeconfig contexts: opened when somebody looks or an operation is open, at most a few kept warm. */
import { AppError } from "@/lib/errors";
import type { ClusterSummary, ClusterView } from "@/server/api/context";
import type { Served } from "@/server/app";
import { clusterOperations, followOperations, operationCluster } from "@/server/cluster-operations";
import { createClusterView, hostChanges, type Hosts } from "@/server/cluster-view";
import { openCluster, type Cluster } from "@/server/cluster/cluster";
import type { ClusterContext } from "@/server/cluster/kubeconfig";
import { systemClock } from "@/server/hosts/clock";
import { observedHosts } from "@/server/observed";
import { userOf, type SharedOperations } from "@/server/shared-operations";
import type { Log } from "@/server/volume/ports";

const maxOpen = 4;

interface Opened {
  readonly cluster: Cluster;
  readonly view: ClusterView;
  lastUsedMs: number;
  close(): Promise<void>;
}

export interface LiveOptions {
  readonly contexts: readonly ClusterContext[];
  readonly log: Log;
  readonly nowMs: () => number;
  /** Closed by the caller, after this. */
  readonly shared: SharedOperations;
}

export async function createLiveClusters(options: LiveOptions): Promise<Served> {
  const contexts = new Map(options.contexts.map((context) => [context.slug, context]));
  const opened = new Map<string, Opened>();
  const hostsOf = await observedHosts();

  const view = (id: string): ClusterView | undefined => {
    const context = contexts.get(id);
    if (!context) return undefined;
    const entry = opened.get(id) ?? openLive(context, hostsOf, options);
    entry.lastUsedMs = options.nowMs();
    opened.set(id, entry);
    closeLeastUsed();
    return entry.view;
  };
  const closeLeastUsed = () => {
    const excess = opened.size - maxOpen;
    // Asked by every procedure: the journal is read only when one is to be closed.
    if (excess <= 0) return;
    const idle = [...opened.entries()].filter(([id]) => !options.shared.hasOpen(id));
    const ids = idle.sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs).slice(0, excess);
    for (const [id, entry] of ids) {
      opened.delete(id);
      entry.close().catch((error: unknown) => options.log.error("closing a cluster", error, { cluster: id }));
    }
  };
  return {
    summaries: () => options.contexts.map((context) => summaryOf(context, opened.get(context.slug)?.cluster)),
    view,
    start: async () => {
      // What an earlier process began is followed though nobody looks.
      for (const id of contexts.keys()) if (options.shared.hasOpen(id)) view(id);
    },
    close: async () => {
      await Promise.all([...opened.values()].map((entry) => entry.close()));
    },
  };
}

/** Reads the cluster and follows its operations, from now until it is closed. */
function openLive(context: ClusterContext, hostsOf: (cluster: Cluster) => Hosts, { log, nowMs, shared }: LiveOptions): Opened {
  const cluster = openCluster({ context, log });
  const { changed, onChange } = hostChanges();
  // Observed hosts never change by themselves; what operations change is told through them.
  const hosts: Hosts = { ...hostsOf(cluster), onChange };
  const operated = operationCluster(context.slug, cluster, hosts);
  const detach = shared.attach(operated, () => changed(["operation", "claim"]));
  const { operations } = shared;
  const stopFollowing = followOperations({
    operations: { followAll: () => operations.followAll(context.slug) },
    cluster,
    hosts,
    clock: systemClock,
    log,
  });
  const view = createClusterView({
    summary: () => summaryOf(context, cluster),
    cluster,
    hosts,
    operations: clusterOperations(operations, operated, () => userOf(cluster.client, log)),
  });
  const close = async () => {
    await stopFollowing();
    detach();
    await cluster.close();
  };
  return { cluster, view, lastUsedMs: nowMs(), close };
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
