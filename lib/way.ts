/** The way of a pod's volume: where it stands, stage by stage, each with what proves it. JSON, as the browser gets it. */
import type { Stage, StageState, StatusWord } from "@/lib/words";

/** What a stage's state rests on: a field, an event or a line of the node, word for word. */
export interface Proof {
  /** The object or the place, such as `pod web-0`, `node1 mount table`, `event FailedMount`. */
  readonly source: string;
  /** The path of the field in it, or "" where there is none. */
  readonly field: string;
  readonly value: string;
  /** What it means, or what would settle it, in our own words. */
  readonly note?: string;
}

/** `unmount`, `detach` and `cleanup` follow only when the pod leaves. */
export type WayStage = Stage | "unmount" | "detach" | "cleanup";

export interface StageStanding {
  readonly stage: WayStage;
  readonly state: StageState;
  readonly proofs: readonly Proof[];
  /** RFC 3339: since when, where an object says so. */
  readonly since?: string;
}

export interface Way {
  readonly word: StatusWord;
  /** The stage that gives the word: where it stands, or the last one done. */
  readonly at: WayStage;
  readonly stages: readonly StageStanding[];
}
