/** Nodes as rows, and what is really on one: wanted by pods, reported to the API and found on the node, side by side. */
import type { NodeFilterField } from "@/lib/inputs/node";
import { getCommand } from "@/lib/kubectl";
import type { NodeReport, ReportedDisk, ReportedVolume } from "@/lib/node-report";
import type { StatusWord } from "@/lib/words";
import type { Node } from "@/lib/kube/nodes";
import { absent } from "@/server/api/absent";
import type { ClusterView } from "@/server/api/context";
import { searchable, type Searchable } from "@/server/api/list";
import { useByPod, type PodUse } from "@/server/api/pod-use";
import { volumeRows, type VolumeRow } from "@/server/api/volume-rows";

export interface NodeDriver {
  readonly name: string;
  readonly used: number;
  readonly limit?: number;
}

export interface NodeRow {
  readonly key: string;
  readonly name: string;
  readonly word: StatusWord;
  /** What the word rests on. */
  readonly why: string;
  readonly kubeletVersion?: string;
  readonly ready?: boolean;
  /** `node`: its own report; `observed`: derived from API objects. */
  readonly source: "node" | "observed";
  readonly reportedAt?: string;
  readonly volumes: number;
  readonly troubled: number;
  /** undefined: no report says it. */
  readonly disk?: ReportedDisk;
  readonly mounts?: number;
  readonly leftovers?: number;
  readonly attached: number;
  readonly inUse: number;
  readonly drivers: readonly NodeDriver[];
}

export type SearchableNode = Searchable<NodeRow, NodeFilterField>;

/** One line of the comparison. */
export interface ComparedVolume {
  readonly key: string;
  readonly word: StatusWord;
  /** `<pod> / <volume>`, or what the node calls it. */
  readonly title: string;
  readonly differs: boolean;
  readonly wanted?: string;
  readonly reported?: string;
  readonly found?: string;
  readonly meaning: string;
  readonly row?: VolumeRow;
}

export interface NodeDetail {
  readonly version: number;
  readonly row: NodeRow;
  readonly compared: readonly ComparedVolume[];
  /** undefined: no agent answers there. */
  readonly pods?: readonly PodUse[];
  readonly report?: NodeReport;
  readonly command: string;
}

export function nodeRows(view: ClusterView): readonly SearchableNode[] {
  return [...view.snapshot().nodes.values()]
    .map((node) => nodeRow(view, node))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((row) => searchable(row, { node: row.name, status: row.word, version: row.kubeletVersion ?? "" }));
}

export function nodeDetail(view: ClusterView, name: string): NodeDetail {
  const snapshot = view.snapshot();
  const node = snapshot.nodes.get(name);
  if (!node) throw absent(view, "nodes", `There is no node ${name}`);
  const report = view.nodeReport(name);
  const compared = compare(view, node, report);
  return {
    version: snapshot.version,
    row: nodeRow(view, node),
    compared: [...compared.filter((each) => each.differs), ...compared.filter((each) => !each.differs)],
    pods: report && useByPod(report),
    report,
    command: getCommand(view.kubectl, { resource: "node", name }),
  };
}

function nodeRow(view: ClusterView, node: Node): NodeRow {
  const name = node.metadata.name ?? "";
  const report = view.nodeReport(name);
  const volumes = volumesOn(view, name);
  const ready = node.status?.conditions?.find((each) => each.type === "Ready");
  const troubled = volumes.filter(({ word }) => word === "stuck" || word === "failed").length;
  return {
    key: name,
    name,
    ...judge({ ready: ready?.status, troubled, report }),
    kubeletVersion: node.status?.nodeInfo?.kubeletVersion,
    ready: ready && ready.status === "True",
    source: report ? "node" : "observed",
    reportedAt: report?.takenAt,
    volumes: volumes.length,
    troubled,
    disk: report?.disk,
    mounts: report && report.otherMounts.length + report.volumes.reduce((sum, volume) => sum + volume.mounts.length, 0),
    leftovers: report?.leftovers?.length,
    attached: node.status?.volumesAttached?.length ?? 0,
    inUse: node.status?.volumesInUse?.length ?? 0,
    drivers: driversOf(view, name, volumes),
  };
}

interface NodeFacts {
  readonly ready: string | undefined;
  readonly troubled: number;
  readonly report: NodeReport | undefined;
}

