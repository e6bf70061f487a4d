/**
 * What a kubelet says in the pod about resizes: conditions that are there or not, never False, and events.
 * Source: pkg/kubelet/status (pod resize conditions) and pkg/kubelet/events (podResizeMessage) of v1.37.2.
 */
import { goJsonInOrder } from "@/lib/go-text";
import type { Condition, ResourceList } from "@/lib/kube/meta";
import type { Container, Pod } from "@/lib/kube/pods";
import { tryParseQuantity } from "@/lib/quantity";
import { compareText } from "@/lib/names";
import type { PodEvent } from "@/server/node/operation-context";

export const inProgress = "PodResizeInProgress";
export const pending = "PodResizePending";

export function resizeCondition(pod: Pod, type: typeof inProgress | typeof pending): Condition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

/** The parts of a pod's status that a strategic merge patch changes. */
export interface StatusChange {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly object[];
}

const gone = (type: string) => ({ $patch: "delete", type });

/** A resize was taken on at generation `admitted`; what an earlier one left is replaced. `now`: RFC 3339, whole seconds. */
export function beginChange(pod: Pod, admitted: number, now: string): StatusChange {
  const begun = { type: inProgress, status: "True", reason: null, message: null, lastProbeTime: now, lastTransitionTime: now, observedGeneration: admitted };
  return { ...observeChange(pod), conditions: [begun, ...pendingGone(pod)] };
}

/** Keeps the generation of the condition that is there; its time too, where that was an error already. */
export function errorChange(pod: Pod, message: string, now: string): StatusChange {
  const known = resizeCondition(pod, inProgress);
  const lastTransitionTime = known?.reason === "Error" ? known.lastTransitionTime : now;
  const observedGeneration = known?.observedGeneration ?? pod.metadata.generation;
  const failed = { type: inProgress, status: "True", reason: "Error", message, lastProbeTime: now, lastTransitionTime, observedGeneration };
  return { ...observeChange(pod), conditions: [failed] };
}

export function completeChange(pod: Pod): StatusChange {
  return { ...observeChange(pod), conditions: [gone(inProgress), ...pendingGone(pod)] };
}

export function observeChange(pod: Pod): StatusChange {
  const conditions = pendingGone(pod);
  return { observedGeneration: pod.metadata.generation, ...(conditions.length > 0 ? { conditions } : {}) };
}

function pendingGone(pod: Pod): readonly object[] {
  return resizeCondition(pod, pending) ? [gone(pending)] : [];
}

const events = {
  started: { type: "Normal", reason: "ResizeStarted", prefix: "Pod resize started" },
  completed: { type: "Normal", reason: "ResizeCompleted", prefix: "Pod resize completed" },
  error: { type: "Warning", reason: "ResizeError", prefix: "Pod resize error" },
} as const;

/** `generation`: of the resize that it tells of. */
export function resizeEvent(what: keyof typeof events, pod: Pod, { generation, error }: { generation: number; error?: string }): PodEvent {
  const { type, reason, prefix } = events[what];
  const listed = (containers: readonly Container[] | null | undefined) =>
    containers && containers.length > 0 ? containers.map(({ name, resources }) => ({ name, resources: resourcesOf(resources) })) : undefined;
  const { initContainers, containers } = pod.spec;
  const summary = { initContainers: listed(initContainers), containers: listed(containers), generation, error };
  return { type, reason, message: `${prefix}: ${goJsonInOrder(summary)}` };
}

function resourcesOf(resources: Container["resources"] = {}): object {
  return { limits: sorted(resources.limits), requests: sorted(resources.requests) };
}

/** As Go writes it: names in order, sizes in their canonical spelling. */
function sorted(list: ResourceList | undefined): ResourceList | undefined {
  const entries = Object.entries(list ?? {}).sort(([a], [b]) => compareText(a, b));
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name, size]) => [name, tryParseQuantity(size)?.toString() ?? size]));
}
