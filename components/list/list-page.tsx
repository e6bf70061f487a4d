"use client";

import { useState, type ReactNode } from "react";
import { FilterField } from "@/components/list/filter-field";
import { Ledger } from "@/components/list/ledger";
import { listQuery, sortingText, type ListQuery, type SortColumns } from "@/components/list/list-query";
import type { Sorting } from "@/components/list/sort-head";
import { useListPages, type ListAnswer, type ListWindow } from "@/components/list/use-list-pages";
import { useSteadyPlace } from "@/components/list/use-steady-place";
import { useUrlState } from "@/components/list/url-state";
import { useVirtualRows } from "@/components/list/use-virtual-rows";
import { VirtualTable } from "@/components/list/virtual-table";
import { PageHead } from "@/components/shell/page-head";
import { TableSkeleton } from "@/components/shell/skeleton";
import { useCluster, whyUnread } from "@/components/shell/status-context";
import { Empty, Failed, Forbidden } from "@/components/shell/states";
import { Button } from "@/components/ui/button";
import type { IconName } from "@/components/ui/icon";
import { AsKubectl } from "@/components/ui/kubectl";
import type { StatusWord } from "@/lib/words";

export interface SortProps<Column extends string> {
  readonly sorting: Sorting<Column>;
  readonly onSort: (sorting: Sorting<Column>) => void;
}

interface NounAnswer<Row> extends ListAnswer<Row> {
  readonly total: number;
  readonly ledger: Readonly<Record<StatusWord, number>>;
  readonly command?: string;
}

export interface ListPageProps<Row, Answer, Column extends string> {
  readonly title: string;
  readonly question: string;
  readonly icon: IconName;
  /** The resource that one must be able to list, in the API's plural. */
  readonly resource: string;
  /** The procedure's path, for the live stream. */
  readonly path: readonly [string, string];
  readonly order: SortColumns<Column>;
  /** More of the question, beside filter, word and order. */
  readonly more?: object;
  readonly fetch: (query: ListQuery<Column> & ListWindow) => Promise<Answer>;
  readonly placeholder: string;
  readonly headTexts: readonly string[];
  readonly heads: (sort: SortProps<Column>) => ReactNode;
  readonly cells: (row: Row, cluster: string) => ReactNode;
  /** Shown when nothing is there at all. */
  readonly empty: ReactNode;
  readonly emptyTitle: string;
  readonly chips?: (list: Answer | undefined) => ReactNode;
  readonly aboutCommand?: string;
  readonly foot?: ReactNode;
}

/** A list of one noun: ledger, filter line, drawn rows, counts; or why there are none. All of it stands in the address. */
export function ListPage<Row extends { readonly key: string }, Answer extends NounAnswer<Row>, Column extends string>(
  props: ListPageProps<Row, Answer, Column>,
) {
  const { cluster, status, retry } = useCluster();
  const url = useUrlState();
  const query = listQuery(cluster, url, props.order);
  const [count, setCount] = useState(0);
  const rows = useVirtualRows(count);
  const source = { path: props.path, query: { ...query, ...props.more }, fetch: (window: ListWindow) => props.fetch({ ...query, ...window }) };
  const pages = useListPages<Row, Answer>(source, rows.inSight);
  const { list } = pages;
  if (list && list.lines !== count) setCount(list.lines);
  useSteadyPlace(pages, rows, JSON.stringify(source.query));

  const forbidden = status?.missing.filter((right) => right.resource === props.resource) ?? [];
  const sort: SortProps<Column> = {
    sorting: { column: query.sort, descending: query.descending },
    onSort: (sorting) => url.step({ sort: sortingText(sorting, props.order) }),
  };
  return (
    <div className="list-page listing">
      <PageHead title={props.title} question={props.question} actions={props.aboutCommand && <AsKubectl command={list?.command} about={props.aboutCommand} />} />
      {forbidden.length > 0 ? (
        <Forbidden what={`You may not list ${props.resource} in this cluster`} missing={forbidden} onRetry={retry} />
      ) : (
        <>
          <Ledger label={`${props.title} by status`} counts={list?.ledger} chosen={query.status ?? ""} onChoose={(status) => url.step({ status })} />
          <div className="filterbar pt-2.5">
            <FilterField value={query.filter} onChange={(q) => url.adjust({ q })} placeholder={props.placeholder} />
            {props.chips?.(list)}
          </div>
          <ListBody props={props} pages={pages} query={query} onClear={() => url.step({ q: "", status: "" })}>
            <VirtualTable
              label={props.title}
              rows={rows}
              pages={pages}
              count={count}
              columns={props.headTexts.length}
              heads={props.heads(sort)}
              cells={(row: Row) => props.cells(row, cluster)}
            />
          </ListBody>
          {list && (
            <div className="t-foot">
              <span role="status">
                {list.matched.toLocaleString()} of {list.total.toLocaleString()} shown
              </span>
              {list.matched > 0 && <span className="wide">Enter opens · arrows move · / filters</span>}
              {props.foot}
            </div>
          )}
        </>
      )}
    </div>
  );
}

interface ListBodyProps<Row, Answer, Column extends string> {
  props: ListPageProps<Row, Answer, Column>;
  pages: { readonly list: Answer | undefined; readonly error: unknown; readonly refetch: () => void };
  query: ListQuery<Column>;
  onClear: () => void;
  children: ReactNode;
}

/** The table, or what stands in its place. */
function ListBody<Row, Answer extends NounAnswer<Row>, Column extends string>(body: ListBodyProps<Row, Answer, Column>) {
  const { props, pages, query } = body;
  const { list } = pages;
  const { reading, status, retry } = useCluster();
  const noun = props.title.toLowerCase();
  const unread = list?.total === 0 ? whyUnread(status, props.resource) : undefined;
  if (pages.error && !list) return <Failed what={`The ${noun} could not be read`} error={pages.error} onRetry={pages.refetch} />;
  if (unread !== undefined) return <Failed what={`The ${noun} could not be read`} error={new Error(unread)} onRetry={retry} />;
  if (!list || (reading && list.total === 0)) return <TableSkeleton label={noun} heads={props.headTexts} />;
  if (list.matched > 0) return body.children;
  const asked = [query.filter, query.status && `status ${query.status}`].filter((text) => text).join(", ");
  if (asked === "") {
    return (
      <Empty icon={props.icon} title={props.emptyTitle}>
        {props.empty}
      </Empty>
    );
  }
  return (
    <Empty icon={props.icon} title={`No ${noun} match “${asked}”`} actions={<Button onClick={body.onClear}>Clear the filter</Button>}>
      <p>
        {list.total.toLocaleString()} {list.total === 1 ? "is" : "are"} here; the filter leaves none of them.
      </p>
    </Empty>
  );
}
