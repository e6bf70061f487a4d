"use client";

import type { ReactNode } from "react";
import type { ListAnswer, ListPages } from "@/components/list/use-list-pages";
import type { VirtualRows } from "@/components/list/use-virtual-rows";
import { Bar } from "@/components/shell/skeleton";

interface VirtualTableProps<Row> {
  label: string;
  rows: VirtualRows;
  pages: Pick<ListPages<Row, ListAnswer<Row>>, "rowAt">;
  count: number;
  columns: number;
  heads: ReactNode;
  cells: (row: Row) => ReactNode;
}

/** A long table of which only the rows in sight are drawn. Each row carries its object's key. */
export function VirtualTable<Row extends { readonly key: string }>(props: VirtualTableProps<Row>) {
  const { label, pages, count, columns, heads, cells } = props;
  const { setRegion, items, abovePx, belowPx, onKeyDown } = props.rows;
  return (
    <div ref={setRegion} className="scroll" tabIndex={0} role="region" aria-label={label} onKeyDown={onKeyDown}>
      <table className="t" aria-rowcount={count + 1}>
        <thead>
          <tr>{heads}</tr>
        </thead>
        <tbody>
          <Spacer heightPx={abovePx} columns={columns} />
          {items.map(({ index }) => {
            const row = pages.rowAt(index);
            return (
              <tr key={row?.key ?? `row ${index}`} className={row && "head" in row ? "grp" : undefined} data-index={index} data-key={row?.key} aria-rowindex={index + 2}>
                {row ? cells(row) : <WaitingCells columns={columns} />}
              </tr>
            );
          })}
          <Spacer heightPx={belowPx} columns={columns} />
        </tbody>
      </table>
    </div>
  );
}

function Spacer({ heightPx, columns }: { heightPx: number; columns: number }) {
  if (heightPx <= 0) return null;
  return (
    <tr className="spacer" aria-hidden="true" style={{ height: heightPx }}>
      <td colSpan={columns} />
    </tr>
  );
}

/** A row in sight whose window is still on its way. */
function WaitingCells({ columns }: { columns: number }) {
  return (
    <>
      <td>
        <Bar width="w-36" />
      </td>
      <td colSpan={columns - 1} />
    </>
  );
}
