/**
 * What the Kubernetes API says, at one moment: immutable, joined and indexed. A new snapshot is made when something changed;
 * an old one stays valid for whoever holds it.
 */
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { Namespace, Node } from "@/lib/kube/nodes";
import type {
  CSIDriver,
  CSINode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
} from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";

/** `<namespace>/<name>`, or the name alone for kinds without a namespace. */
export type ObjectKey = string;

/** One volume of one pod, joined with its claim and persistent volume. */
export interface PodVolume {
  /** `<namespace>/<pod>/<volume>` */
  readonly key: string;
  readonly pod: Pod;
  readonly volume: Volume;
  /** The claim's name for persistentVolumeClaim and ephemeral volumes, whether or not the claim exists. */
  readonly claimName?: string;
  readonly claim?: PersistentVolumeClaim;
  readonly persistentVolume?: PersistentVolume;
}

/** The kinds a cluster is read by, with the objects' type. Secrets are never listed; ConfigMaps neither. */
export interface WatchedKinds {
  pods: Pod;
  persistentvolumeclaims: PersistentVolumeClaim;
  persistentvolumes: PersistentVolume;
  storageclasses: StorageClass;
  csidrivers: CSIDriver;
  csinodes: CSINode;
  volumeattachments: VolumeAttachment;
  nodes: Node;
  namespaces: Namespace;
  events: KubeEvent;
}

export type WatchedKind = keyof WatchedKinds;

export interface ClusterSnapshot {
  /** Rises by one with every new snapshot of this process. */
  readonly version: number;
  readonly takenAtMs: number;
  readonly pods: ReadonlyMap<ObjectKey, Pod>;
  readonly claims: ReadonlyMap<ObjectKey, PersistentVolumeClaim>;
  readonly persistentVolumes: ReadonlyMap<ObjectKey, PersistentVolume>;
  readonly storageClasses: ReadonlyMap<ObjectKey, StorageClass>;
  readonly csiDrivers: ReadonlyMap<ObjectKey, CSIDriver>;
  readonly csiNodes: ReadonlyMap<ObjectKey, CSINode>;
  readonly volumeAttachments: ReadonlyMap<ObjectKey, VolumeAttachment>;
  readonly nodes: ReadonlyMap<ObjectKey, Node>;
  readonly namespaces: ReadonlyMap<ObjectKey, Namespace>;
  /** Events by the uid of the object they are about, oldest first. */
  readonly eventsByUid: ReadonlyMap<string, readonly KubeEvent[]>;
  /** All volumes of all pods, ordered by key. */
  readonly podVolumes: readonly PodVolume[];
  readonly podVolumeByKey: ReadonlyMap<string, PodVolume>;
  /** Volumes of pods that use a claim, by the claim's key. */
  readonly podVolumesByClaim: ReadonlyMap<ObjectKey, readonly PodVolume[]>;
}

export type KindState = "loading" | "live" | "catching up" | "stale" | "forbidden" | "absent";

/** How fresh one kind is. `absent`: the server has no such kind. */
export interface KindFreshness {
  readonly kind: WatchedKind;
  readonly state: KindState;
  /** When the server last answered for this kind (event, bookmark or list); undefined: never, so nothing is known of it. */
  readonly lastHeardMs: number | undefined;
  /** Since when it is in this state. */
  readonly sinceMs: number;
  /** Why it is not live, in the server's or the system's own words. */
  readonly reason?: string;
  readonly objects: number;
}

export interface Freshness {
  readonly kinds: readonly KindFreshness[];
}

