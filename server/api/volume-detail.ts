/** All that one volume's page shows, save the objects' YAML, which is read fresh when asked for. */
import type { KubeEvent } from "@/lib/kube/pods";
import { volumeCommands } from "@/lib/kubectl";
import type { GetVolume, VolumeObject } from "@/lib/inputs/volume";
import { AppError } from "@/lib/errors";
import type { NodeReport, ReportedMount, ReportedVolume } from "@/lib/node-report";
import type { Way } from "@/lib/way";
import { absent } from "@/server/api/absent";
import type { ClusterView, ObjectId } from "@/server/api/context";
import { evidenceReader } from "@/server/api/evidence-reader";
import { volumeRow, type VolumeRow } from "@/server/api/volume-rows";
import { eventTimeMs } from "@/server/cluster/build-snapshot";
import type { PodVolume } from "@/server/cluster/snapshot";
import type { VolumeEvidence } from "@/server/diagnosis/evidence";
import { specOf } from "@/server/diagnosis/match";
import { wayOf } from "@/server/diagnosis/way";
import { explain, type Explanation } from "@/server/volume/explain";

export interface EventRow {
  readonly about: "pod" | "claim" | "persistent volume";
  readonly reason: string;
  readonly message: string;
  readonly warning: boolean;
  readonly from: string;
  readonly count: number;
  /** Milliseconds since 1970; 0 where the event carries no time. */
  readonly lastSeenMs: number;
}

/** Where the volume lies on its node, as the node itself says; or why that is not known. */
export type OnNode =
  | { readonly known: true; readonly takenAt: string; readonly mounter: NodeReport["mounter"]; readonly volume: ReportedVolume | undefined; readonly mounts: readonly ReportedMount[] }
  | { readonly known: false; readonly why: string };

export interface VolumeDetail {
  readonly version: number;
  readonly row: VolumeRow;
  readonly way: Way;
  /** Every plugin of the node, in the order asked; undefined while there is nothing to ask with. */
  readonly match?: Explanation;
  /** What of the match can't be seen from here. */
  readonly matchNote?: string;
  readonly onNode: OnNode;
  readonly containers: readonly { readonly name: string; readonly path: string; readonly readOnly: boolean; readonly block: boolean }[];
  /** Newest first. */
  readonly events: readonly EventRow[];
  readonly objects: readonly { readonly object: VolumeObject; readonly name: string }[];
  readonly command: string;
  /** Why its size can't be changed from here; undefined where it may be tried. Only memory-backed volumes of a pod have one. */
  readonly resize?: { readonly refused?: string };
}

export function volumeDetail(view: ClusterView, input: GetVolume): VolumeDetail {
  const { snapshot, read } = evidenceReader(view);
  const volume = snapshot.podVolumeByKey.get(keyOf(input));
  if (!volume) throw absent(view, "pods", whatIsMissing(snapshot.pods.has(`${input.namespace}/${input.pod}`), input));
  const evidence = read(volume);
  const way = wayOf(evidence);
  const host = view.pluginHosts().find((each) => each.nodeName === evidence.nodeName);
  const spec = specOf(volume);
  return {
    version: snapshot.version,
    row: volumeRow(evidence, way),
    way,
    match: host && spec ? explain(host.table, spec) : undefined,
    matchNote: host?.notVisible,
    onNode: onNode(evidence),
    containers: containersOf(volume),
    events: eventsOf(evidence, snapshot.eventsByUid.get(volume.persistentVolume?.metadata.uid ?? "") ?? []),
    resize: resizeOf(view, volume),
    objects: [...objectIds(evidence)].map(([object, id]) => ({ object, name: id.name })),
    command: volumeCommands(view.kubectl, {
      namespace: input.namespace,
      pod: input.pod,
      claim: volume.claimName,
      persistentVolume: volume.persistentVolume?.metadata.name,
    }),
  };
}

/** The API path parts of one of the objects that a volume is made of. Throws AppError not-found. */
export function volumeObjectId(view: ClusterView, input: GetVolume, object: VolumeObject): ObjectId {
  const { snapshot, read } = evidenceReader(view);
  const volume = snapshot.podVolumeByKey.get(keyOf(input));
  const id = volume && objectIds(read(volume)).get(object);
  if (!id) throw new AppError("not-found", `Volume ${keyOf(input)} has no ${object}`);
  return id;
}

