/**
 * What is really on a node: pods' volumes on disk and in the mount table, against what should be there. Made by
 * server/node (standalone), by `voldeck inspect` and later by the agent; read by pages and diagnosis. JSON all through:
 * sizes are decimal texts, times RFC 3339.
 */

/**
 * Where a volume stands on its node. `uncertain`: an operation ended without saying whether it happened. `lost`: it was set up, and
 * what that left on the node is there no more, though nobody asked for its end.
 */
export type MountState = "not mounted" | "mounting" | "mounted" | "lost" | "uncertain" | "failed" | "unmounting";

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
  /** vol_data.json of a CSI volume, where there is one. */
  readonly dataFile?: ReportedDataFile;
  /** Desired by a pod bound to this node; undefined where no API was asked. */
  readonly wanted?: boolean;
  /** Found on disk. */
  readonly found: boolean;
  readonly state: MountState;
  /** What sets a lost volume up again: the node itself at its next sync, for plugins that ask for it, else only a new pod or a restarted node. */
  readonly setUpAgain?: "at the next sync" | "for a new pod";
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

/** What vol_data.json says; a text that is missing or empty there is missing here, all of them when it can't be parsed. */
export interface ReportedDataFile {
  readonly path: string;
  readonly driverName?: string;
  readonly volumeHandle?: string;
  readonly attachmentID?: string;
  readonly nodeName?: string;
  readonly volumeLifecycleMode?: string;
}

/** A path that may be left over, and the evidence. */
export interface ReportedLeftover {
  /** Absent for what lies in no pod's folder. */
  readonly podUID?: string;
  readonly path: string;
  readonly why: string;
}

/** The file system that holds the node's root, by statfs; or why that is not known. */
export interface ReportedDisk {
  readonly capacityBytes?: string;
  readonly usedBytes?: string;
  /** What those who are not root may still write. */
  readonly availableBytes?: string;
  /** 0 where the file system makes them as it goes. */
  readonly inodes?: string;
  readonly inodesUsed?: string;
  readonly problem?: string;
}

export interface NodeReport {
  readonly nodeName: string;
  readonly takenAt: string;
  readonly root: string;
  /** How mounts are made: `root`, `user namespace`, `simulated`, or `none` for a read-only look. */
  readonly mounter: "root" | "user namespace" | "simulated" | "none";
  /** Absent where nobody looked. */
  readonly disk?: ReportedDisk;
  readonly volumes: readonly ReportedVolume[];
  /** Mounts below the root that belong to no volume of the list. */
  readonly otherMounts: readonly ReportedMount[];
  /** Every folder below `pods`, also of pods without volumes; absent where the report was not made from the disk. */
  readonly podFolders?: readonly { readonly podUID: string; readonly path: string }[];
  /**
   * Pod folders of pods that the API no longer knows. Where no API was asked: folders, data files and global mounts with nothing
   * behind them on this node, which a pod that is just starting has for a moment too.
   */
  readonly leftovers?: readonly ReportedLeftover[];
  /** What could not be read, and why: the rest of the report does not cover it. */
  readonly unread?: readonly { readonly path: string; readonly why: string }[];
  /** `driver`: as the socket's path has it; nothing was asked of the socket. */
  readonly pluginSockets: readonly { readonly path: string; readonly driver?: string }[];
  readonly flexDrivers: readonly { readonly name: string; readonly path: string; readonly problem?: string }[];
}
