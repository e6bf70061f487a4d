import type { UrlState } from "@/components/list/url-state";
import type { Sorting } from "@/components/list/sort-head";
import { statusWords, type StatusWord } from "@/lib/words";

const sortColumns = ["pod", "status", "plugin", "node", "size", "used"] as const;
export type VolumeSort = (typeof sortColumns)[number];

/** What the list is asked for, read from the address. */
export interface VolumeQuery {
  readonly cluster: string;
  readonly filter: string;
  readonly status: StatusWord | undefined;
  readonly tokens: boolean;
  readonly sort: VolumeSort;
  readonly descending: boolean;
}

export function volumeQuery(cluster: string, url: UrlState): VolumeQuery {
  const { column, descending } = sortingOf(url.get("sort"));
  return {
    cluster,
    filter: url.get("q"),
    status: statusWords.find((word) => word === url.get("status")),
    tokens: url.get("tokens") === "1",
    sort: column,
    descending,
  };
}

/** `size` or `-size`; anything else is the order of keys. */
function sortingOf(text: string): Sorting<VolumeSort> {
  const descending = text.startsWith("-");
  const column = sortColumns.find((each) => each === (descending ? text.slice(1) : text));
  return column === undefined ? { column: "pod", descending: false } : { column, descending };
}

export function sortingText({ column, descending }: Sorting<VolumeSort>): string {
  if (column === "pod" && !descending) return "";
  return descending ? `-${column}` : column;
}
