/** What operations need from the world, defined here by the caller. The cluster's client fits OperationClient as it is. */
import type { Kubectl } from "@/lib/kubectl";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { PersistentVolume } from "@/lib/kube/storage";
import type { Journal } from "./journal";
import type { OperationVerb } from "./operation";

/** One cluster as operations reach it: the Kubernetes REST API, with the person's own rights. */
export interface OperationClient {
  /** Throws AppError not-found, forbidden, transient, uncertain with the server's words. */
  get<T>(path: string): Promise<T>;
  patch<T>(
    path: string,
    patch: { readonly type: "merge" | "strategic"; readonly body: unknown },
    options?: { readonly dryRun?: boolean; readonly fieldManager?: string },
  ): Promise<T>;
}

export interface MountedSize {
  readonly usedBytes?: bigint;
  readonly capacityBytes?: bigint;
  /** The node will say, and has not looked since it started. */
  readonly notYet?: boolean;
}

export interface OperationCluster {
  readonly id: string;
  readonly client: OperationClient;
  /** Command lines that reach this cluster. */
  readonly kubectl: Kubectl;
  /** Pods that use a claim now. */
  podsOfClaim(namespace: string, claim: string): readonly Pod[];
  /** Events about these objects, oldest first. */
  eventsOf(uids: readonly string[]): readonly KubeEvent[];
  /** What the node says of a mounted volume now; undefined where it is not visible. */
  mountedSize(podUID: string, volumeName: string): Promise<MountedSize | undefined>;
  /** Why no plugin of the node that a pod is bound to serves a volume; undefined when one does, or where its plugins are not known. */
  whyUnserved(pod: Pod, volume: PersistentVolume): string | undefined;
  /** Whether the server lists `pods/resize`. */
  hasPodResize(): Promise<boolean>;
  /** Whether the person may; undefined where the server cannot be asked. */
  mayPatch(resource: { readonly resource: string; readonly subresource?: string; readonly namespace: string; readonly name: string }): Promise<boolean | undefined>;
}

export interface OperationPorts {
  readonly journal: Journal;
  readonly nowMs: () => number;
  readonly newId: () => string;
  /** undefined: that cluster is not open now. */
  readonly cluster: (id: string) => OperationCluster | undefined;
  /** Called at every named point between two durable steps, so that a test can end the process there. */
  readonly point: (name: string) => void;
  readonly onChange: (record: OperationRecordChange) => void;
  /** Told once of every request that was sent, as soon as its result is known. */
  readonly audit: (write: AuditedWrite) => void;
}

export interface OperationRecordChange {
  readonly id: string;
  readonly cluster: string;
}

/** One change that was asked of a cluster. Sizes as they were spelled. */
export interface AuditedWrite {
  readonly who: string;
  readonly verb: OperationVerb;
  readonly cluster: string;
  /** `<namespace>/<name>`, and `/<volume>` where one of a pod is meant. */
  readonly object: string;
  readonly before: string;
  readonly after: string;
  /** "accepted"; "refused: " and the server's words; "answer lost: " and what the object says of it. */
  readonly result: string;
}
