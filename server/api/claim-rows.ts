/** Rows of the claim list: requested, granted, real and used size are four things and never merged. */
import { claimClass } from "@/lib/kube/classes";
import type { Condition } from "@/lib/kube/meta";
import { storageOf, type PersistentVolumeClaim } from "@/lib/kube/storage";
import type { ClaimFilterField } from "@/lib/inputs/claim";
import type { Way } from "@/lib/way";
import type { StatusWord } from "@/lib/words";
import type { ClusterView } from "@/server/api/context";
import { evidenceReader } from "@/server/api/evidence-reader";
import { searchable, type Searchable } from "@/server/api/list";
import type { ClusterSnapshot, PodVolume } from "@/server/cluster/snapshot";
import type { ClaimEvidence, VolumeEvidence } from "@/server/diagnosis/evidence";
import { claimWayOf } from "@/server/diagnosis/way";

export interface ClaimRow {
  /** `<namespace>/<name>` */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly word: StatusWord;
  /** Where it stands in words: the stage, or the claim's phase. */
  readonly standing: string;
  readonly requested?: string;
  readonly granted?: string;
  /** The request, while it is on its way to be granted. */
  readonly growsTo?: string;
  readonly usedBytes?: string;
  readonly capacityBytes?: string;
  readonly inodes?: string;
  readonly inodesUsed?: string;
  /** When the node measured. */
  readonly measuredAt?: string;
  readonly className?: string;
  /** What the class says; undefined where the class can't be seen. */
  readonly mayGrow?: boolean;
  readonly persistentVolume?: string;
  readonly accessModes: readonly string[];
  readonly block: boolean;
  readonly pods: readonly { readonly name: string; readonly volume: string; readonly node?: string }[];
  /** Since when the cluster says that no pod uses it (RFC 3339). */
  readonly unusedSince?: string;
}

export type SearchableClaim = Searchable<ClaimRow, ClaimFilterField>;

const cache = new WeakMap<object, readonly SearchableClaim[]>();

/** All claims of a cluster in the order of keys. */
export function claimRows(view: ClusterView): readonly SearchableClaim[] {
  const { snapshot, read } = evidenceReader(view);
  const known = cache.get(read);
  if (known) return known;
  const rows = [...snapshot.claims.keys()].sort().flatMap((key) => {
    const evidence = claimEvidence(view, key);
    return evidence ? [searchableClaim(claimRow(evidence, claimWayOf(evidence, evidence.users)))] : [];
  });
  cache.set(read, rows);
  return rows;
}

export interface ClaimWithUsers extends ClaimEvidence {
  readonly claim: PersistentVolumeClaim;
  readonly users: readonly VolumeEvidence[];
}

/** undefined: there is no such claim. */
export function claimEvidence(view: ClusterView, key: string): ClaimWithUsers | undefined {
  const { snapshot, read, unread } = evidenceReader(view);
  const claim = snapshot.claims.get(key);
  if (!claim) return undefined;
  const users = (snapshot.podVolumesByClaim.get(key) ?? []).map((volume: PodVolume) => read(volume));
  const className = claimClass(claim);
  return {
    claim,
    users,
    volume: { claimName: claim.metadata.name, claim, persistentVolume: volumeOf(snapshot, claim) },
    nodeName: users.find((user) => user.nodeName !== undefined)?.nodeName,
    storageClass: className ? snapshot.storageClasses.get(className) : undefined,
    claimEvents: snapshot.eventsByUid.get(claim.metadata.uid ?? "") ?? [],
    unread,
  };
}

/** The persistent volume that is bound to this very claim. */
function volumeOf(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim) {
  const volume = snapshot.persistentVolumes.get(claim.spec.volumeName ?? "");
  return claim.status?.phase === "Bound" ? volume : undefined;
}

export function claimRow(evidence: ClaimWithUsers, way: Way): ClaimRow {
  const { claim, users, storageClass } = evidence;
  const growing = way.stages.some(({ stage, state }) => stage === "expand" && state !== "not applicable");
  const { name = "", namespace = "", uid = "" } = claim.metadata;
  const measured = users.find(({ reported }) => reported?.state === "mounted" && reported.mounts.length > 0 && reported.capacityBytes !== undefined)?.reported;
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid,
    word: way.word,
    standing: way.word === "ok" ? (claim.status?.phase ?? "") : `${way.word} at ${way.at}`,
    requested: storageOf(claim.spec.resources?.requests),
    granted: storageOf(claim.status?.capacity),
    growsTo: growing ? storageOf(claim.spec.resources?.requests) : undefined,
    usedBytes: measured?.usedBytes,
    capacityBytes: measured?.capacityBytes,
    inodes: measured?.inodes,
    inodesUsed: measured?.inodesUsed,
    measuredAt: measured?.statsAt,
    className: claimClass(claim) || undefined,
    mayGrow: storageClass && storageClass.allowVolumeExpansion === true,
    persistentVolume: claim.spec.volumeName || undefined,
    accessModes: claim.spec.accessModes ?? [],
    block: claim.spec.volumeMode === "Block",
    pods: users.map((user) => ({ name: user.volume.pod.metadata.name ?? "", volume: user.volume.volume.name, node: user.nodeName })),
    unusedSince: unusedSince(claim.status?.conditions ?? []),
  };
}

/** Condition `Unused` stands on nearly every claim of a 1.37 cluster; only True says something. */
function unusedSince(conditions: readonly Condition[]): string | undefined {
  const condition = conditions.find(({ type, status }) => type === "Unused" && status === "True");
  return condition?.lastTransitionTime ?? undefined;
}

function searchableClaim(row: ClaimRow): SearchableClaim {
  return searchable(row, {
    namespace: row.namespace,
    claim: row.name,
    class: row.className ?? "",
    pod: row.pods.map((pod) => pod.name).join(" "),
    pv: row.persistentVolume ?? "",
    status: row.word,
  });
}
