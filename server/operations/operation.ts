/**
 * An operation: one change with a beginning and an end. Its record is what pages show and what the journal keeps; sizes are
 * texts in the Kubernetes spelling, times RFC 3339.
 */
import type { StatusWord } from "@/lib/words";

export type OperationVerb = "expand-claim" | "resize-ephemeral";

export interface OperationSubject {
  readonly namespace: string;
  /** The claim, or the pod. */
  readonly name: string;
  readonly uid: string;
  /** The volume of the pod, for resize-ephemeral. */
  readonly volume?: string;
}

/**
 * Where the record stands in the journal. `sending` is written before the request and left by its answer: a row found there
 * after a restart is settled by reading the object, never by repeating.
 */
export type OperationPhase = "intended" | "read" | "sending" | "following" | "ended";

/** The field, event or answer that shows a step, its value apart so that pages can set it in bold. */
export interface Proof {
  readonly object: string;
  readonly field?: string;
  readonly value?: string;
  readonly text?: string;
}

export interface OperationStep {
  readonly title: string;
  readonly state: "ok" | "working" | "waiting" | "failed" | "stuck" | "unknown" | "not reached";
  readonly at?: string;
  readonly proof: readonly Proof[];
}

/** What following says: a status word, a sentence about the object, and the steps with their proofs. */
export interface Progress {
  readonly status: StatusWord;
  readonly sentence: string;
  readonly steps: readonly OperationStep[];
  /** No further change is expected by itself; the record is closed with this. */
  readonly ended: boolean;
  readonly next: readonly string[];
}

export interface OperationRecord {
  readonly id: string;
  readonly cluster: string;
  readonly verb: OperationVerb;
  readonly subject: OperationSubject;
  readonly from: string;
  readonly to: string;
  readonly who: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly phase: OperationPhase;
  /** resourceVersion that was read, and that the request carried. */
  readonly readVersion?: string;
  /** metadata.generation of the answer, for pods. */
  readonly answeredGeneration?: number;
  readonly progress: Progress;
}

export type Verdict = "pass" | "refuse" | "unknown" | "note";

/** One check of a dialog: what must hold, whether it does, and the object that decides. */
export interface Check {
  readonly title: string;
  readonly verdict: Verdict;
  readonly proof: Proof;
  /** Who can change a refusal, or what settles an unknown. */
  readonly remedy?: string;
}

export type Decision =
  | { readonly kind: "do"; readonly checks: readonly Check[] }
  | { readonly kind: "nothing"; readonly checks: readonly Check[]; readonly reason: string }
  | { readonly kind: "refuse"; readonly checks: readonly Check[]; readonly reason: string };

/** The decision that a list of checks leads to; a refusal names the first check that refuses. What passed needs no remedy. */
export function decisionOf(all: readonly Check[]): Decision {
  const checks = all.map((check) => (check.verdict === "pass" ? { ...check, remedy: undefined } : check));
  const refusal = checks.find((check) => check.verdict === "refuse");
  if (!refusal) return { kind: "do", checks };
  const { object, field, value } = refusal.proof;
  return { kind: "refuse", checks, reason: `${refusal.title}: ${[object, field, value].filter(Boolean).join(" ")}` };
}
