/**
 * Makes the next snapshot from the previous one and what changed since: pure, and cheap where little changed. Whatever did not
 * change keeps its identity.
 */
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import { OverlayMap } from "@/server/cluster/overlay-map";
import { firstAtOrAfter, SortedPodVolumes } from "@/server/cluster/sorted-pod-volumes";
import type { ClusterSnapshot, ObjectKey, PodVolume, WatchedKind, WatchedKinds } from "@/server/cluster/snapshot";
import type { StoreState } from "@/server/cluster/store";

export type StoreStates = { readonly [K in WatchedKind]: StoreState<WatchedKinds[K]> };

/** The states must hold every change since the previous snapshot; without a previous one the objects alone count. */
export function buildSnapshot(previous: ClusterSnapshot | undefined, stores: StoreStates, nowMs: number): ClusterSnapshot {
  const { podVolumes, podVolumeByKey, podVolumesByClaim } = previous ? nextPodVolumes(previous, stores) : allPodVolumes(stores);
  return {
    version: (previous?.version ?? 0) + 1,
    takenAtMs: nowMs,
    pods: stores.pods.objects,
    claims: stores.persistentvolumeclaims.objects,
    persistentVolumes: stores.persistentvolumes.objects,
    storageClasses: stores.storageclasses.objects,
    csiDrivers: stores.csidrivers.objects,
    csiNodes: stores.csinodes.objects,
    volumeAttachments: stores.volumeattachments.objects,
    nodes: stores.nodes.objects,
    namespaces: stores.namespaces.objects,
    eventsByUid: nextEvents(previous, stores.events),
    podVolumes,
    podVolumeByKey,
    podVolumesByClaim,
  };
}

/** The claim that a volume of a pod uses, by name: its own, or the one made for an ephemeral volume. */
export function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral ? `${pod.metadata.name ?? ""}-${volume.name}` : undefined;
}

/** When an event was last seen, in milliseconds; 0 where it carries no time. */
export function eventTimeMs(event: KubeEvent): number {
  const text = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? event.metadata.creationTimestamp;
  const ms = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? 0 : ms;
}

/** `<namespace>/<pod>/`: volumes of one pod stand together in the order of keys, because no name holds a slash. */
function prefixOf(podKey: ObjectKey): string {
  return `${podKey}/`;
}

type Joined = Pick<ClusterSnapshot, "podVolumes" | "podVolumeByKey" | "podVolumesByClaim">;

function allPodVolumes(stores: StoreStates): Joined {
  const all: PodVolume[] = [];
  for (const [, podKey] of inOrder(stores.pods.objects.keys())) {
    for (const volume of volumesOf(stores.pods.objects.get(podKey), stores)) all.push(volume);
  }
  return { podVolumes: all, podVolumeByKey: new SortedPodVolumes(all), podVolumesByClaim: groupByClaim(all) };
}

/** `[prefix, key]` of pods, in the order of their volumes' keys. */
function inOrder(podKeys: Iterable<ObjectKey>): readonly (readonly [prefix: string, podKey: ObjectKey])[] {
  return Array.from(podKeys, (key) => [prefixOf(key), key] as const).sort(([a], [b]) => compare(a, b));
}

/** The volumes of affected pods are cut out of the sorted array and joined anew; everything between is kept. */
function nextPodVolumes(previous: ClusterSnapshot, stores: StoreStates): Joined {
  const affected = affectedPods(previous, stores);
  if (affected.size === 0) return previous;
  const parts: (readonly PodVolume[])[] = [];
  const gone: PodVolume[] = [];
  const come: PodVolume[] = [];
  let copiedUpTo = 0;
  for (const [prefix, podKey] of inOrder(affected)) {
    const start = firstAtOrAfter(previous.podVolumes, prefix);
    let end = start;
    while (previous.podVolumes[end]?.key.startsWith(prefix)) end += 1;
    const joined = volumesOf(stores.pods.objects.get(podKey), stores);
    parts.push(previous.podVolumes.slice(copiedUpTo, start), joined);
    gone.push(...previous.podVolumes.slice(start, end));
    come.push(...joined);
    copiedUpTo = end;
  }
  parts.push(previous.podVolumes.slice(copiedUpTo));
  const podVolumes = new Array<PodVolume>().concat(...parts);
  return {
    podVolumes,
    podVolumeByKey: new SortedPodVolumes(podVolumes),
    podVolumesByClaim: regroup(previous.podVolumesByClaim, gone, come),
  };
}

/** Pods that changed, and pods of volumes whose claim or persistent volume changed. */
function affectedPods(previous: ClusterSnapshot, stores: StoreStates): ReadonlySet<ObjectKey> {
  const affected = new Set(stores.pods.changed.keys());
  const add = (volume: PodVolume) => affected.add(volume.key.slice(0, volume.key.lastIndexOf("/")));
  for (const claimKey of stores.persistentvolumeclaims.changed.keys()) previous.podVolumesByClaim.get(claimKey)?.forEach(add);
  const changed = stores.persistentvolumes.changed;
  if (changed.size === 0) return affected;
  for (const volume of previous.podVolumes) {
    const name = volume.claim?.spec.volumeName;
    if (name !== undefined && changed.has(name)) add(volume);
  }
  return affected;
}

