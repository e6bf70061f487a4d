/** One word for how fresh a cluster's picture is. A page whose data is stale never looks live. */
import type { LiveLight } from "@/lib/live-light";
import type { Freshness, KindFreshness } from "@/server/cluster/snapshot";

export interface LightFacts {
  readonly freshness: Freshness;
  readonly recorded: boolean;
  readonly simulated: boolean;
}

/**
 * Stale before catching up before recorded before simulated before live. Forbidden and absent kinds are no fault of
 * freshness, unless nothing else is there: then nothing is live.
 */
export function liveLight({ freshness, recorded, simulated }: LightFacts): LiveLight {
  const watched = freshness.kinds.filter((kind) => kind.state !== "forbidden" && kind.state !== "absent");
  if (watched.length === 0 && freshness.kinds.length > 0) return light("stale", freshness.kinds, freshness.kinds);
  const stale = watched.filter((kind) => kind.state === "stale");
  if (stale.length > 0) return light("stale", watched, stale);
  const behind = watched.filter((kind) => kind.state === "loading" || kind.state === "catching up");
  if (behind.length > 0) return light("catching up", watched, behind);
  if (recorded) return light("recorded", watched, []);
  return light(simulated ? "simulated" : "live", watched, []);
}

function light(state: LiveLight["state"], watched: readonly KindFreshness[], meant: readonly KindFreshness[]): LiveLight {
  const since = meant.map((kind) => kind.lastHeardMs ?? kind.sinceMs);
  return {
    state,
    heardAtMs: oldest(watched.map((kind) => kind.lastHeardMs)),
    sinceMs: meant.length > 0 ? Math.min(...since) : undefined,
    kinds: meant.map((kind) => kind.kind),
    reason: meant.find((kind) => kind.reason !== undefined)?.reason,
  };
}

function oldest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 && known.length === times.length ? Math.min(...known) : undefined;
}
