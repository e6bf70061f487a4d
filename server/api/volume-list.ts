/** The volume list: token volumes are left out until asked for. */
import { volumeFilterFields, type ListVolumes, type VolumeFilterField, type VolumeSortColumn } from "@/lib/inputs/volume";
import { tryParseQuantity } from "@/lib/quantity";
import { listPage, wordOrder, type ListPage, type ListShape } from "@/server/api/list";
import type { SearchableRow, VolumeRow } from "@/server/api/volume-rows";

export interface VolumeList extends ListPage<VolumeRow> {
  /** Token volumes that are left out. */
  readonly hiddenTokens: number;
}

const shape: ListShape<VolumeRow, VolumeFilterField, VolumeSortColumn> = {
  fields: volumeFilterFields,
  sortValues: {
    pod: (row) => row.key,
    status: wordOrder,
    plugin: (row) => (row.plugin.state === "one" ? row.plugin.name : row.plugin.state),
    node: (row) => row.node,
    size: (row) => tryParseQuantity(row.size)?.ceilValue(),
    used: usedShare,
  },
};

export function listVolumes(all: readonly SearchableRow[], version: number, query: Omit<ListVolumes, "cluster">): VolumeList {
  const rows = query.tokens ? all : all.filter(({ row }) => !row.token);
  return { ...listPage({ rows, version }, query, shape), total: all.length, hiddenTokens: all.length - rows.length };
}

/** Used part of the capacity, 0 to 1; undefined where the node does not say. */
export function usedShare({ usedBytes, capacityBytes }: { usedBytes?: string; capacityBytes?: string }): number | undefined {
  if (usedBytes === undefined || capacityBytes === undefined || capacityBytes === "0") return undefined;
  return Number(usedBytes) / Number(capacityBytes);
}
