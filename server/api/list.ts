/** Filter, ledger, order and window, the same for every list. */
import { matches, parseFilter, type Haystack } from "@/lib/filter";
import { statusWords, type StatusWord } from "@/lib/words";

export type Ledger = Readonly<Record<StatusWord, number>>;

export interface ListRow {
  readonly key: string;
  readonly word: StatusWord;
}

export interface Searchable<Row, Field extends string> {
  readonly row: Row;
  readonly haystack: Haystack<Field>;
}

/** The line above the rows of a group. */
export interface GroupHead {
  readonly key: string;
  /** The group's name; empty for rows that belong to none. */
  readonly head: string;
  readonly count: number;
}

export interface ListPage<Row> {
  /** The snapshot it was made from. */
  readonly version: number;
  /** All of them, whatever is filtered. */
  readonly total: number;
  /** What the filter line leaves, by status word; the chosen word does not change it. */
  readonly ledger: Ledger;
  /** How many rows there are in all windows together. */
  readonly matched: number;
  /** The same with the heads of groups; offsets count these. */
  readonly lines: number;
  readonly offset: number;
  readonly rows: readonly Row[];
  /** Where the asked row stands now among all matched rows. */
  readonly anchorIndex?: number;
}

export interface ListQuery<Column extends string> {
  readonly filter: string;
  readonly status?: StatusWord | undefined;
  readonly sort: Column;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly anchor?: string | undefined;
}

export type SortValue = string | number | bigint | undefined;

export interface ListShape<Row, Field extends string, Column extends string> {
  readonly fields: readonly Field[];
  /** What each column sorts by; rows without a value stand last, whichever way. */
  readonly sortValues: Readonly<Record<Column, (row: Row) => SortValue>>;
}

/** Gravity of a word, for columns that sort by status. */
export function wordOrder(row: ListRow): number {
  return statusWords.indexOf(row.word);
}

type Source<Row, Field extends string> = { readonly rows: readonly Searchable<Row, Field>[]; readonly version: number };

export function listPage<Row extends ListRow, Field extends string, Column extends string>(
  all: Source<Row, Field>,
  query: ListQuery<Column>,
  shape: ListShape<Row, Field, Column>,
): ListPage<Row>;
/** With rows of one group together, below a head of their own. */
export function listPage<Row extends ListRow, Field extends string, Column extends string>(
  all: Source<Row, Field>,
  query: ListQuery<Column>,
  shape: ListShape<Row, Field, Column> & { readonly groupOf: ((row: Row) => string) | undefined },
): ListPage<Row | GroupHead>;
export function listPage<Row extends ListRow, Field extends string, Column extends string>(
  all: Source<Row, Field>,
  query: ListQuery<Column>,
  { groupOf, ...shape }: ListShape<Row, Field, Column> & { readonly groupOf?: ((row: Row) => string) | undefined },
): ListPage<Row | GroupHead> {
  const filter = parseFilter(query.filter, shape.fields);
  const filtered = query.filter === "" ? all.rows : all.rows.filter(({ haystack }) => matches(filter, haystack));
  const chosen = query.status === undefined ? filtered : filtered.filter(({ row }) => row.word === query.status);
  const rows = sorted(chosen, shape.sortValues[query.sort], query.descending).map(({ row }) => row);
  const counts = { version: all.version, total: all.rows.length, ledger: ledgerOf(filtered), matched: rows.length };
  return { ...counts, ...windowOf(groupOf ? withHeads(rows, groupOf) : rows, query) };
}

function windowOf<Line extends { readonly key: string }>(lines: readonly Line[], query: Pick<ListQuery<string>, "offset" | "limit" | "anchor">) {
  const anchorIndex = query.anchor === undefined ? -1 : lines.findIndex(({ key }) => key === query.anchor);
  return {
    lines: lines.length,
    offset: query.offset,
    rows: lines.slice(query.offset, query.offset + query.limit),
    ...(anchorIndex >= 0 ? { anchorIndex } : {}),
  };
}

/** Groups in the order of their names, rows without one last; within a group the order of the rows stays. */
function withHeads<Row extends ListRow>(rows: readonly Row[], groupOf: (row: Row) => string): readonly (Row | GroupHead)[] {
  const groups = [...Map.groupBy(rows, groupOf)].sort(([a], [b]) => (a === "" || b === "" ? Number(a === "") - Number(b === "") : a < b ? -1 : 1));
  return groups.flatMap(([head, members]) => [{ key: `group ${head}`, head, count: members.length }, ...members]);
}

function ledgerOf(rows: readonly { readonly row: ListRow }[]): Ledger {
  const ledger: Record<StatusWord, number> = { failed: 0, stuck: 0, working: 0, waiting: 0, unknown: 0, ok: 0, "not applicable": 0 };
  for (const { row } of rows) ledger[row.word] += 1;
  return ledger;
}

/** Stable: among equals the order that rows came in stays. */
function sorted<Row, Field extends string>(
  rows: readonly Searchable<Row, Field>[],
  valueOf: (row: Row) => SortValue,
  descending: boolean,
): readonly Searchable<Row, Field>[] {
  const valued = rows.map((each) => ({ each, value: valueOf(each.row) }));
  const direction = descending ? -1 : 1;
  valued.sort((a, b) => {
    if (a.value === undefined || b.value === undefined) return Number(a.value === undefined) - Number(b.value === undefined);
    return a.value === b.value ? 0 : a.value < b.value ? -direction : direction;
  });
  return valued.map(({ each }) => each);
}

/** A row with what a filter may look in: all fields as plain words, and more where given. */
export function searchable<Row, Field extends string>(row: Row, fields: Readonly<Record<Field, string>>): Searchable<Row, Field> {
  const lower: Record<Field, string> = { ...fields };
  for (const field in lower) lower[field] = lower[field].toLowerCase();
  return { row, haystack: { text: Object.values(lower).join(" "), fields: lower } };
}
