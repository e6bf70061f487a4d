"use client";

import { useSyncExternalStore } from "react";
import { useCluster } from "@/components/shell/status-context";
import { ago, exactTime, span } from "@/components/ui/time-text";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all ages of a page, and none when there is no age. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => listeners.forEach((each) => each()), 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const wholeSecond = () => Math.floor(Date.now() / 1000) * 1000;

/** The server's clock to the second. */
export function useNowMs(): number {
  return useSyncExternalStore(subscribe, wholeSecond, () => 0) + useCluster().clockOffsetMs;
}

interface TimeProps {
  /** RFC 3339, or milliseconds since 1970; nothing is a dash. */
  at: string | number | null | undefined;
  /** Without "ago", for narrow columns. */
  bare?: boolean;
}

/** How long ago, with the exact zoned time on hover. */
export function Ago({ at, bare = false }: TimeProps) {
  const nowMs = useNowMs();
  const ms = typeof at === "string" ? Date.parse(at) : at;
  if (ms === null || ms === undefined || Number.isNaN(ms)) return <span title="not reported">–</span>;
  const passedMs = Math.max(0, nowMs - ms);
  return (
    <time dateTime={new Date(ms).toISOString()} title={exactTime(ms)}>
      {bare ? span(passedMs) : ago(passedMs)}
    </time>
  );
}

/** The time of day, with the exact zoned time on hover. */
export function ClockTime({ at }: { at: string | number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exactTime(date.getTime())}>
      {date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" })}
    </time>
  );
}
