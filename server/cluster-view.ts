/** One open cluster as procedures see it: snapshot and freshness of the API, plugin tables and reports of its hosts. */
import type { KubeObject } from "@/lib/kube/meta";
import { kubectlWith } from "@/lib/kubectl";
import { redacted } from "@/lib/kube/redact";
import type { NodeReport } from "@/lib/node-report";
import type { Change, ClusterManifests, ClusterOperations, ClusterSummary, ClusterView, ObjectId, PluginHost, Topic } from "@/server/api/context";
import type { Cluster, ClusterChange } from "@/server/cluster/cluster";
import { pathSegment } from "@/server/cluster/resources";
import type { WatchedKind } from "@/server/cluster/snapshot";

/** What is known of a cluster's hosts, beside the API. */
export interface Hosts {
  pluginHosts(): readonly PluginHost[];
  nodeReport(nodeName: string): NodeReport | undefined;
  /** The same, not older than a second; absent where no node can be asked. */
  freshReport?(nodeName: string): Promise<NodeReport | undefined>;
  /** Calls back when a table or a report changed. Returns the way to stop. */
  onChange(listener: (topics: readonly Topic[]) => void): () => void;
}

/** Who is to be told that hosts changed, and the way to tell them. */
export function hostChanges(): { changed(topics: readonly Topic[]): void; readonly onChange: Hosts["onChange"] } {
  const listeners = new Set<(topics: readonly Topic[]) => void>();
  return {
    changed: (topics) => listeners.forEach((listener) => listener(topics)),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Pages to read again when objects of a kind changed. */
const topicsOfKind: Readonly<Record<WatchedKind, readonly Topic[]>> = {
  pods: ["volume", "claim", "node"],
  persistentvolumeclaims: ["volume", "claim"],
  persistentvolumes: ["volume", "claim"],
  storageclasses: ["claim"],
  csidrivers: ["plugin", "volume"],
  csinodes: ["plugin", "volume", "node"],
  volumeattachments: ["volume", "node"],
  nodes: ["plugin", "volume", "node"],
  namespaces: ["cluster"],
  events: ["volume", "claim", "operation"],
};

let lastVersion = 0;

/** Numbers of changes rise over all clusters of this process. */
export function nextChange(topics: readonly Topic[]): Change {
  lastVersion += 1;
  return { version: lastVersion, topics };
}

export interface ViewParts {
  readonly summary: () => ClusterSummary;
  readonly cluster: Cluster;
  readonly hosts: Hosts;
  /** Absent: read-only. */
  readonly operations?: ClusterOperations;
  readonly manifests?: ClusterManifests;
}

export function createClusterView({ summary, cluster, hosts, operations, manifests }: ViewParts): ClusterView {
  return {
    operations,
    manifests,
    get summary() {
      return summary();
    },
    kubectl: kubectlWith(cluster.context.kubectlFlags),
    snapshot: () => cluster.snapshot(),
    freshness: () => cluster.freshness(),
    pluginHosts: () => hosts.pluginHosts(),
    nodeReport: (nodeName) => hosts.nodeReport(nodeName),
    getObject: async (id) => redacted(await cluster.client.get<KubeObject>(objectPath(id))),
    onChange: (listener) => {
      const stops = [
        cluster.onChange((change) => listener(nextChange(topicsOf(change)))),
        hosts.onChange((topics) => listener(nextChange(topics))),
      ];
      return () => stops.forEach((stop) => stop());
    },
  };
}

function topicsOf(change: ClusterChange): readonly Topic[] {
  const topics = new Set<Topic>([...change.kinds].flatMap((kind) => topicsOfKind[kind]));
  topics.add("cluster");
  return [...topics];
}

/** Throws AppError `invalid` for names that would change the path. */
export function objectPath({ group, version, resource, namespace, name }: ObjectId): string {
  const root = group === "" ? ["api"] : ["apis", pathSegment("group", group)];
  const place = namespace === undefined ? [] : ["namespaces", pathSegment("namespace", namespace)];
  return `/${[...root, pathSegment("version", version), ...place, pathSegment("resource", resource), pathSegment("name", name)].join("/")}`;
}
