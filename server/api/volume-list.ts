/** The volume list: token volumes are left out until asked for. */
import { volumeFilterFields, type ListVolumes, type VolumeFilterField, type VolumeGroup, type VolumeSortColumn } from "@/lib/inputs/volume";
import { tryParseQuantity } from "@/lib/quantity";
import { listPage, wordOrder, type GroupHead, type ListPage, type ListShape } from "@/server/api/list";
import type { SearchableRow, VolumeRow } from "@/server/api/volume-rows";

export interface VolumeList extends ListPage<VolumeRow> {
  /** The heads of groups in the window, each with its line: `offset` and `lines` count them as well. */
  readonly heads: readonly (GroupHead & { readonly at: number })[];
  /** Token volumes that are left out. */
  readonly hiddenTokens: number;
}

const shape: ListShape<VolumeRow, VolumeFilterField, VolumeSortColumn> = {
  fields: volumeFilterFields,
  sortValues: {
    pod: (row) => row.key,
    status: wordOrder,
    plugin: pluginOf,
    node: (row) => row.node,
    size: (row) => tryParseQuantity(row.size)?.ceilValue(),
    used: usedShare,
  },
};

function pluginOf({ plugin }: VolumeRow): string {
  return plugin.state === "one" ? plugin.name : plugin.state;
}

const groups: Readonly<Record<VolumeGroup, (row: VolumeRow) => string>> = {
  pod: (row) => `${row.namespace}/${row.pod}`,
  plugin: pluginOf,
  node: (row) => row.node ?? "",
  claim: (row) => (row.claim === undefined ? "" : `${row.namespace}/${row.claim}`),
};

export function listVolumes(all: readonly SearchableRow[], version: number, query: Omit<ListVolumes, "cluster">): VolumeList {
  const rows = query.tokens ? all : all.filter(({ row }) => !row.token);
  const groupOf = query.group && groups[query.group];
  const page = listPage({ rows, version }, query, { ...shape, groupOf });
  const heads = page.rows.flatMap((line, index) => ("head" in line ? [{ ...line, at: page.offset + index }] : []));
  return { ...page, rows: page.rows.flatMap((line) => ("head" in line ? [] : [line])), heads, total: all.length, hiddenTokens: all.length - rows.length };
}

/** Used part of the capacity, 0 to 1; undefined where the node does not say. */
export function usedShare({ usedBytes, capacityBytes }: { usedBytes?: string; capacityBytes?: string }): number | undefined {
  if (usedBytes === undefined || capacityBytes === undefined || capacityBytes === "0") return undefined;
  return Number(usedBytes) / Number(capacityBytes);
}
