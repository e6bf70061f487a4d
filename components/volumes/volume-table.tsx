"use client";

import { SortHead, type Sorting } from "@/components/ui/sort-head";
import type { VirtualRows } from "@/components/ui/use-virtual-rows";
import { Bar } from "@/components/shell/skeleton";
import { VolumeCells } from "@/components/volumes/columns";
import type { VolumePages } from "@/components/volumes/use-volume-pages";
import type { VolumeQuery, VolumeSort } from "@/components/volumes/volume-query";

export const volumeHeads = ["Pod / volume", "Status", "Plugin", "Node", "Way", "Size", "Used", "Source", "Mounted at"] as const;
const columns = volumeHeads.length;

interface VolumeTableProps {
  query: VolumeQuery;
  pages: VolumePages;
  rows: VirtualRows;
  count: number;
  onSort: (sorting: Sorting<VolumeSort>) => void;
}

export function VolumeTable({ query, pages, rows, count, onSort }: VolumeTableProps) {
  const { setRegion, items, abovePx, belowPx, onKeyDown } = rows;
  return (
    <div ref={setRegion} className="scroll" tabIndex={0} role="region" aria-label="Volumes" onKeyDown={onKeyDown}>
      <table className="t" aria-rowcount={count + 1}>
        <VolumeHeads sorting={{ column: query.sort, descending: query.descending }} onSort={onSort} />
        <tbody>
          <Spacer heightPx={abovePx} />
          {items.map(({ index }) => {
            const row = pages.rowAt(index);
            return (
              <tr key={row?.key ?? `row ${index}`} data-index={index} data-key={row?.key} aria-rowindex={index + 2}>
                {row ? <VolumeCells row={row} cluster={query.cluster} /> : <WaitingCells />}
              </tr>
            );
          })}
          <Spacer heightPx={belowPx} />
        </tbody>
      </table>
    </div>
  );
}

function VolumeHeads({ sorting, onSort }: { sorting: Sorting<VolumeSort>; onSort: (sorting: Sorting<VolumeSort>) => void }) {
  const sort = { sorting, onSort };
  return (
    <thead>
      <tr>
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
      </tr>
    </thead>
  );
}

function Spacer({ heightPx }: { heightPx: number }) {
  if (heightPx <= 0) return null;
  return (
    <tr className="spacer" aria-hidden="true" style={{ height: heightPx }}>
      <td colSpan={columns} />
    </tr>
  );
}

/** A row in sight whose window is still on its way. */
function WaitingCells() {
  return (
    <>
      <td>
        <Bar width="w-36" />
      </td>
      <td colSpan={columns - 1} />
    </>
  );
}
