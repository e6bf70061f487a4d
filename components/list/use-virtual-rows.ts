"use client";

import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { useEffect, useState, type KeyboardEvent } from "react";

const rowRem = 2.125;
const headPx = 32;
const overscan = 10;

export interface VirtualRows {
  readonly region: HTMLDivElement | null;
  /** The ref of the element that scrolls. */
  readonly setRegion: (region: HTMLDivElement | null) => void;
  readonly items: readonly VirtualItem[];
  /** Indices of the first and the last drawn row. */
  readonly inSight: { readonly first: number; readonly last: number };
  /** Heights of what lies above and below the drawn rows. */
  readonly abovePx: number;
  readonly belowPx: number;
  readonly rowPx: number;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Draws only the rows in sight. Arrow keys, Home and End move from row to row; Enter opens the row's link. */
export function useVirtualRows(count: number): VirtualRows {
  const [region, setRegion] = useState<HTMLDivElement | null>(null);
  const [rowPx, setRowPx] = useState(34);
  useEffect(() => setRowPx(rowRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)), []);
  // eslint-disable-next-line react-hooks/incompatible-library -- matters to the React Compiler only, which is off
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => region,
    estimateSize: () => rowPx,
    overscan,
    scrollPaddingStart: headPx,
  });
  const items = virtualizer.getVirtualItems();
  const abovePx = items[0]?.start ?? 0;
  const belowPx = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);

  function onKeyDown(event: KeyboardEvent) {
    const at = focusedRow(event.target);
    const to = at === undefined ? undefined : nextRow(event.key, at, count);
    if (at === undefined || to === undefined) return;
    event.preventDefault();
    virtualizer.scrollToIndex(to, { align: "auto" });
    focusRow(region, { index: to, step: to > at || to === 0 ? 1 : -1 });
  }

  const inSight = { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 };
  return { region, setRegion, items, inSight, abovePx, belowPx, rowPx, onKeyDown };
}

function focusedRow(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest("tr[data-index]") : null;
  return row ? Number(row.getAttribute("data-index")) : undefined;
}

function nextRow(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return Math.min(at + 1, count - 1);
    case "ArrowUp":
      return Math.max(at - 1, 0);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

const framesToWait = 30;

/** The row may be drawn only some frames after scrolling there. The head of a group is passed over. */
function focusRow(region: HTMLElement | null, to: { index: number; step: 1 | -1 }, frames = framesToWait): void {
  const row = region?.querySelector<HTMLElement>(`tr[data-index="${to.index}"]`);
  const link = row?.querySelector<HTMLElement>("a");
  if (link) link.focus({ preventScroll: true });
  else if (row?.classList.contains("grp")) focusRow(region, { ...to, index: to.index + to.step }, frames);
  else if (frames > 0) requestAnimationFrame(() => focusRow(region, to, frames - 1));
}
