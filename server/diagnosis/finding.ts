/** Small words that the stages are written in. */
import type { KubeEvent } from "@/lib/kube/pods";
import type { Proof } from "@/lib/way";
import type { StageState } from "@/lib/words";

/** What one stage says; `since` only where an object says it. */
export interface StageFinding {
  readonly state: StageState;
  readonly proofs: readonly Proof[];
  readonly since?: string;
}

export function finding(state: StageState, proofs: Proof | readonly Proof[] = [], since?: string | null): StageFinding {
  return { state, proofs: "source" in proofs ? [proofs] : proofs, ...(since ? { since } : {}) };
}

export function field(source: string, path: string, value: string | number | boolean | undefined): Proof {
  return { source, field: path, value: value === undefined ? "absent" : String(value) };
}

/** Something that no field says, such as the absence of an object. */
export function remark(source: string, value: string, note?: string): Proof {
  return noted(field(source, "", value), note);
}

/** A proof with what it means in our words. */
export function noted(proof: Proof, note: string | undefined): Proof {
  return note ? { ...proof, note } : proof;
}

export const notReached: StageFinding = finding("not reached");

export function notApplicable(why: string): StageFinding {
  return finding("not applicable", remark(why, ""));
}

export function eventProof(event: KubeEvent): Proof {
  const from = event.reportingComponent || event.source?.component;
  const where = event.source?.host || event.reportingInstance;
  const times = event.series?.count ?? event.count ?? 1;
  const note = [from, where, times > 1 ? `${times} times` : undefined].filter((text) => text).join(", ");
  return remark(`event ${event.reason ?? ""}`.trim(), event.message ?? "", note);
}

/** The newest event that fits; events come oldest first. */
export function newest(events: readonly KubeEvent[], fits: (event: KubeEvent) => boolean): KubeEvent | undefined {
  return events.findLast(fits);
}
