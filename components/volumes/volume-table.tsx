"use client";

import { SortHead, type Sorting } from "@/components/list/sort-head";
import type { ListPages } from "@/components/list/use-list-pages";
import type { VirtualRows } from "@/components/list/use-virtual-rows";
import { VirtualTable } from "@/components/list/virtual-table";
import type { Outputs } from "@/components/trpc";
import { VolumeCells, type VolumeRow } from "@/components/volumes/columns";
import type { VolumeQuery, VolumeSort } from "@/components/volumes/volume-query";

export const volumeHeads = ["Pod / volume", "Status", "Plugin", "Node", "Way", "Size", "Used", "Source", "Mounted at"] as const;

export type VolumePages = ListPages<VolumeRow, Outputs["volume"]["list"]>;

interface VolumeTableProps {
  query: VolumeQuery;
  pages: VolumePages;
  rows: VirtualRows;
  count: number;
  onSort: (sorting: Sorting<VolumeSort>) => void;
}

export function VolumeTable({ query, pages, rows, count, onSort }: VolumeTableProps) {
  return (
    <VirtualTable
      label="Volumes"
      rows={rows}
      pages={pages}
      count={count}
      columns={volumeHeads.length}
      heads={<VolumeHeads sorting={{ column: query.sort, descending: query.descending }} onSort={onSort} />}
      cells={(row) => <VolumeCells row={row} cluster={query.cluster} />}
    />
  );
}

function VolumeHeads({ sorting, onSort }: { sorting: Sorting<VolumeSort>; onSort: (sorting: Sorting<VolumeSort>) => void }) {
  const sort = { sorting, onSort };
  return (
    <>
      <SortHead column="pod" {...sort}>
        Pod / volume
      </SortHead>
      <SortHead column="status" {...sort}>
        Status
      </SortHead>
      <SortHead column="plugin" {...sort}>
        Plugin
      </SortHead>
      <SortHead column="node" {...sort}>
        Node
      </SortHead>
      <th scope="col">Way</th>
      <SortHead column="size" className="num" {...sort}>
        Size
      </SortHead>
      <SortHead column="used" className="num last" {...sort}>
        Used
      </SortHead>
      <th scope="col" className="fold">
        Source
      </th>
      <th scope="col" className="fold">
        Mounted at
      </th>
    </>
  );
}
