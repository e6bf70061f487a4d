"use client";

import { isNoCluster } from "@/components/shell/known-cluster";
import { useCluster } from "@/components/shell/status-context";
import { useLiveUpdates } from "@/components/trpc";
import { Icon } from "@/components/ui/icon";
import { ClockTime, useNowMs } from "@/components/ui/time";
import { ago } from "@/components/ui/time-text";
import type { LightState } from "@/lib/live-light";

type Shown = LightState | "connecting";

const looks: Readonly<Record<Shown, string>> = {
  live: "live",
  "catching up": "live",
  stale: "live stale",
  recorded: "live rec",
  simulated: "live sim",
  connecting: "live",
};

/** How fresh the page is, in two words. While this tab hears nothing from Voldeck it never says live. */
export function LiveLight() {
  const { cluster, status, error } = useCluster();
  const heard = useLiveUpdates(cluster);
  if (!status) return <LightFrame state={error ? "stale" : "connecting"}><b>{error ? (isNoCluster(error) ? "no such cluster" : "no answer") : "connecting"}</b></LightFrame>;
  if (!heard) {
    return (
      <LightFrame state="connecting">
        <b>connecting</b>
        <span className="wide"> · nothing heard from Voldeck</span>
      </LightFrame>
    );
  }
  return (
    <LightFrame state={status.light.state}>
      <LightText />
    </LightFrame>
  );
}

function LightFrame({ state, children }: { state: Shown; children: React.ReactNode }) {
  const turning = state === "catching up" || state === "connecting";
  return (
    <span className={looks[state]} role="status" aria-label="Freshness" data-testid="live-light" data-state={state}>
      {turning ? <Icon name="working" small className="text-working-solid" /> : <span className="dot" aria-hidden="true" />}
      <span>{children}</span>
    </span>
  );
}

function LightText() {
  const light = useCluster().status?.light;
  if (!light) return null;
  if (light.state === "stale") {
    return <b>stale since {light.sinceMs === undefined ? "the start" : <ClockTime at={light.sinceMs} />}</b>;
  }
  if (light.state === "live") {
    return (
      <>
        <b>live</b>
        <span className="wide" aria-hidden="true">
          <Heard />
        </span>
      </>
    );
  }
  return (
    <>
      <b>{light.state}</b>
      {light.state === "catching up" && <span className="wide"> · {light.kinds.join(", ")}</span>}
    </>
  );
}

function Heard() {
  const { status } = useCluster();
  const nowMs = useNowMs();
  const heardAtMs = status?.light.heardAtMs;
  return heardAtMs === undefined ? null : <> · updated {ago(Math.max(0, nowMs - heardAtMs))}</>;
}