const keyOf = (input: GetVolume): string => `${input.namespace}/${input.pod}/${input.volume}`;

function whatIsMissing(podThere: boolean, { namespace, pod, volume }: GetVolume): string {
  return podThere ? `Pod ${pod} in ${namespace} has no volume ${volume}` : `There is no pod ${pod} in ${namespace}`;
}

function objectIds({ volume, storageClass, csiDriver }: VolumeEvidence): ReadonlyMap<VolumeObject, ObjectId> {
  const { pod, claim, persistentVolume } = volume;
  const namespace = pod.metadata.namespace;
  const ids: [VolumeObject, string | undefined, Omit<ObjectId, "name">][] = [
    ["pod", pod.metadata.name, { group: "", version: "v1", resource: "pods", namespace }],
    ["claim", claim?.metadata.name, { group: "", version: "v1", resource: "persistentvolumeclaims", namespace }],
    ["persistentVolume", persistentVolume?.metadata.name, { group: "", version: "v1", resource: "persistentvolumes" }],
    ["storageClass", storageClass?.metadata.name, { group: "storage.k8s.io", version: "v1", resource: "storageclasses" }],
    ["csiDriver", csiDriver?.metadata.name, { group: "storage.k8s.io", version: "v1", resource: "csidrivers" }],
  ];
  return new Map(ids.flatMap(([object, name, id]) => (name === undefined ? [] : [[object, { ...id, name }] as const])));
}

function resizeOf(view: ClusterView, { volume }: PodVolume): VolumeDetail["resize"] {
  if (volume.emptyDir?.medium !== "Memory") return undefined;
  if (!view.operations) return { refused: "This cluster is shown read-only: use the kubectl line, or resize it from a Voldeck that may change it." };
  return volume.emptyDir.sizeLimit === undefined ? { refused: "It has no sizeLimit, and Kubernetes lets none be added to a running pod." } : {};
}

function onNode({ nodeName, report, reported }: VolumeEvidence): OnNode {
  if (nodeName === undefined) return { known: false, why: "The pod is not bound to a node yet." };
  if (!report) return { known: false, why: `No agent answers on ${nodeName}: paths and mounts there are unknown.` };
  return { known: true, takenAt: report.takenAt, mounter: report.mounter, volume: reported, mounts: reported?.mounts ?? [] };
}

function containersOf({ pod, volume }: PodVolume): VolumeDetail["containers"] {
  const containers = [pod.spec.initContainers, pod.spec.containers, pod.spec.ephemeralContainers].flatMap((each) => each ?? []);
  return containers.flatMap((container) => [
    ...(container.volumeMounts ?? [])
      .filter((mount) => mount.name === volume.name)
      .map((mount) => ({ name: container.name, path: mount.mountPath, readOnly: mount.readOnly ?? false, block: false })),
    ...(container.volumeDevices ?? [])
      .filter((device) => device.name === volume.name)
      .map((device) => ({ name: container.name, path: device.devicePath, readOnly: false, block: true })),
  ]);
}

const eventsMax = 50;

function eventsOf(evidence: VolumeEvidence, pvEvents: readonly KubeEvent[]): readonly EventRow[] {
  const rows = [
    ...evidence.podEvents.map((event) => eventRow("pod", event)),
    ...evidence.claimEvents.map((event) => eventRow("claim", event)),
    ...pvEvents.map((event) => eventRow("persistent volume", event)),
  ];
  return rows.sort((a, b) => b.lastSeenMs - a.lastSeenMs).slice(0, eventsMax);
}

export function eventRow(about: EventRow["about"], event: KubeEvent): EventRow {
  return {
    about,
    reason: event.reason ?? "",
    message: event.message ?? "",
    warning: event.type === "Warning",
    from: event.reportingComponent || event.source?.component || "",
    count: event.series?.count ?? event.count ?? 1,
    lastSeenMs: eventTimeMs(event),
  };
}
