/** One reader of evidence per picture of a cluster: a picture is a snapshot with the plugin tables and node reports beside it. */
import { isUnread } from "@/server/api/absent";
import type { NodeReport } from "@/lib/node-report";
import type { ClusterView, PluginHost } from "@/server/api/context";
import type { ClusterSnapshot, PodVolume, WatchedKind } from "@/server/cluster/snapshot";
import { gatherer, type VolumeEvidence } from "@/server/diagnosis/evidence";
import { matchOn } from "@/server/diagnosis/match";

export interface EvidenceReader {
  readonly snapshot: ClusterSnapshot;
  readonly unread: ReadonlySet<WatchedKind>;
  /** The same function for as long as the picture is the same. */
  readonly read: (volume: PodVolume) => VolumeEvidence;
}

interface Picture extends EvidenceReader {
  readonly hosts: readonly PluginHost[];
  readonly reports: readonly (NodeReport | undefined)[];
  readonly unreadText: string;
}

const pictures = new WeakMap<ClusterSnapshot, Picture>();

export function evidenceReader(view: ClusterView): EvidenceReader {
  const snapshot = view.snapshot();
  const hosts = view.pluginHosts();
  const reports = [...snapshot.nodes.keys()].map((name) => view.nodeReport(name));
  const unread = unreadKinds(view);
  const known = pictures.get(snapshot);
  if (known && sameTables(known.hosts, hosts) && sameItems(known.reports, reports) && known.unreadText === [...unread].join()) return known;
  const byNode = new Map(hosts.map((host) => [host.nodeName, host]));
  const read = gatherer({
    snapshot,
    unread,
    runsContainers: view.summary.mode !== "standalone",
    nodeReport: (name) => view.nodeReport(name),
    match: (volume) => matchOn(byNode.get(volume.pod.spec.nodeName ?? ""), volume),
  });
  const picture: Picture = { snapshot, read, unread, hosts, reports, unreadText: [...unread].join() };
  pictures.set(snapshot, picture);
  return picture;
}

function unreadKinds(view: ClusterView): ReadonlySet<WatchedKind> {
  return new Set(view.freshness().kinds.filter(isUnread).map(({ kind }) => kind));
}

function sameTables(a: readonly PluginHost[], b: readonly PluginHost[]): boolean {
  return a.length === b.length && a.every((host, index) => host.table === b[index]?.table && host.nodeName === b[index]?.nodeName);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