function judge({ ready, troubled, report }: NodeFacts): { word: StatusWord; why: string } {
  if (ready === "False") return { word: "failed", why: "condition Ready is False" };
  if (troubled > 0) return { word: "stuck", why: troubled === 1 ? "1 volume is stuck or failed" : `${troubled} volumes are stuck or failed` };
  if (ready === "Unknown") return { word: "unknown", why: "condition Ready is Unknown: the kubelet is not heard" };
  if ((report?.leftovers?.length ?? 0) > 0) return { word: "stuck", why: "folders of pods are left behind" };
  const lost = report?.volumes.filter(({ setUpAgain }) => setUpAgain === "at the next sync").length ?? 0;
  if (lost > 0) return { word: "working", why: lost === 1 ? "1 volume is gone from the node and is set up again" : `${lost} volumes are gone from the node and are set up again` };
  if (!report) return { word: "unknown", why: "no agent answers: what is mounted there is not known" };
  return { word: "ok", why: "wanted and found agree" };
}

function volumesOn(view: ClusterView, nodeName: string): readonly VolumeRow[] {
  return volumeRows(view).flatMap(({ row }) => (row.node === nodeName ? [row] : []));
}

function driversOf(view: ClusterView, nodeName: string, volumes: readonly VolumeRow[]): readonly NodeDriver[] {
  const drivers = view.snapshot().csiNodes.get(nodeName)?.spec.drivers ?? [];
  return drivers.map(({ name, allocatable }) => ({
    name,
    used: new Set(volumes.filter((row) => row.driver === name).map((row) => row.persistentVolume ?? row.key)).size,
    limit: allocatable?.count,
  }));
}

function compare(view: ClusterView, node: Node, report: NodeReport | undefined): readonly ComparedVolume[] {
  const rows = volumesOn(view, node.metadata.name ?? "");
  const inUse = new Set(node.status?.volumesInUse ?? []);
  const byKey = new Map(report?.volumes.map((volume) => [`${volume.podUID}/${volume.specName}`, volume]));
  const wanted = rows.map((row) => {
    const key = `${row.podUid}/${row.claim === undefined ? row.volume : (row.persistentVolume ?? row.volume)}`;
    const found = byKey.get(key);
    byKey.delete(key);
    return comparedRow(row, { found, report, inUse });
  });
  const unwanted = [...byKey.values()].filter((volume) => volume.found || volume.mounts.length > 0).map((volume) => leftover(volume, inUse, report?.root ?? ""));
  const folders = (report?.leftovers ?? []).map(({ podUID, path, why }) => ({
    key: `folder ${podUID}`,
    word: "stuck" as const,
    title: `pod ${podUID}`,
    differs: true,
    wanted: "no such pod",
    found: withoutRoot(path, report?.root ?? ""),
    meaning: why,
  }));
  return [...wanted, ...unwanted, ...folders];
}

interface Sides {
  readonly found: ReportedVolume | undefined;
  readonly report: NodeReport | undefined;
  readonly inUse: ReadonlySet<string>;
}

function comparedRow(row: VolumeRow, { found, report, inUse }: Sides): ComparedVolume {
  const calm = row.word === "ok" || row.word === "not applicable" || (row.word === "unknown" && !report);
  return {
    key: row.key,
    word: row.word,
    title: `${row.pod} / ${row.volume}`,
    differs: !calm,
    wanted: [row.source.kind, row.source.name, row.growsTo ?? row.size].filter(Boolean).join(" "),
    reported: found?.uniqueName !== undefined && inUse.has(found.uniqueName) ? "in use" : undefined,
    found: report && withoutRoot(foundInWords(found), report.root),
    meaning: calm ? "" : `${row.word} at ${row.at}${found?.state === "lost" ? ": what was set up is gone" : ""}`,
    row,
  };
}

function foundInWords(volume: ReportedVolume | undefined): string {
  if (!volume?.found && (volume?.mounts.length ?? 0) === 0) return "nothing";
  if (volume?.state === "lost") return volume.found ? `${volume.path}, nothing mounted` : "nothing";
  const mount = volume?.mounts.at(-1);
  return mount ? `${mount.source} ${mount.fsType}` : (volume?.path ?? "nothing");
}

/** Paths below the node's root begin with `…/`. */
function withoutRoot(text: string, root: string): string {
  return root !== "" && text.startsWith(`${root}/`) ? `…${text.slice(root.length)}` : text;
}

function leftover(volume: ReportedVolume, inUse: ReadonlySet<string>, root: string): ComparedVolume {
  return {
    key: `${volume.podUID}/${volume.specName}`,
    word: volume.state === "unmounting" ? "working" : "stuck",
    title: `pod ${volume.podName ?? volume.podUID} / ${volume.specName}`,
    differs: true,
    wanted: "no such pod here",
    reported: volume.uniqueName !== undefined && inUse.has(volume.uniqueName) ? "in use" : undefined,
    found: withoutRoot(volume.path, root) + (volume.mounts.length > 0 ? ` ${withoutRoot(foundInWords(volume), root)}` : ""),
    meaning: volume.mounts.length > 0 ? "Left behind and still mounted. Do not delete the folder by hand." : "Left behind; nothing is mounted there.",
  };
}
