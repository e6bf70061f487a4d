/**
 * What procedures are handed: ports only. The composition root decides what stands behind them.
 */
import type { KubeObject } from "@/lib/kube/meta";
import type { Kubectl } from "@/lib/kubectl";
import type { ManifestState } from "@/lib/manifests";
import type { NodeReport } from "@/lib/node-report";
import type { ClusterSnapshot, Freshness } from "@/server/cluster/snapshot";
import type { ExpandInput, ExpandPreview } from "@/server/operations/expand-claim";
import type { JournalEntry } from "@/server/operations/journal";
import type { OperationRecord } from "@/server/operations/operation";
import type { ResizeInput, ResizePreview } from "@/server/operations/resize-ephemeral";
import type { PluginTable } from "@/server/volume/plugin-table";

/** Who asks. On one machine this is the holder of the token; in shared mode it will be a signed-in person. */
export interface Person {
  readonly name: string;
}

export type ClusterMode = "live" | "standalone" | "bundle";

export interface ClusterSummary {
  /** Slug of the URL: `[a-z0-9-]`. */
  readonly id: string;
  /** The full context name. */
  readonly name: string;
  readonly mode: ClusterMode;
  readonly server: string;
  /** Version of the API server, once it answered. */
  readonly version?: string;
  /** Mounts exist in memory only. */
  readonly simulated: boolean;
  /** The server's certificate is not checked. */
  readonly insecure: boolean;
}

/** The plugins of one host, as its manager published them. */
export interface PluginHost {
  readonly nodeName: string;
  /** `node`: this machine's own manager; `observed`: derived from API objects. */
  readonly source: "node" | "observed";
  readonly kubeletVersion?: string;
  /** undefined: not visible from here (and then it says why). */
  readonly table: PluginTable;
  /** What this host cannot show, in words, such as probed plugins without an agent. */
  readonly notVisible?: string;
}

/** What a person asked for one object by its API path parts. `group` is "" for the core. */
export interface ObjectId {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Changes of one cluster by one person: previewed, begun, and followed in the journal. */
export interface ClusterOperations {
  previewExpand(input: ExpandInput): Promise<ExpandPreview>;
  /** `uid` is of the claim that the person saw. Throws AppError with the reason; the journal keeps what was begun. */
  expand(input: ExpandInput & { readonly uid: string }): Promise<OperationRecord>;
  /** Whether the person may patch this claim; undefined where the server can't be asked. */
  mayPatchClaim(claim: { readonly namespace: string; readonly name: string }): Promise<boolean | undefined>;
  previewResize(input: ResizeInput): Promise<ResizePreview>;
  resize(input: ResizeInput & { readonly uid: string }): Promise<OperationRecord>;
  /** Newest first. */
  list(): readonly OperationRecord[];
  /** undefined: there is none of that id. */
  get(id: string): { readonly record: OperationRecord; readonly entries: readonly JournalEntry[] } | undefined;
}

/** The manifests folder of a standalone cluster. */
export interface ClusterManifests {
  state(): ManifestState;
  /**
   * Removes what waits for a person, by the uids that were shown. Throws AppError `conflict` where other objects wait by now, and
   * `precondition` where the files can't all be read.
   */
  confirmRemoval(uids: readonly string[], who: string): Promise<void>;
}

/** One cluster as one person may see it. Never wider than the person's rights. */
export interface ClusterView {
  readonly summary: ClusterSummary;
  /** Command lines that reach this cluster. */
  readonly kubectl: Kubectl;
  snapshot(): ClusterSnapshot;
  freshness(): Freshness;
  pluginHosts(): readonly PluginHost[];
  /** undefined where the node has no agent and is not this machine. */
  nodeReport(nodeName: string): NodeReport | undefined;
  /** undefined: this cluster is shown read-only. */
  readonly operations?: ClusterOperations;
  /** undefined: this cluster is not made from manifests. */
  readonly manifests?: ClusterManifests;
  /** Read fresh from the API, whole. Throws AppError not-found, forbidden, transient. */
  getObject(id: ObjectId): Promise<KubeObject>;
  /** Calls back after a change, at most twice a second, with the topics that moved. Returns the way to stop. */
  onChange(listener: (change: Change) => void): () => void;
}

/** Nouns whose pages should be read again. */
export const topics = ["cluster", "plugin", "volume", "claim", "node", "operation", "manifest"] as const;
export type Topic = (typeof topics)[number];

export interface Change {
  /** Rises with every change of this process. */
  readonly version: number;
  readonly topics: readonly Topic[];
}

export interface Clusters {
  list(person: Person): readonly ClusterSummary[];
  /** Throws AppError not-found. */
  viewFor(person: Person, clusterId: string): ClusterView;
}

export interface ApiPorts {
  readonly clusters: Clusters;
  readonly nowMs: () => number;
  /** True once the process is ending: streams throw, new ones are refused. */
  readonly isClosing: () => boolean;
  /** Called with what must not reach the browser; returns the reference shown in its place. */
  readonly logInternal: (error: unknown, path: string | undefined) => string;
}

export interface ApiContext extends ApiPorts {
  readonly person: Person;
}
