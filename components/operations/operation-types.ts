import type { Outputs } from "@/components/trpc";
import type { Proof } from "@/lib/way";
import type { StageState } from "@/lib/words";

export type OperationRecord = Outputs["operation"]["get"]["record"];
export type OperationStep = OperationRecord["progress"]["steps"][number];

/** Operations and ways show their steps alike. */
export function stageStateOf(state: OperationStep["state"]): StageState {
  if (state === "ok") return "done";
  return state === "working" ? "doing" : state;
}

export function proofOf(proof: OperationStep["proof"][number]): Proof {
  const { object, field = "", value = "", text } = proof;
  return { source: object, field, value, ...(text ? { note: text } : {}) };
}

const verbs: Readonly<Record<OperationRecord["verb"], string>> = { "expand-claim": "Grow claim", "resize-ephemeral": "Resize memory" };

export function verbInWords({ verb }: Pick<OperationRecord, "verb">): string {
  return verbs[verb];
}

export function subjectInWords({ subject }: Pick<OperationRecord, "subject">): string {
  return subject.volume === undefined ? subject.name : `${subject.name} / ${subject.volume}`;
}

/** How long it took, or has taken so far. */
export function tookMs(record: Pick<OperationRecord, "startedAt" | "endedAt">, nowMs: number): number {
  return Math.max(0, (record.endedAt === undefined ? nowMs : Date.parse(record.endedAt)) - Date.parse(record.startedAt));
}
