/** Composition root of what is served: clusters, their nodes, and the ports that procedures are handed. */
import type { ApiPorts, ClusterSummary, ClusterView } from "@/server/api/context";
import { checkManifestFolder } from "@/server/apiserver/manifest-files";
import { loadContexts } from "@/server/cluster/kubeconfig";
import { createLiveClusters, noSuchCluster } from "@/server/live";
import { join } from "node:path";
import { processLog } from "@/server/log";
import type { Options } from "@/server/options";
import { copySample } from "@/server/sample";
import { openSharedOperations, type SharedOperations } from "@/server/shared-operations";
import { openStandalone } from "@/server/standalone";

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

/** `project` is the folder that the sample lies in. */
export async function createApp(options: Options, project: string): Promise<App> {
  const journalPath = join(options.dataFolder, "journal.sqlite");
  const shared = openSharedOperations({ journalPath, log: processLog, point: crashPoint(process.env) });
  try {
    return appOf(await openServed(options, project, shared), shared);
  } catch (error) {
    shared.close();
    throw error;
  }
}

async function openServed(options: Options, project: string, shared: SharedOperations): Promise<readonly Served[]> {
  const configured = loadContexts({ paths: options.kubeconfigs, env: process.env });
  const contexts = configured?.contexts.length === 0 ? undefined : configured;
  if (configured && !contexts) processLog.info("no context leads to a cluster: this machine is shown", { kubeconfig: configured.from });
  const served: Served[] = [];
  if (contexts) served.push(await createLiveClusters({ contexts: contexts.contexts, log: processLog, nowMs: Date.now, shared }));
  if (!contexts || options.manifestsFolder !== undefined) {
    if (options.manifestsFolder === undefined) await copySample(project, options.dataFolder);
    const manifestsFolder = options.manifestsFolder ?? join(options.dataFolder, "manifests");
    await checkManifestFolder(manifestsFolder);
    served.push(await openStandalone({ options, manifestsFolder, log: processLog, point: crashPoint(process.env), shared }));
  }
  return served;
}

function appOf(served: readonly Served[], shared: SharedOperations): App {
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
      try {
        await Promise.all(served.map((each) => each.close()));
      } finally {
        shared.close();
      }
    },
  };
}

/**
 * For tests of what a kill leaves behind: the process ends itself, without warning, at the step that VOLDECK_CRASH_AT names;
 * `name#3` is the third time that the step is passed.
 */
function crashPoint(env: NodeJS.ProcessEnv): (name: string) => void {
  const [wanted = "", count = "1"] = (env["VOLDECK_CRASH_AT"] ?? "").split("#");
  let left = Number(count);
  return (name) => {
    if (name !== wanted) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
}