/** In the order of keys; of volumes with the same name (a real server allows none) the first counts. */
function volumesOf(pod: Pod | undefined, stores: StoreStates): readonly PodVolume[] {
  if (!pod || !Array.isArray(pod.spec.volumes)) return [];
  const sorted = pod.spec.volumes.map((volume) => join(pod, volume, stores)).sort((a, b) => compare(a.key, b.key));
  return sorted.filter((volume, index) => volume.key !== sorted[index - 1]?.key);
}

function join(pod: Pod, volume: Volume, stores: StoreStates): PodVolume {
  const { namespace = "", name = "" } = pod.metadata;
  const key = `${namespace}/${name}/${volume.name}`;
  const claimName = claimNameOf(pod, volume);
  const found = claimName === undefined ? undefined : stores.persistentvolumeclaims.objects.get(`${namespace}/${claimName}`);
  const claim = found && (!volume.ephemeral || isOwnedBy(found, pod)) ? found : undefined;
  const persistentVolume = claim?.spec.volumeName ? stores.persistentvolumes.objects.get(claim.spec.volumeName) : undefined;
  return { key, pod, volume, claimName, claim, persistentVolume };
}

/** A claim of the right name that was made by somebody else is not the ephemeral volume's. */
export function isOwnedBy(claim: PersistentVolumeClaim, pod: Pod): boolean {
  return claim.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === pod.metadata.uid) ?? false;
}

type ByClaim = ClusterSnapshot["podVolumesByClaim"];

/** Only claims that a changed volume names are grouped anew. */
function regroup(previous: ByClaim, gone: readonly PodVolume[], come: readonly PodVolume[]): ByClaim {
  const left = new Set(gone.filter((volume) => volume.claimName !== undefined));
  const arrived = groupByClaim(come);
  if (left.size + arrived.size === 0) return previous;
  const touched = new Set([...Array.from(left, claimKeyOf), ...arrived.keys()]);
  return changedMap(previous, touched, (key) => {
    const rest = (previous.get(key) ?? []).filter((volume) => !left.has(volume));
    return [...rest, ...(arrived.get(key) ?? [])].sort((a, b) => compare(a.key, b.key));
  });
}

/** The groups of these keys made anew; an empty one goes. */
function changedMap<T>(
  previous: ReadonlyMap<string, readonly T[]>,
  keys: Iterable<string>,
  group: (key: string) => readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const groups = Array.from(keys, (key) => [key, group(key)] as const);
  const base = previous instanceof OverlayMap ? (previous as OverlayMap<string, readonly T[]>) : OverlayMap.over(previous);
  return base.with(groups.map(([key, members]) => [key, members.length === 0 ? undefined : members]));
}

function claimKeyOf(volume: PodVolume): ObjectKey {
  return `${volume.pod.metadata.namespace ?? ""}/${volume.claimName ?? ""}`;
}

function groupByClaim(podVolumes: readonly PodVolume[]): Map<ObjectKey, PodVolume[]> {
  const groups = new Map<ObjectKey, PodVolume[]>();
  for (const volume of podVolumes) {
    if (volume.claimName === undefined) continue;
    const key = claimKeyOf(volume);
    const group = groups.get(key);
    if (group) group.push(volume);
    else groups.set(key, [volume]);
  }
  return groups;
}

function nextEvents(previous: ClusterSnapshot | undefined, events: StoreState<KubeEvent>): ClusterSnapshot["eventsByUid"] {
  if (!previous) return groupEvents(events.objects.values());
  if (events.changed.size === 0) return previous.eventsByUid;
  const replaced = new Set(events.changed.values());
  const arrived = groupEvents([...events.changed.keys()].flatMap((key) => events.objects.get(key) ?? []));
  const touched = new Set([...arrived.keys(), ...[...replaced].flatMap((event) => (event ? uidOf(event) : []))]);
  return changedMap(previous.eventsByUid, touched, (uid) => {
    const rest = (previous.eventsByUid.get(uid) ?? []).filter((event) => !replaced.has(event));
    return [...rest, ...(arrived.get(uid) ?? [])].sort(byTime);
  });
}

function groupEvents(events: Iterable<KubeEvent>): Map<string, KubeEvent[]> {
  const groups = new Map<string, KubeEvent[]>();
  for (const event of events) {
    const group = groups.get(uidOf(event));
    if (group) group.push(event);
    else groups.set(uidOf(event), [event]);
  }
  for (const group of groups.values()) group.sort(byTime);
  return groups;
}

function uidOf(event: KubeEvent): string {
  return event.involvedObject.uid ?? "";
}

/** Oldest first; of the same second the one that was made later comes later. */
function byTime(a: KubeEvent, b: KubeEvent): number {
  return eventTimeMs(a) - eventTimeMs(b) || compare(a.metadata.name ?? "", b.metadata.name ?? "");
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
