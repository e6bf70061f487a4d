/** Rows of the volume list, made once per picture of a cluster and kept until the picture changes. */
import { isTokenVolume, sourceInWords, type SourceInWords } from "@/lib/volume-source";
import { storageOf } from "@/lib/kube/storage";
import type { VolumeFilterField } from "@/lib/inputs/volume";
import type { ReportedVolume } from "@/lib/node-report";
import type { Way, WayStage } from "@/lib/way";
import type { StageState, StatusWord } from "@/lib/words";
import type { ClusterView } from "@/server/api/context";
import { searchable, type Searchable } from "@/server/api/list";
import type { PodVolume } from "@/server/cluster/snapshot";
import { csiDriverOf, type Match, type VolumeEvidence } from "@/server/diagnosis/evidence";
import { evidenceReader } from "@/server/api/evidence-reader";
import { wayOf } from "@/server/diagnosis/way";

/** The plugin that serves a volume, or why no single one can be named. */
export type ServedBy =
  | { readonly state: "one"; readonly name: string }
  | { readonly state: "none" | "not yet" | "unknown" }
  | { readonly state: "several"; readonly names: readonly string[] };

export interface VolumeRow {
  /** `<namespace>/<pod>/<volume>` */
  readonly key: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly volume: string;
  readonly word: StatusWord;
  /** The stage that gives the word. */
  readonly at: WayStage;
  /** States of the ten stages, in order. */
  readonly ticks: readonly StageState[];
  readonly plugin: ServedBy;
  readonly driver?: string;
  readonly node?: string;
  readonly claim?: string;
  readonly persistentVolume?: string;
  readonly source: SourceInWords;
  /** Granted size as the API spells it. */
  readonly size?: string;
  /** Requested size, only where it is larger than what is granted. */
  readonly growsTo?: string;
  readonly usedBytes?: string;
  readonly capacityBytes?: string;
  /** First path a container sees it at. */
  readonly mountedAt?: string;
  readonly token: boolean;
}

export type SearchableRow = Searchable<VolumeRow, VolumeFilterField>;

/** All rows of a cluster in the order of keys. */
export function volumeRows(view: ClusterView): readonly SearchableRow[] {
  const { snapshot, read } = evidenceReader(view);
  const known = cache.get(read);
  if (known) return known;
  const rows = snapshot.podVolumes.map((volume) => searchableRow(rowOf(read(volume))));
  cache.set(read, rows);
  return rows;
}

/** By the reader of one picture: a new picture has a new one. */
const cache = new WeakMap<object, readonly SearchableRow[]>();

export function rowOf(evidence: VolumeEvidence): VolumeRow {
  return volumeRow(evidence, wayOf(evidence));
}

export function volumeRow(evidence: VolumeEvidence, way: Way): VolumeRow {
  const { volume: joined, reported } = evidence;
  const { pod, volume, claim, persistentVolume } = joined;
  const requested = storageOf(claim?.spec.resources?.requests);
  const granted = storageOf(claim?.status?.capacity);
  const growing = way.stages.some(({ stage, state }) => stage === "expand" && state !== "not applicable");
  return {
    key: joined.key,
    namespace: pod.metadata.namespace ?? "",
    pod: pod.metadata.name ?? "",
    podUid: pod.metadata.uid ?? "",
    volume: volume.name,
    word: way.word,
    at: way.at,
    ticks: way.stages.slice(0, ticksShown).map(({ state }) => state),
    plugin: servedBy(evidence.match, joined),
    driver: csiDriverOf(joined),
    node: evidence.nodeName,
    claim: joined.claimName,
    persistentVolume: persistentVolume?.metadata.name,
    source: joined.claimName === undefined ? sourceInWords(volume) : { kind: claimKind(joined), name: joined.claimName },
    size: granted ?? requested ?? volume.emptyDir?.sizeLimit,
    growsTo: growing && requested !== granted ? requested : undefined,
    ...usage(reported),
    mountedAt: mountedAt(joined),
    token: isTokenVolume(volume),
  };
}

const ticksShown = 10;

function claimKind({ claim, volume }: PodVolume): string {
  if (claim?.spec.volumeMode === "Block") return "block claim";
  return volume.ephemeral ? "ephemeral claim" : "claim";
}

function servedBy(match: Match, volume: PodVolume): ServedBy {
  switch (match.kind) {
    case "one":
      return { state: "one", name: match.plugin };
    case "several":
      return { state: "several", names: match.plugins };
    case "none":
      return { state: "none" };
    case "unknown":
      return { state: volume.claimName !== undefined && !volume.persistentVolume ? "not yet" : "unknown" };
  }
}

/** Only of a file system of its own: what lies on the node's is counted with the node. */
function usage(reported: ReportedVolume | undefined): Pick<VolumeRow, "usedBytes" | "capacityBytes"> {
  return reported?.state === "mounted" && reported.mounts.length > 0 ? { usedBytes: reported.usedBytes, capacityBytes: reported.capacityBytes } : {};
}

function mountedAt({ pod, volume }: PodVolume): string | undefined {
  for (const container of pod.spec.containers ?? []) {
    const mount = container.volumeMounts?.find((each) => each.name === volume.name);
    if (mount) return mount.mountPath;
    const device = container.volumeDevices?.find((each) => each.name === volume.name);
    if (device) return device.devicePath;
  }
  return undefined;
}

function searchableRow(row: VolumeRow): SearchableRow {
  const plugin = row.plugin.state === "one" ? row.plugin.name : row.plugin.state === "several" ? row.plugin.names.join(" ") : row.plugin.state;
  return searchable(row, {
    namespace: row.namespace,
    pod: row.pod,
    volume: row.volume,
    plugin,
    driver: row.driver ?? "",
    node: row.node ?? "",
    status: row.word,
    at: row.at,
    claim: row.claim ?? "",
    pv: row.persistentVolume ?? "",
    source: `${row.source.kind} ${row.source.name ?? ""}`,
  });
}
