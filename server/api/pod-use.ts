/** What the volumes of each pod of a node hold, added up from the node's own report. */
import type { NodeReport, ReportedVolume } from "@/lib/node-report";

export interface PodUse {
  readonly uid: string;
  /** Known only where the pod is in the API. */
  readonly namespace?: string;
  readonly name?: string;
  readonly volumes: number;
  /** How many of them the node could measure: the sums are of these. */
  readonly measured: number;
  readonly usedBytes?: string;
  readonly inodesUsed?: string;
}

/** The largest first; pods of which nothing is measured last. A volume that two pods share counts for each. */
export function useByPod(report: NodeReport): readonly PodUse[] {
  const byPod = new Map<string, ReportedVolume[]>();
  for (const volume of report.volumes) {
    byPod.set(volume.podUID, [...(byPod.get(volume.podUID) ?? []), volume]);
  }
  return [...byPod].map(([uid, volumes]) => useOf(uid, volumes)).sort(largestFirst);
}

function useOf(uid: string, volumes: readonly ReportedVolume[]): PodUse {
  const named = volumes.find((volume) => volume.podName !== undefined);
  return {
    uid,
    namespace: named?.podNamespace,
    name: named?.podName,
    volumes: volumes.length,
    measured: volumes.filter(({ usedBytes }) => usedBytes !== undefined).length,
    usedBytes: sumOf(volumes.map(({ usedBytes }) => usedBytes)),
    inodesUsed: sumOf(volumes.map(({ inodesUsed }) => inodesUsed)),
  };
}

/** undefined when nothing is known: never 0. */
function sumOf(texts: readonly (string | undefined)[]): string | undefined {
  const known = texts.filter((text) => text !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, text) => sum + BigInt(text), 0n).toString();
}

function largestFirst(a: PodUse, b: PodUse): number {
  const [mine, other] = [BigInt(a.usedBytes ?? -1), BigInt(b.usedBytes ?? -1)];
  if (mine !== other) return mine < other ? 1 : -1;
  return (a.name ?? a.uid) < (b.name ?? b.uid) ? -1 : 1;
}
