/** The stages that claim, persistent volume and class prove: bind, provision and expand. */
import { claimClass, claimHasClass } from "@/lib/kube/classes";
import { storageOf, type PersistentVolume, type PersistentVolumeClaim } from "@/lib/kube/storage";
import { tryParseQuantity } from "@/lib/quantity";
import type { ClaimEvidence, VolumeEvidence } from "./evidence";
import { eventProof, field, finding, newest, notApplicable, noted, notReached, remark, type StageFinding } from "./finding";

const noProvisioner = "kubernetes.io/no-provisioner";
const provisionedBy = "pv.kubernetes.io/provisioned-by";

const claimOf = (claim: PersistentVolumeClaim): string => `claim ${claim.metadata.name ?? ""}`;
const pvOf = (pv: PersistentVolume): string => `PV ${pv.metadata.name ?? ""}`;

/** For a pod's volume: a claim that was to be made for the pod must also belong to it. */
export function bind(evidence: VolumeEvidence): StageFinding {
  const { claim, volume, pod, claimName } = evidence.volume;
  if (volume.ephemeral && !claim && !evidence.unread.has("persistentvolumeclaims")) {
    return finding("doing", remark(`claim ${claimName ?? ""}`, "not made yet"));
  }
  const owner = claim?.metadata.ownerReferences?.find((each) => each.controller);
  if (volume.ephemeral && claim && owner?.uid !== pod.metadata.uid) {
    return finding("stuck", noted(field(claimOf(claim), ".metadata.ownerReferences[controller].uid", owner?.uid), "the claim belongs to another"));
  }
  return bindClaim(evidence);
}

export function bindClaim(evidence: ClaimEvidence): StageFinding {
  const { claimName, claim, persistentVolume } = evidence.volume;
  if (claimName === undefined) return notApplicable("no claim");
  if (!claim) {
    if (evidence.unread.has("persistentvolumeclaims")) return finding("unknown", remark(`claim ${claimName}`, "claims can't be read"));
    return finding("stuck", remark(`claim ${claimName}`, "not found", "the pod can't start before it exists"));
  }
  const phase = field(claimOf(claim), ".status.phase", claim.status?.phase);
  if (claim.status?.phase === "Bound") return finding("done", phase, persistentVolume?.status?.lastPhaseTransitionTime);
  if (claim.status?.phase === "Lost") {
    return finding("failed", { ...phase, note: `its volume ${claim.spec.volumeName ?? ""} is gone` });
  }
  return pendingBind(evidence, claim, phase);
}

function pendingBind(evidence: ClaimEvidence, claim: PersistentVolumeClaim, phase: StageFinding["proofs"][number]): StageFinding {
  const event = newest(evidence.claimEvents, () => true);
  const proofs = event ? [phase, eventProof(event)] : [phase];
  if (waitsForConsumer(evidence)) return finding("waiting", [phase, classProof(evidence)]);
  if (event?.reason === "FailedBinding") return finding("stuck", proofs);
  if (event?.reason === "ProvisioningFailed") return finding("not reached", phase);
  if (claim.spec.volumeName) return finding("doing", [phase, field(claimOf(claim), ".spec.volumeName", claim.spec.volumeName)]);
  return finding("doing", proofs);
}

