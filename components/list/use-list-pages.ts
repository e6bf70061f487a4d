"use client";

import { keepPreviousData, useQueries } from "@tanstack/react-query";

export const pageRows = 100;

/** One window of a long list, as every list procedure answers it. */
export interface ListAnswer<Row> {
  readonly version: number;
  readonly matched: number;
  /** Rows and heads of groups together. */
  readonly lines: number;
  readonly offset: number;
  readonly rows: readonly Row[];
  readonly anchorIndex?: number;
}

export interface ListWindow {
  readonly offset: number;
  readonly limit: number;
  readonly anchor?: string;
}

export interface ListSource<Answer> {
  /** The procedure's path, such as `["volume", "list"]`: the live stream finds the query by it. */
  readonly path: readonly [string, string];
  /** What is asked beside the window. */
  readonly query: object;
  readonly fetch: (window: ListWindow) => Promise<Answer>;
}

export interface ListPages<Row, Answer> {
  /** The newest answer: counts, ledger, command. */
  readonly list: Answer | undefined;
  readonly error: unknown;
  readonly rowAt: (index: number) => Row | undefined;
  readonly refetch: () => void;
  /** Asks where a row stands now; undefined when it is gone. */
  readonly findRow: (key: string) => Promise<number | undefined>;
}

/** The windows of a list that the rows in sight lie in. What was seen stays while the next answer is on its way. */
export function useListPages<Row, Answer extends ListAnswer<Row>>(
  source: ListSource<Answer>,
  inSight: { readonly first: number; readonly last: number },
): ListPages<Row, Answer> {
  const first = Math.floor(inSight.first / pageRows);
  const count = Math.floor(Math.max(inSight.first, inSight.last) / pageRows) - first + 1;
  const results = useQueries({
    queries: Array.from({ length: count }, (_, index) => {
      const window = { offset: (first + index) * pageRows, limit: pageRows };
      return {
        queryKey: [source.path, { input: { ...source.query, ...window }, type: "query" }],
        queryFn: () => source.fetch(window),
        placeholderData: keepPreviousData,
      };
    }),
  });
  const lists = results.flatMap((result) => (result.data ? [result.data as Answer] : []));
  return {
    list: newestOf(lists),
    error: results.find((result) => result.error)?.error ?? null,
    rowAt: (index) => lists.map((each) => each.rows[index - each.offset]).find((row) => row !== undefined),
    refetch: () => results.forEach((result) => void result.refetch()),
    findRow: async (key) => (await source.fetch({ offset: 0, limit: 1, anchor: key })).anchorIndex,
  };
}

function newestOf<Answer extends { readonly version: number }>(lists: readonly Answer[]): Answer | undefined {
  return lists.reduce<Answer | undefined>((newest, each) => (newest && newest.version >= each.version ? newest : each), undefined);
}
