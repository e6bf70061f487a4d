import { getCommand } from "@/lib/kubectl";
import type { GetClaim } from "@/lib/inputs/claim";
import type { MissingRight } from "@/lib/missing-right";
import type { Way } from "@/lib/way";
import { absent } from "@/server/api/absent";
import { claimEvidence, claimRow, type ClaimRow } from "@/server/api/claim-rows";
import type { ClusterView, ObjectId } from "@/server/api/context";
import { eventRow, type EventRow } from "@/server/api/volume-detail";
import { claimWayOf } from "@/server/diagnosis/way";
import { actorOf } from "@/server/operations/decide-actor";
import { growthChecks } from "@/server/operations/decide-expand";
import type { Check, OperationRecord } from "@/server/operations/operation";

export interface ClaimDetail {
  readonly version: number;
  readonly row: ClaimRow;
  readonly way: Way;
  /** Newest first. */
  readonly events: readonly EventRow[];
  /** What was done to it from here, newest first; undefined where this cluster is shown read-only. */
  readonly operations?: readonly OperationRecord[];
  readonly command: string;
}

export interface ClaimGrowth {
  readonly checks: readonly Check[];
  /** What the person may not do, and must to grow it; undefined where that is not known. */
  readonly missing?: MissingRight;
}

export function claimDetail(view: ClusterView, input: GetClaim): ClaimDetail {
  const evidence = claimEvidence(view, `${input.namespace}/${input.name}`);
  if (!evidence) throw absent(view, "persistentvolumeclaims", `There is no claim ${input.name} in ${input.namespace}`);
  const way = claimWayOf(evidence, evidence.users);
  const row = claimRow(evidence, way);
  return {
    version: view.snapshot().version,
    row,
    way,
    events: evidence.claimEvents.map((event) => eventRow("claim", event)).sort((a, b) => b.lastSeenMs - a.lastSeenMs),
    operations: view.operations?.list().filter(({ verb, subject }) => verb === "expand-claim" && subject.uid === row.uid),
    command: getCommand(view.kubectl, { resource: "persistentvolumeclaim", ...input }),
  };
}

/** What stands for and against growing it, as the dialog will say once a size is typed. */
export async function claimGrowth(view: ClusterView, input: GetClaim): Promise<ClaimGrowth> {
  const evidence = claimEvidence(view, `${input.namespace}/${input.name}`);
  if (!evidence) throw absent(view, "persistentvolumeclaims", `There is no claim ${input.name} in ${input.namespace}`);
  const { claim, storageClass, unread, volume } = evidence;
  const mayPatch = await view.operations?.mayPatchClaim({ namespace: input.namespace, name: input.name });
  return {
    missing: mayPatch === false ? { group: "", resource: "persistentvolumeclaims", verbs: ["patch"], namespace: input.namespace } : undefined,
    checks: growthChecks({
      claim,
      storageClass,
      classUnreadable: unread.has("storageclasses"),
      persistentVolume: volume.persistentVolume,
      actor: actorOf(volume.persistentVolume),
      mayPatch,
    }),
  };
}

export function claimObjectId({ namespace, name }: GetClaim): ObjectId {
  return { group: "", version: "v1", resource: "persistentvolumeclaims", namespace, name };
}
