"use client";

import { useState } from "react";
import { PageHead } from "@/components/shell/page-head";
import { useCluster } from "@/components/shell/status-context";
import { TableSkeleton } from "@/components/shell/skeleton";
import { Failed, Forbidden } from "@/components/shell/states";
import { FilterField } from "@/components/list/filter-field";
import { AsKubectl } from "@/components/ui/kubectl";
import { Ledger } from "@/components/list/ledger";
import { useListPages } from "@/components/list/use-list-pages";
import { useSteadyPlace } from "@/components/list/use-steady-place";
import { useUrlState } from "@/components/list/url-state";
import { useVirtualRows } from "@/components/list/use-virtual-rows";
import { useTRPCClient } from "@/components/trpc";
import { TokenChip } from "@/components/volumes/token-chip";
import { NoVolumes } from "@/components/volumes/no-volumes";
import { sortingText, volumeQuery } from "@/components/volumes/volume-query";
import { volumeHeads, VolumeTable, type VolumePages } from "@/components/volumes/volume-table";

export function VolumesPage() {
  const { cluster, status, retry, reading } = useCluster();
  const url = useUrlState();
  const query = volumeQuery(cluster, url);
  const [count, setCount] = useState(0);
  const rows = useVirtualRows(count);
  const client = useTRPCClient();
  const pages: VolumePages = useListPages(
    { path: ["volume", "list"], query, fetch: (window) => client.volume.list.query({ ...query, ...window }) },
    rows.inSight,
  );
  const { list } = pages;
  if (list && list.matched !== count) setCount(list.matched);
  useSteadyPlace(pages, rows, JSON.stringify(query));

  const forbidden = status?.missing.filter((right) => right.resource === "pods") ?? [];
  return (
    <div className="list-page listing">
      <PageHead
        title="Volumes"
        question="Which plugin serves each pod volume, and is it all right?"
        actions={<AsKubectl command={list?.command} about="All volumes of all pods, one a line. Status and plugin are Voldeck's own: kubectl can't filter by them." />}
      />
      {forbidden.length > 0 ? (
        <Forbidden what="You may not list pods in this cluster" missing={forbidden} onRetry={retry} />
      ) : (
        <>
          <Ledger label="Volumes by status" counts={list?.ledger} chosen={query.status ?? ""} onChoose={(word) => url.step({ status: word })} />
          <div className="filterbar pt-2.5">
            <FilterField value={query.filter} onChange={(q) => url.adjust({ q })} placeholder="Filter: words, plugin:csi, status:stuck" />
            <TokenChip shown={query.tokens} hidden={list?.hiddenTokens ?? 0} onChange={(tokens) => url.step({ tokens: tokens ? "1" : "" })} />
          </div>
          {pages.error && !list ? (
            <Failed what="The volumes could not be read" error={pages.error} onRetry={pages.refetch} />
          ) : !list || (reading && list.total === 0) ? (
            <TableSkeleton label="volumes" heads={volumeHeads} />
          ) : list.matched === 0 ? (
            <NoVolumes list={list} query={query} onClear={() => url.step({ q: "", status: "" })} />
          ) : (
            <VolumeTable query={query} pages={pages} rows={rows} count={count} onSort={(sorting) => url.step({ sort: sortingText(sorting) })} />
          )}
          <div className="t-foot">
            <span role="status">{list ? `${list.matched.toLocaleString()} of ${list.total.toLocaleString()} shown` : "…"}</span>
            <span className="wide">Enter opens · arrows move · / filters</span>
            <span className="only-folded ml-auto">2 columns folded: source and path</span>
          </div>
        </>
      )}
    </div>
  );
}
