/**
 * May this memory-backed volume of a pod get that sizeLimit? Pure, over API objects and the node's report.
 * Sources: ValidatePodResize (pkg/apis/core/validation/validation.go), NodeDeclaredFeatureValidator, and the emptyDir plugin's
 * ResizeEphemeralVolume at v1.37.2. What Kubernetes accepts and Voldeck refuses is said to be Voldeck's own.
 */
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { newQuantity, tryParseQuantity, type Quantity } from "@/lib/quantity";
import { decisionOf, type Check, type Decision } from "./operation";

export const resizeFeature = "InPlacePodVerticalScalingMemoryBackedVolumes";

export interface ResizeEvidence {
  readonly pod: Pod;
  readonly volumeName: string;
  /** undefined: it may not be read, or the pod has none yet. */
  readonly node?: Node;
  /** Whether the server lists `pods/resize`. */
  readonly hasSubresource: boolean;
  /** What statfs of the mount said; undefined where the node is not visible from here. */
  readonly usedBytes?: bigint;
  readonly mayPatch?: boolean;
}

export function decideResize(evidence: ResizeEvidence, target: Quantity): Decision {
  const volume = evidence.pod.spec.volumes?.find((each) => each.name === evidence.volumeName);
  const now = tryParseQuantity(volume?.emptyDir?.sizeLimit);
  if (now && volume?.emptyDir?.medium === "Memory" && now.cmp(target) === 0) {
    return { kind: "nothing", checks: [], reason: `The sizeLimit already is ${volume.emptyDir.sizeLimit}` };
  }
  return decisionOf([
    memoryBacked(volume, now),
    positive(target),
    running(evidence.pod),
    subresource(evidence),
    declaredFeature(evidence),
    noneIsPending(evidence.pod),
    aboveUse(evidence, target),
    withinNode(evidence, target),
    containerMemory(evidence.pod, target),
    mayPatch(evidence),
  ]);
}

function memoryBacked(volume: Volume | undefined, now: Quantity | undefined): Check {
  const medium = volume?.emptyDir?.medium ?? "";
  const value = [medium || "no medium", volume?.emptyDir?.sizeLimit ?? "no sizeLimit"].join(", ");
  return {
    title: "Memory-backed, with a sizeLimit",
    verdict: medium === "Memory" && now !== undefined && now.sign() > 0 ? "pass" : "refuse",
    proof: { object: "pod", field: ".emptyDir", value: volume?.emptyDir ? value : "not an emptyDir" },
    remedy: "Only a memory-backed emptyDir that has a sizeLimit can be resized in place; a limit cannot be added or removed",
  };
}

function positive(target: Quantity): Check {
  return {
    title: "A size above zero",
    verdict: target.sign() > 0 ? "pass" : "refuse",
    proof: { object: "new sizeLimit", value: target.toString() },
    remedy: "Zero would remove the limit, which is not possible in place",
  };
}

function running(pod: Pod): Check {
  const phase = pod.status?.phase ?? "";
  const ended = phase === "Succeeded" || phase === "Failed" || Boolean(pod.metadata.deletionTimestamp);
  return {
    title: "The pod lives",
    verdict: ended ? "refuse" : "pass",
    proof: { object: "pod", field: ".status.phase", value: pod.metadata.deletionTimestamp ? "being deleted" : phase || "absent" },
  };
}

function subresource({ hasSubresource }: ResizeEvidence): Check {
  return {
    title: "Server has the resize subresource",
    verdict: hasSubresource ? "pass" : "refuse",
    proof: { object: "v1", field: "pods/resize", value: hasSubresource ? "present" : "absent" },
    remedy: "Kubernetes 1.33 or newer has it; memory-backed volumes need 1.37 with the gate on",
  };
}

function declaredFeature({ node, pod }: ResizeEvidence): Check {
  const title = `${pod.spec.nodeName ?? "The node"} can do it`;
  if (!node) return { title, verdict: "unknown", proof: { object: "node", text: "not bound yet, or not readable" } };
  const declares = node.status?.declaredFeatures?.includes(resizeFeature) ?? false;
  return {
    title,
    verdict: declares ? "pass" : "refuse",
    proof: { object: `node ${node.metadata.name ?? ""}`, field: ".status.declaredFeatures", value: declares ? resizeFeature : `without ${resizeFeature}` },
    remedy: `The gate ${resizeFeature} must be on in kubelet and API server (Kubernetes 1.37), on cgroup v2`,
  };
}

