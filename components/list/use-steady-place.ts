"use client";

import { useEffect, useRef } from "react";
import type { ListPages } from "@/components/list/use-list-pages";
import type { VirtualRows } from "@/components/list/use-virtual-rows";

interface Place {
  readonly version: number;
  readonly index: number;
  readonly key: string;
  readonly query: string;
}

/** Keeps the reader's place: when rows come or go above, the row that was on top stays on top. */
export function useSteadyPlace(
  pages: ListPages<{ readonly key: string }, { readonly version: number }>,
  rows: VirtualRows,
  query: string,
): void {
  const place = useRef<Place>(undefined);
  const { region, rowPx } = rows;
  useEffect(() => {
    if (!region || !pages.list) return;
    const index = Math.floor(region.scrollTop / rowPx);
    const key = pages.rowAt(index)?.key;
    if (key === undefined) return;
    const before = place.current;
    const version = pages.list.version;
    place.current = { version, index, key, query };
    const moved = before?.query === query && before.version !== version && before.index === index && before.key !== key;
    if (!moved || index === 0) return;
    void pages.findRow(before.key).then((now) => {
      if (now !== undefined) region.scrollTop += (now - index) * rowPx;
    });
  });
}
