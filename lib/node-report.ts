/**
 * What is really on a node: pods' volumes on disk and in the mount table, against what should be there. Made by
 * server/node (standalone), by `voldeck inspect` and later by the agent; read by pages and diagnosis. JSON all through:
 * sizes are decimal texts, times RFC 3339.
 */

/** Where a volume stands on its node. `uncertain`: an operation ended without saying whether it happened. */
export type MountState = "not mounted" | "mounting" | "mounted" | "uncertain" | "failed" | "unmounting";

export interface ReportedMount {
  readonly target: string;
  readonly source: string;
  readonly fsType: string;
  readonly options: readonly string[];
  /** The line of mountinfo as it stands there. */
  readonly line: string;
}

export interface ReportedOperation {
  /** Such as `MountVolume.SetUp`. */
  readonly name: string;
  readonly startedAt: string;
  readonly attempts: number;
  /** The text of the last failure, whole. */
  readonly lastError?: string;
  readonly lastErrorAt?: string;
  readonly noRetryBefore?: string;
}

export interface ReportedVolume {
  readonly podUID: string;
  /** Known only where the pod is in the API. */
  readonly podNamespace?: string;
  readonly podName?: string;
  /** The name below the plugin's folder: the volume's, or the persistent volume's. */
  readonly specName: string;
  /** The name in the pod's spec; known only where the pod is in the API. */
  readonly volumeName?: string;
  readonly pluginName: string;
  readonly uniqueName?: string;
  readonly mode: "Filesystem" | "Block";
  readonly path: string;
  readonly deviceMountPath?: string;
  /** Desired by a pod bound to this node; undefined where no API was asked. */
  readonly wanted?: boolean;
  /** Found on disk. */
  readonly found: boolean;
  readonly state: MountState;
  readonly mounts: readonly ReportedMount[];
  readonly capacityBytes?: string;
  readonly usedBytes?: string;
  readonly availableBytes?: string;
  readonly inodes?: string;
  readonly inodesUsed?: string;
  readonly statsAt?: string;
  readonly operation?: ReportedOperation;
  /** What could not be read or constructed, in words. */
  readonly problem?: string;
}

export interface NodeReport {
  readonly nodeName: string;
  readonly takenAt: string;
  readonly root: string;
  /** How mounts are made: `root`, `user namespace`, `simulated`, or `none` for a read-only look. */
  readonly mounter: "root" | "user namespace" | "simulated" | "none";
  readonly volumes: readonly ReportedVolume[];
  /** Mounts below the root that belong to no volume of the list. */
  readonly otherMounts: readonly ReportedMount[];
  /** Pod folders of pods that the API no longer knows; undefined where no API was asked. */
  readonly leftovers?: readonly { readonly podUID: string; readonly path: string; readonly why: string }[];
  readonly pluginSockets: readonly { readonly path: string; readonly driver?: string }[];
  readonly flexDrivers: readonly { readonly name: string; readonly path: string; readonly problem?: string }[];
}
