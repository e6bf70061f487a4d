/**
 * Where a pod's volume stands: its stages in order, and the one status word of the whole product. Pure, over API objects and
 * the node's own report; a stage that nothing proves is unknown, never healthy.
 */
import type { StageStanding, Way, WayStage } from "@/lib/way";
import type { StageState, StatusWord } from "@/lib/words";
import { csiDriverOf, type ClaimEvidence, type VolumeEvidence } from "./evidence";
import { field, finding, notApplicable, notReached, remark, type StageFinding } from "./finding";
import { bind, bindClaim, expand, expandClaim, provision } from "./stages-claim";
import { attach, match, publish, register, stage } from "./stages-node";
import { isFinished, podOf, running, schedule } from "./stages-pod";

/** `blocked`: an earlier stage is not behind us, so that silence here means "not reached". */
type Judge = (evidence: VolumeEvidence, blocked: boolean) => StageFinding;

const judges: readonly (readonly [WayStage, Judge])[] = [
  ["schedule", schedule],
  ["bind", bind],
  ["provision", provision],
  ["attach", attach],
  ["register", register],
  ["match", match],
  ["stage", stage],
  ["publish", publish],
  ["running", running],
  ["expand", expand],
];

const leavingJudges: readonly (readonly [WayStage, Judge])[] = [
  ["unmount", unmount],
  ["detach", detach],
  ["cleanup", cleanup],
];

export function wayOf(evidence: VolumeEvidence): Way {
  const stages = judge(judges, evidence);
  if (isLeaving(evidence)) stages.push(...judge(leavingJudges, evidence));
  return { ...verdict(stages), stages };
}

/** The stages that a claim has whether or not a pod uses it, and what a node lost of it for one of its users. */
export function claimWayOf(evidence: ClaimEvidence, users: readonly VolumeEvidence[] = []): Way {
  const loser = users.find(({ reported }) => reported?.state === "lost");
  const stages: StageStanding[] = [
    { stage: "bind", ...bindClaim(evidence) },
    { stage: "provision", ...provision(evidence) },
    ...(loser ? [{ stage: "publish" as const, ...publish(loser, false) }] : []),
    { stage: "expand", ...expandClaim(evidence) },
  ];
  return { ...verdict(stages), stages };
}

function judge(table: readonly (readonly [WayStage, Judge])[], evidence: VolumeEvidence): StageStanding[] {
  let blocked = false;
  const over = hasEnded(evidence);
  return table.map(([name, ask]) => {
    const asked = ask(evidence, blocked);
    const found = over && podStages.has(name) && asked.state !== "done" ? notApplicable("the pod has ended or is leaving") : asked;
    blocked ||= !passes.has(found.state);
    return { stage: name, ...found };
  });
}

/** After these a volume may be further on: what is unknown is no wall. */
const passes: ReadonlySet<StageState> = new Set(["done", "not applicable", "unknown"]);

/** From the gravest state to the one that only rests; the first that any stage has gives the word. */
const gravity: readonly (readonly [StageState, StatusWord])[] = [
  ["failed", "failed"],
  ["stuck", "stuck"],
  ["doing", "working"],
  ["waiting", "waiting"],
  ["unknown", "unknown"],
];

function verdict(stages: readonly StageStanding[]): { word: StatusWord; at: WayStage } {
  for (const [state, word] of gravity) {
    const at = stages.find((each) => each.state === state);
    if (at) return { word, at: at.stage };
  }
  const last = stages.findLast((each) => each.state === "done");
  return last ? { word: "ok", at: last.stage } : { word: "not applicable", at: "schedule" };
}

function isLeaving({ volume: { pod }, nodeName }: VolumeEvidence): boolean {
  return nodeName !== undefined && Boolean(pod.metadata.deletionTimestamp);
}

function hasEnded(evidence: VolumeEvidence): boolean {
  return isLeaving(evidence) || isFinished(evidence.volume.pod);
}

/** What a pod that has ended no longer waits for. */
const podStages: ReadonlySet<WayStage> = new Set(["attach", "register", "match", "stage", "publish", "running"]);

function unmount({ report, reported, nodeName, volume }: VolumeEvidence): StageFinding {
  const node = nodeName ?? "the node";
  if (!report) return finding("unknown", remark("what would settle it", `a report of ${node}: no agent answers there`));
  if (!reported || reported.state === "not mounted") return finding("done", remark(`${node} mount table`, "not mounted"));
  const text = reported.operation?.lastError;
  if (text !== undefined) return finding("stuck", remark(reported.operation?.name ?? "unmount", text), reported.operation?.lastErrorAt);
  return finding("doing", field(podOf(volume.pod), ".metadata.deletionTimestamp", volume.pod.metadata.deletionTimestamp ?? undefined));
}

function detach(evidence: VolumeEvidence, blocked: boolean): StageFinding {
  const { attachment } = evidence;
  if (csiDriverOf(evidence.volume) === undefined) return notApplicable("nothing was attached");
  if (!attachment) {
    return evidence.unread.has("volumeattachments")
      ? finding("unknown", remark("VolumeAttachments", "can't be read"))
      : finding("done", remark("VolumeAttachment", "none"));
  }
  const name = `VolumeAttachment ${attachment.metadata.name ?? ""}`;
  const error = attachment.status?.detachError;
  if (error) return finding("stuck", field(name, ".status.detachError.message", error.message), error.time);
  if (attachment.metadata.deletionTimestamp) return finding("doing", field(name, ".metadata.deletionTimestamp", attachment.metadata.deletionTimestamp));
  return blocked ? notReached : finding("waiting", field(name, ".status.attached", attachment.status?.attached ?? false));
}

function cleanup({ report, reported, nodeName }: VolumeEvidence, blocked: boolean): StageFinding {
  const node = nodeName ?? "the node";
  if (!report) return finding("unknown", remark("what would settle it", `a report of ${node}`));
  if (!reported?.found) return finding("done", remark(`${node} disk`, "no folder is left"));
  return blocked ? notReached : finding("doing", remark(`${node} disk`, reported.path));
}