/** Healthy: the class binds only when the pod has a node. */
function waitsForConsumer({ storageClass, nodeName }: ClaimEvidence): boolean {
  return nodeName === undefined && storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

function classProof({ storageClass }: ClaimEvidence): StageFinding["proofs"][number] {
  return field(`class ${storageClass?.metadata.name ?? ""}`, ".volumeBindingMode", storageClass?.volumeBindingMode);
}

export function provision(evidence: ClaimEvidence): StageFinding {
  const { claimName, claim, persistentVolume } = evidence.volume;
  if (claimName === undefined) return notApplicable("no claim");
  if (persistentVolume) {
    const by = persistentVolume.metadata.annotations?.[provisionedBy];
    if (by === undefined) return notApplicable("a person made the volume");
    const handle = persistentVolume.spec.csi?.volumeHandle;
    const proof = handle
      ? field(pvOf(persistentVolume), ".spec.csi.volumeHandle", handle)
      : field(pvOf(persistentVolume), `.metadata.annotations["${provisionedBy}"]`, by);
    return finding("done", proof, persistentVolume.metadata.creationTimestamp);
  }
  if (!claim) return notReached;
  if (claim.status?.phase === "Bound") {
    return finding("unknown", noted(field(claimOf(claim), ".spec.volumeName", claim.spec.volumeName), "that volume can't be seen"));
  }
  return pendingProvision(evidence, claim);
}

function pendingProvision(evidence: ClaimEvidence, claim: PersistentVolumeClaim): StageFinding {
  const className = claimClass(claim);
  if (className === "" && claimHasClass(claim)) return notApplicable("the claim asks for no class");
  const failed = newest(evidence.claimEvents, (each) => each.reason === "ProvisioningFailed");
  if (failed) return finding("stuck", eventProof(failed));
  if (waitsForConsumer(evidence)) return notReached;
  const { storageClass } = evidence;
  if (storageClass?.provisioner === noProvisioner) return notApplicable("volumes of this class are made by hand");
  if (className !== "" && !storageClass) {
    if (evidence.unread.has("storageclasses")) return finding("unknown", remark(`class ${className}`, "classes can't be read"));
    return finding("stuck", remark(`class ${className}`, "not found"));
  }
  const asked = newest(evidence.claimEvents, (each) => each.reason === "Provisioning" || each.reason === "ExternalProvisioning");
  if (asked) return finding("doing", eventProof(asked));
  if (className === "") return notReached;
  return finding("unknown", [
    field(`class ${className}`, ".provisioner", storageClass?.provisioner),
    remark("what would settle it", "an event of the provisioner on the claim"),
  ]);
}

export function expand(evidence: VolumeEvidence): StageFinding {
  return evidence.volume.volume.emptyDir?.medium === "Memory" ? resizeMemory(evidence) : expandClaim(evidence);
}

export function expandClaim(evidence: ClaimEvidence): StageFinding {
  const { claim } = evidence.volume;
  if (claim?.status?.phase !== "Bound") return notApplicable("nothing to grow");
  const requested = storageOf(claim.spec.resources?.requests);
  const granted = storageOf(claim.status.capacity);
  const status = claim.status.allocatedResourceStatuses?.["storage"];
  const sizes = [
    field(claimOf(claim), ".spec.resources.requests.storage", requested),
    field(claimOf(claim), ".status.capacity.storage", granted),
  ];
  const resizing = claim.status.conditions?.find((each) => resizeConditions.has(each.type) && each.status === "True");
  if (status !== undefined) {
    const proof = field(claimOf(claim), ".status.allocatedResourceStatuses.storage", status);
    const trouble = resizeTrouble(claim);
    return finding(growthState(status, trouble !== undefined), [proof, ...(trouble ? [trouble] : []), ...sizes], resizing?.lastTransitionTime);
  }
  const trouble = resizeTrouble(claim);
  if (trouble) return finding("stuck", [trouble, ...sizes], resizing?.lastTransitionTime);
  if (resizing) {
    const proof = noted(field(claimOf(claim), `.status.conditions[${resizing.type}]`, resizing.status), resizing.message);
    return finding(resizing.type === "Resizing" ? "doing" : "waiting", [proof, ...sizes], resizing.lastTransitionTime);
  }
  if (!isLarger(requested, granted)) return notApplicable("requested size is granted");
  const event = newest(evidence.claimEvents, (each) => growthReasons.has(each.reason ?? ""));
  if (event) return finding(event.type === "Warning" ? "stuck" : "doing", [eventProof(event), ...sizes]);
  return finding("unknown", [...sizes, remark("what would settle it", "an event of a resizer on the claim")]);
}

/**
 * A memory-backed emptyDir whose limit was changed. The pod's resize conditions are about all of it, so they count only while
 * the node's own size differs from the limit, or where a message names the volume.
 */
function resizeMemory({ volume: { pod, volume }, reported }: VolumeEvidence): StageFinding {
  const limit = tryParseQuantity(volume.emptyDir?.sizeLimit);
  if (!limit || limit.isZero()) return notApplicable("no size limit");
  const condition = pod.status?.conditions?.find((each) => podResizeConditions.has(each.type) && each.status === "True");
  const same = reported?.capacityBytes !== undefined && limit.ceilValue() === BigInt(reported.capacityBytes);
  const named = condition?.message?.includes(volume.name) || condition?.message?.includes("emptyDir");
  if (!condition || same || (reported?.capacityBytes === undefined && !named)) return notApplicable("not being resized");
  const proofs = [
    noted(field(`pod ${pod.metadata.name ?? ""}`, `.status.conditions[${condition.type}]`, condition.reason || "True"), condition.message),
    field(`pod ${pod.metadata.name ?? ""}`, ".spec.volumes[].emptyDir.sizeLimit", volume.emptyDir?.sizeLimit),
  ];
  return finding(memoryState(condition.type, condition.reason), proofs, condition.lastTransitionTime);
}

const podResizeConditions: ReadonlySet<string> = new Set(["PodResizePending", "PodResizeInProgress"]);

function memoryState(type: string, reason: string | undefined): StageFinding["state"] {
  if (reason === "Infeasible") return "failed";
  if (reason === "Deferred") return "waiting";
  if (reason === "Error") return "stuck";
  return type === "PodResizeInProgress" ? "doing" : "unknown";
}

const resizeConditions: ReadonlySet<string> = new Set(["Resizing", "FileSystemResizePending"]);
const errorConditions: ReadonlySet<string> = new Set(["ControllerResizeError", "NodeResizeError"]);
const growthReasons: ReadonlySet<string> = new Set(["VolumeResizeFailed", "Resizing", "ExternalExpanding", "FileSystemResizeRequired"]);

function resizeTrouble(claim: PersistentVolumeClaim): StageFinding["proofs"][number] | undefined {
  const condition = claim.status?.conditions?.find((each) => errorConditions.has(each.type) && each.status === "True");
  return condition && field(claimOf(claim), `.status.conditions[${condition.type}]`, condition.message);
}

/** Words that this version does not know are shown and judged as unknown. */
function growthState(status: string, troubled: boolean): StageFinding["state"] {
  if (status.endsWith("Infeasible")) return "failed";
  if (status.endsWith("Failed") || troubled) return "stuck";
  if (status.endsWith("InProgress")) return "doing";
  return status === "NodeResizePending" ? "waiting" : "unknown";
}

function isLarger(requested: string | undefined, granted: string | undefined): boolean {
  const [wanted, given] = [tryParseQuantity(requested), tryParseQuantity(granted)];
  return wanted !== undefined && given !== undefined && wanted.cmp(given) > 0;
}
