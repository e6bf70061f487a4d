/** Filter, ledger, order and window of the volume list. */
import { matches, parseFilter } from "@/lib/filter";
import { volumeFilterFields, type ListVolumes, type VolumeSortColumn } from "@/lib/inputs/volume";
import { tryParseQuantity } from "@/lib/quantity";
import { statusWords, type StatusWord } from "@/lib/words";
import type { SearchableRow, VolumeRow } from "@/server/api/volume-rows";

export type Ledger = Readonly<Record<StatusWord, number>>;

export interface VolumeList {
  /** The snapshot it was made from. */
  readonly version: number;
  /** All volumes of the cluster, whatever is filtered. */
  readonly total: number;
  /** Token volumes that are left out. */
  readonly hiddenTokens: number;
  /** What the filter line leaves, by status word; the chosen word does not change it. */
  readonly ledger: Ledger;
  /** How many rows there are in all windows together. */
  readonly matched: number;
  readonly offset: number;
  readonly rows: readonly VolumeRow[];
  /** Where the asked row stands now among all matched rows. */
  readonly anchorIndex?: number;
}

type Query = Omit<ListVolumes, "cluster">;

export function listVolumes(all: readonly SearchableRow[], version: number, query: Query): VolumeList {
  const filter = parseFilter(query.filter, volumeFilterFields);
  const seen = query.tokens ? all : all.filter(({ row }) => !row.token);
  const filtered = query.filter === "" ? seen : seen.filter(({ haystack }) => matches(filter, haystack));
  const chosen = query.status === undefined ? filtered : filtered.filter(({ row }) => row.word === query.status);
  const rows = sorted(chosen, query);
  const anchorIndex = query.anchor === undefined ? -1 : rows.findIndex(({ row }) => row.key === query.anchor);
  return {
    version,
    total: all.length,
    hiddenTokens: all.length - seen.length,
    ledger: ledgerOf(filtered),
    matched: rows.length,
    offset: query.offset,
    rows: rows.slice(query.offset, query.offset + query.limit).map(({ row }) => row),
    ...(anchorIndex >= 0 ? { anchorIndex } : {}),
  };
}

function ledgerOf(rows: readonly SearchableRow[]): Ledger {
  const ledger: Record<StatusWord, number> = { failed: 0, stuck: 0, working: 0, waiting: 0, unknown: 0, ok: 0, "not applicable": 0 };
  for (const { row } of rows) ledger[row.word] += 1;
  return ledger;
}

/** Rows come in the order of keys; every other order keeps that one among equals. Empty values stand last, whichever way. */
function sorted(rows: readonly SearchableRow[], { sort, descending }: Query): readonly SearchableRow[] {
  if (sort === "pod") return descending ? rows.toReversed() : rows;
  const valued = rows.map((each) => ({ each, value: sortValues[sort](each.row) }));
  const direction = descending ? -1 : 1;
  valued.sort((a, b) => {
    if (a.value === undefined || b.value === undefined) return Number(a.value === undefined) - Number(b.value === undefined);
    return a.value === b.value ? 0 : a.value < b.value ? -direction : direction;
  });
  return valued.map(({ each }) => each);
}

type SortValue = string | number | bigint | undefined;

const sortValues: Readonly<Record<VolumeSortColumn, (row: VolumeRow) => SortValue>> = {
  pod: (row) => row.key,
  status: (row) => statusWords.indexOf(row.word),
  plugin: (row) => (row.plugin.state === "one" ? row.plugin.name : row.plugin.state),
  node: (row) => row.node,
  size: (row) => tryParseQuantity(row.size)?.ceilValue(),
  used: usedShare,
};

/** Used part of the capacity, 0 to 1; undefined where the node does not say. */
function usedShare({ usedBytes, capacityBytes }: VolumeRow): number | undefined {
  if (usedBytes === undefined || capacityBytes === undefined || capacityBytes === "0") return undefined;
  return Number(usedBytes) / Number(capacityBytes);
}