function noneIsPending(pod: Pod): Check {
  const pending = pod.status?.conditions?.find(
    (condition) => (condition.type === "PodResizePending" || condition.type === "PodResizeInProgress") && condition.status === "True",
  );
  return {
    title: "No resize is pending",
    verdict: pending ? "note" : "pass",
    proof: { object: "pod", field: ".status.conditions", value: pending ? `${pending.type} ${pending.reason ?? ""}`.trim() : "none of PodResize*" },
    remedy: pending ? "The newer request replaces the one that is pending" : undefined,
  };
}

function aboveUse({ usedBytes }: ResizeEvidence, target: Quantity): Check {
  const title = "Above what is used";
  if (usedBytes === undefined) {
    return { title, verdict: "unknown", proof: { object: "node", text: "its use is not visible from here; the kernel refuses a size below it" } };
  }
  const used = newQuantity(usedBytes, "BinarySI");
  return {
    title,
    verdict: target.ceilValue() >= usedBytes ? "pass" : "refuse",
    proof: { object: "node", field: "statfs", value: used.toString() },
    remedy: `The kernel refuses a tmpfs below its use (${used.toString()}): delete files first, or choose a larger size`,
  };
}

function withinNode({ node }: ResizeEvidence, target: Quantity): Check {
  const title = "Below the node's memory";
  const text = node?.status?.allocatable?.["memory"];
  const allocatable = tryParseQuantity(text);
  if (!allocatable) return { title, verdict: "unknown", proof: { object: "node", field: ".status.allocatable.memory", value: "absent" } };
  return {
    title,
    verdict: target.cmp(allocatable) <= 0 ? "pass" : "refuse",
    proof: { object: "node", field: ".status.allocatable.memory", value: text },
    remedy: "Voldeck's own refusal: Kubernetes would accept it, and the node could run out of memory before the volume is full",
  };
}

function containerMemory(pod: Pod, target: Quantity): Check {
  const title = "Counts as container memory";
  const limit = memoryLimitOf(pod);
  if (!limit) return { title, verdict: "note", proof: { object: "pod", text: "no memory limit on every container: only the node bounds it" } };
  const over = target.cmp(limit) >= 0;
  return {
    title,
    verdict: "note",
    proof: { object: "pod", field: "limits.memory", value: limit.toString() },
    remedy: over
      ? "The pod can be killed before the volume is full. Our own note; Kubernetes does not check it"
      : `Leaves ${limit.sub(target).toString()} for the processes. Our own note; Kubernetes does not check it`,
  };
}

/** The sum of the containers' memory limits, where every one has one; a pod-level limit wins. */
export function memoryLimitOf(pod: Pod): Quantity | undefined {
  const whole = tryParseQuantity(pod.spec.resources?.limits?.["memory"]);
  if (whole) return whole;
  const limits = (pod.spec.containers ?? []).map((container) => tryParseQuantity(container.resources?.limits?.["memory"]));
  if (limits.length === 0) return undefined;
  return limits.reduce((sum, limit) => (sum && limit ? sum.add(limit) : undefined));
}

function mayPatch({ mayPatch: allowed }: ResizeEvidence): Check {
  return {
    title: "You may do it",
    verdict: allowed === undefined ? "unknown" : allowed ? "pass" : "refuse",
    proof: { object: "you", field: "patch pods/resize", value: allowed === undefined ? "not asked" : allowed ? "allowed" : "forbidden" },
    remedy: allowed === false ? "The right to patch pods/resize is missing: the roles edit and admin do not hold it" : undefined,
  };
}

/** The strategic merge patch of pods/resize; resourceVersion makes a concurrent change fail it. */
export function resizePatch(volumeName: string, target: string, resourceVersion: string | undefined): object {
  return {
    ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
    spec: { volumes: [{ name: volumeName, emptyDir: { sizeLimit: target } }] },
  };
}
