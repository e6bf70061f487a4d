"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { PluginTable } from "@/components/plugins/plugin-table";
import { ProbeEvents } from "@/components/plugins/probe-events";
import { PageHead } from "@/components/shell/page-head";
import { useCluster, whyUnread } from "@/components/shell/status-context";
import { TableSkeleton } from "@/components/shell/skeleton";
import { Empty, Failed, Forbidden } from "@/components/shell/states";
import { useTRPC, type Outputs } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { FilterField } from "@/components/list/filter-field";
import { Segments } from "@/components/ui/segments";
import { useUrlState } from "@/components/list/url-state";

const orders = [
  { value: "", text: "Differences first" },
  { value: "kind", text: "By kind" },
] as const;

export function PluginsPage() {
  const { cluster, status, retry, reading } = useCluster();
  const unread = whyUnread(status, "nodes");
  const url = useUrlState();
  const filter = url.get("q");
  const query = useQuery({ ...useTRPC().plugin.list.queryOptions({ cluster, filter }), placeholderData: keepPreviousData });
  const missing = status?.missing.filter((right) => right.resource === "nodes") ?? [];
  return (
    <div className="listing">
      <PageHead title="Plugins" question="Which plugins does each host have?" />
      {missing.length > 0 ? (
        <Forbidden what="You may not list nodes in this cluster" missing={missing} onRetry={retry} />
      ) : (
        <>
          <div className="filterbar">
            <FilterField value={filter} onChange={(q) => url.adjust({ q })} placeholder="Filter: name, kind:flex, node:node2" />
            <Segments label="Rows" options={orders} value={url.get("order")} onChange={(order) => url.step({ order })} />
          </div>
          {query.data?.total === 0 && unread !== undefined ? (
            <Failed what="The plugins could not be read" error={new Error(unread)} onRetry={retry} />
          ) : query.error && !query.data ? (
            <Failed what="The plugins could not be read" error={query.error} onRetry={() => void query.refetch()} />
          ) : query.data && !(reading && query.data.total === 0) ? (
            <Matrix matrix={query.data} filter={filter} byKind={url.get("order") === "kind"} onClear={() => url.step({ q: "" })} />
          ) : (
            <TableSkeleton label="plugins" heads={["Plugin", "Kind", "Node", "Used by"]} rows={13} />
          )}
        </>
      )}
    </div>
  );
}

interface MatrixProps {
  matrix: Outputs["plugin"]["list"];
  filter: string;
  byKind: boolean;
  onClear: () => void;
}

function Matrix({ matrix, filter, byKind, onClear }: MatrixProps) {
  if (matrix.total === 0 && matrix.hostsTotal === 0) {
    return (
      <Empty icon="plugins" title="No host has published its plugins yet">
        <p>The plugins of a node appear here as soon as the node is known and its plugin manager has started.</p>
      </Empty>
    );
  }
  return (
    <>
      {matrix.rows.length === 0 ? (
        <Empty icon="plugins" title={`No plugins match “${filter}”`} actions={<Button onClick={onClear}>Clear the filter</Button>}>
          <p>{matrix.total.toLocaleString()} plugins and drivers are here.</p>
        </Empty>
      ) : (
        <PluginTable matrix={matrix} byKind={byKind} />
      )}
      <p className="t-foot" role="status">
        {matrix.rows.length.toLocaleString()} of {matrix.total.toLocaleString()} shown
        {matrix.hosts.length < matrix.hostsTotal && ` · ${matrix.hosts.length} of ${matrix.hostsTotal.toLocaleString()} nodes: choose others with node:name`}
      </p>
      <ProbeEvents events={matrix.events} heard={matrix.hosts.some((host) => host.source === "node")} />
    </>
  );
}
