/**
 * What a pod's containers ask for and may use, summed as the kubelet does. Source: component-helpers/resource/helpers.go (PodLimits),
 * pkg/apis/core/v1/helper/qos (GetPodQOS) and pkg/kubelet/cm/helpers_linux.go (ResourceConfigForPod) of v1.37.2.
 */
import type { ResourceList } from "@/lib/kube/meta";
import type { Container, Pod } from "@/lib/kube/pods";
import { parseQuantity, Quantity } from "@/lib/quantity";

export type QOSClass = "Guaranteed" | "Burstable" | "BestEffort";

type Amounts = ReadonlyMap<string, Quantity>;

export const hugePagesResourcePrefix = "hugepages-";

/** The amount of a resource in a list; zero when absent. Throws AppError `invalid` for what is no quantity. */
export function resourceAmount(list: ResourceList | undefined, name: string): Quantity {
  const text = list && Object.hasOwn(list, name) ? list[name] : undefined;
  return text === undefined ? Quantity.zero : parseQuantity(text);
}

/**
 * The memory limit, in bytes, that the kubelet writes into the pod's cgroup; undefined when it writes none: a best-effort pod, or a burstable
 * one with a container that may use what it likes.
 */
export function podCgroupMemoryLimit(pod: Pod): bigint | undefined {
  const qos = podQOSClass(pod);
  if (qos === "BestEffort") return undefined;
  if (qos === "Burstable" && !declaresMemoryLimit(pod)) return undefined;
  return podLimits(pod).get("memory")?.value() ?? 0n;
}

/** Pod-level resources count as set when one of the kinds allowed there is named. */
export function hasPodLevelResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return [...Object.keys(requests ?? {}), ...Object.keys(limits ?? {})].some(isPodLevelResource);
}

export function podQOSClass(pod: Pod): QOSClass {
  const known = pod.status?.qosClass;
  if (known === "Guaranteed" || known === "Burstable" || known === "BestEffort") return known;
  return computeQOSClass(pod);
}

/** Containers, then init containers: the order in which Kubernetes looks one up by name. */
export function containersThenInit(pod: Pod): readonly Container[] {
  return [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
}

function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith(hugePagesResourcePrefix);
}

function computeQOSClass(pod: Pod): QOSClass {
  const parts = pod.spec.resources
    ? [pod.spec.resources]
    : containersThenInit(pod).map((container) => container.resources ?? {});
  const requests = sum(parts.map((part) => qosAmounts(part.requests)));
  const limits = sum(parts.map((part) => qosAmounts(part.limits)));
  if (requests.size === 0 && limits.size === 0) return "BestEffort";

  const limited = pod.spec.resources
    ? limits.size === 0 || limits.size === 2
    : parts.every((part) => qosAmounts(part.limits).size === 2);
  const equal = [...requests].every(([name, request]) => limits.get(name)?.equals(request));
  return limited && equal && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

/** The resources that decide the class, where they are more than nothing. */
function qosAmounts(list: ResourceList | undefined): Amounts {
  return new Map([...amounts(list)].filter(([name, amount]) => (name === "cpu" || name === "memory") && amount.sign() > 0));
}

function declaresMemoryLimit(pod: Pod): boolean {
  if (hasPodLevelResources(pod) && !resourceAmount(pod.spec.resources?.limits, "memory").isZero()) return true;
  return limitsPerStep(pod).every((limits) => !(limits.get("memory") ?? Quantity.zero).isZero());
}

/** What PodLimits looks at, one entry per container: an init container runs beside the sidecars that were started before it. */
function limitsPerStep(pod: Pod): readonly Amounts[] {
  return [...(pod.spec.containers ?? []).map((container) => amounts(container.resources?.limits)), ...initSteps(pod)];
}

function initSteps(pod: Pod): readonly Amounts[] {
  let sidecars: Amounts = new Map();
  return (pod.spec.initContainers ?? []).map((container) => {
    const step = sum([sidecars, amounts(container.resources?.limits)]);
    if (isSidecar(container)) sidecars = step;
    return step;
  });
}

function podLimits(pod: Pod): Amounts {
  const together = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? []).filter(isSidecar)];
  const limits = new Map(sum(together.map((container) => amounts(container.resources?.limits))));
  for (const step of initSteps(pod)) {
    for (const [name, amount] of step) if (amount.cmp(limits.get(name) ?? Quantity.zero) > 0) limits.set(name, amount);
  }
  if (hasPodLevelResources(pod)) {
    for (const [name, amount] of amounts(pod.spec.resources?.limits)) if (isPodLevelResource(name)) limits.set(name, amount);
  }
  for (const [name, overhead] of amounts(pod.spec.overhead)) {
    const limit = limits.get(name);
    if (limit && !limit.isZero()) limits.set(name, limit.add(overhead));
  }
  return limits;
}

function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

function amounts(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

function sum(lists: readonly Amounts[]): Amounts {
  const total = new Map<string, Quantity>();
  for (const list of lists) {
    for (const [name, amount] of list) total.set(name, total.get(name)?.add(amount) ?? amount);
  }
  return total;
}
