/** What the live light says: one of five states, with since when, why, and which kinds are meant. */
export const lightStates = ["live", "catching up", "stale", "recorded", "simulated"] as const;
export type LightState = (typeof lightStates)[number];

export interface LiveLight {
  readonly state: LightState;
  /** When the server last answered for the kind heard from the longest ago; undefined before the first answer. */
  readonly heardAtMs: number | undefined;
  /** Since when it is stale. */
  readonly sinceMs: number | undefined;
  /** Kinds that are not live, in the API's plural words. */
  readonly kinds: readonly string[];
  /** Why, in the server's or the system's own words. */
  readonly reason: string | undefined;
}
