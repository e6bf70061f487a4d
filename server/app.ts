/** Composition root of what is served: clusters, their nodes, and the ports that procedures are handed. */
import type { ApiPorts, ClusterSummary, ClusterView } from "@/server/api/context";
import { loadContexts } from "@/server/cluster/kubeconfig";
import { createLiveClusters, noSuchCluster } from "@/server/live";
import { processLog } from "@/server/log";
import type { Options } from "@/server/options";

export interface App {
  readonly ports: Pick<ApiPorts, "clusters">;
  isReady(): boolean;
  /** Begins to work once the address is known to be ours. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Clusters of one kind: this machine, or the contexts of kubeconfigs. */
export interface Served {
  summaries(): readonly ClusterSummary[];
  view(id: string): ClusterView | undefined;
  start?(): Promise<void>;
  close(): Promise<void>;
}

export async function createApp(options: Options): Promise<App> {
  const contexts = loadContexts({ paths: options.kubeconfigs, env: process.env });
  const served: Served[] = [];
  if (contexts) served.push(await createLiveClusters({ contexts: contexts.contexts, log: processLog, nowMs: Date.now }));
  let ready = false;
  return {
    ports: {
      clusters: {
        list: () => served.flatMap((each) => each.summaries()),
        viewFor: (_person, id) => {
          const view = served.map((each) => each.view(id)).find((each) => each !== undefined);
          if (!view) throw noSuchCluster(id);
          return view;
        },
      },
    },
    isReady: () => ready,
    start: async () => {
      await Promise.all(served.map((each) => each.start?.()));
      ready = true;
    },
    close: async () => {
      await Promise.all(served.map((each) => each.close()));
    },
  };
}
