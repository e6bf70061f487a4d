/**
 * All that is known of one pod's volume, gathered from the API's objects, the published plugin table and the node's report.
 * Rules and the way read this and nothing else.
 */
import { claimClass, claimHasClass, volumeClass } from "@/lib/kube/classes";
import type { KubeEvent } from "@/lib/kube/pods";
import type { CSIDriver, CSINode, StorageClass, VolumeAttachment } from "@/lib/kube/storage";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import type { ClusterSnapshot, PodVolume, WatchedKind } from "@/server/cluster/snapshot";

/** What the plugins of the pod's node answered when asked for the volume's spec. */
export type Match =
  | { readonly kind: "one"; readonly plugin: string; readonly asked: number; readonly attachable: boolean; readonly deviceMountable: boolean }
  | { readonly kind: "none"; readonly asked: number; readonly text: string }
  | { readonly kind: "several"; readonly plugins: readonly string[]; readonly text: string }
  /** Nobody could be asked, or an answer may be hidden from here. */
  | { readonly kind: "unknown"; readonly why: string };

/** What is known of a claim, whoever uses it. */
export interface ClaimEvidence {
  readonly volume: Pick<PodVolume, "claimName" | "claim" | "persistentVolume">;
  /** The node of the pod that waits for it; undefined while there is none. */
  readonly nodeName: string | undefined;
  readonly storageClass: StorageClass | undefined;
  /** Oldest first, as the snapshot has them. */
  readonly claimEvents: readonly KubeEvent[];
  /** Kinds that could not be read: their absence proves nothing. */
  readonly unread: ReadonlySet<WatchedKind>;
}

export interface VolumeEvidence extends ClaimEvidence {
  readonly volume: PodVolume;
  readonly csiDriver: CSIDriver | undefined;
  readonly csiNode: CSINode | undefined;
  readonly attachment: VolumeAttachment | undefined;
  /** Oldest first, as the snapshot has them. */
  readonly podEvents: readonly KubeEvent[];
  readonly match: Match;
  /** undefined: no agent answers for the node. */
  readonly report: NodeReport | undefined;
  readonly reported: ReportedVolume | undefined;
  /** False on a node that only mounts: its pods never start. */
  readonly runsContainers: boolean;
}

export interface ClusterEvidence {
  readonly snapshot: ClusterSnapshot;
  readonly unread: ReadonlySet<WatchedKind>;
  readonly runsContainers: boolean;
  nodeReport(nodeName: string): NodeReport | undefined;
  match(volume: PodVolume): Match;
}

const none: readonly never[] = [];

/** Gathers per volume; what is looked up by more than a key is indexed once per snapshot and report. */
export function gatherer(cluster: ClusterEvidence): (volume: PodVolume) => VolumeEvidence {
  const { snapshot } = cluster;
  const attachments = attachmentIndex(snapshot);
  const reports = new Map<string, ReportIndex | undefined>();
  const reportOf = (nodeName: string): ReportIndex | undefined => {
    if (!reports.has(nodeName)) reports.set(nodeName, reportIndex(cluster.nodeReport(nodeName)));
    return reports.get(nodeName);
  };
  return (volume) => {
    const nodeName = volume.pod.spec.nodeName || undefined;
    const index = nodeName === undefined ? undefined : reportOf(nodeName);
    const driver = csiDriverOf(volume);
    const pvName = volume.persistentVolume?.metadata.name;
    const { claim, persistentVolume } = volume;
    const className = claim && claimHasClass(claim) ? claimClass(claim) : persistentVolume && volumeClass(persistentVolume);
    return {
      volume,
      nodeName,
      csiDriver: driver === undefined ? undefined : snapshot.csiDrivers.get(driver),
      csiNode: nodeName === undefined ? undefined : snapshot.csiNodes.get(nodeName),
      attachment: nodeName === undefined || pvName === undefined ? undefined : attachments.get(`${nodeName}/${pvName}`),
      storageClass: className ? snapshot.storageClasses.get(className) : undefined,
      podEvents: snapshot.eventsByUid.get(volume.pod.metadata.uid ?? "") ?? none,
      claimEvents: snapshot.eventsByUid.get(volume.claim?.metadata.uid ?? "") ?? none,
      match: cluster.match(volume),
      report: index?.report,
      reported: index?.volumes.get(`${volume.pod.metadata.uid ?? ""}/${specNameOf(volume)}`),
      unread: cluster.unread,
      runsContainers: cluster.runsContainers,
    };
  };
}

/** The driver of a CSI volume, inline or by its persistent volume. */
export function csiDriverOf({ volume, persistentVolume }: PodVolume): string | undefined {
  return volume.csi?.driver ?? persistentVolume?.spec.csi?.driver;
}

/** The name a node keeps the volume under: the persistent volume's, else the volume's own. */
export function specNameOf({ volume, claimName, persistentVolume }: PodVolume): string {
  return claimName === undefined ? volume.name : (persistentVolume?.metadata.name ?? volume.name);
}

function attachmentIndex(snapshot: ClusterSnapshot): ReadonlyMap<string, VolumeAttachment> {
  const index = new Map<string, VolumeAttachment>();
  for (const attachment of snapshot.volumeAttachments.values()) {
    const { nodeName, source } = attachment.spec;
    if (source.persistentVolumeName) index.set(`${nodeName}/${source.persistentVolumeName}`, attachment);
  }
  return index;
}

interface ReportIndex {
  readonly report: NodeReport;
  readonly volumes: ReadonlyMap<string, ReportedVolume>;
}

function reportIndex(report: NodeReport | undefined): ReportIndex | undefined {
  if (!report) return undefined;
  return { report, volumes: new Map(report.volumes.map((volume) => [`${volume.podUID}/${volume.specName}`, volume])) };
}
