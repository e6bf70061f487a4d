import type { Sorting } from "@/components/list/sort-head";
import type { UrlState } from "@/components/list/url-state";
import { statusWords, type StatusWord } from "@/lib/words";

/** What a list is asked for, read from the address. */
export interface ListQuery<Column extends string> {
  readonly cluster: string;
  readonly filter: string;
  readonly status: StatusWord | undefined;
  readonly sort: Column;
  readonly descending: boolean;
}

/** The columns that sort; the first is the order that rows come in. */
export interface SortColumns<Column extends string> {
  readonly columns: readonly [Column, ...Column[]];
  /** Which way the first column goes by itself. */
  readonly descending?: boolean;
}

export function listQuery<Column extends string>(cluster: string, url: UrlState, order: SortColumns<Column>): ListQuery<Column> {
  const { column, descending } = sortingOf(url.get("sort"), order);
  return { cluster, filter: url.get("q"), status: statusWords.find((word) => word === url.get("status")), sort: column, descending };
}

/** `size` or `-size`; anything else is the order that rows come in. */
export function sortingOf<Column extends string>(text: string, order: SortColumns<Column>): Sorting<Column> {
  const descending = text.startsWith("-");
  const column = order.columns.find((each) => each === (descending ? text.slice(1) : text));
  return column === undefined ? { column: order.columns[0], descending: order.descending ?? false } : { column, descending };
}

export function sortingText<Column extends string>({ column, descending }: Sorting<Column>, order: SortColumns<Column>): string {
  if (column === order.columns[0] && descending === (order.descending ?? false)) return "";
  return descending ? `-${column}` : column;
}
