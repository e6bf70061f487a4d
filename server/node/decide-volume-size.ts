/**
 * The next thing to do for the sizes of a pod's memory-backed volumes. Pure; asked again after each step, so that a process which ends
 * between two steps goes on where it was.
 * Source: the order of pkg/kubelet/allocation and pkg/kubelet/kuberuntime (doPodResizeAction) at v1.37.2, without the cgroups: this
 * node runs no containers. Nothing is deferred or infeasible here, so a size is taken on as soon as it is seen.
 */
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { tryParseQuantity, type Quantity } from "@/lib/quantity";
import { usageOf } from "@/server/node/desired-state";
import { inProgress, pending, resizeCondition } from "@/server/node/resize-conditions";
import type { PodSizes, SizeRecord } from "@/server/node/size-record";

export interface SizeQuestion {
  readonly pod: Pod;
  readonly sizes: PodSizes | undefined;
  readonly isMounted: (volumeName: string) => boolean;
}

/**
 * - `allocate`: take on what the spec asks for.
 * - `adopt`: the volume was mounted; read how large.
 * - `begin`: say that a resize was taken on, and which generation was seen.
 * - `observe`: say which generation was seen.
 * - `remount`: give the mount its size.
 * - `complete`: take the condition away.
 * - `clear`: the pod ended; its conditions mean nothing any more.
 */
export type SizeStep =
  | { readonly do: "allocate"; readonly sizes: PodSizes }
  | { readonly do: "adopt"; readonly volumeName: string; readonly record: SizeRecord }
  | { readonly do: "begin" | "observe" | "complete" | "clear" }
  | { readonly do: "remount"; readonly volumeName: string; readonly record: SizeRecord };

/** undefined: nothing is left to do. */
export function nextSizeStep(question: SizeQuestion): SizeStep | undefined {
  const { pod } = question;
  if (hasEnded(pod)) return resizeCondition(pod, inProgress) || resizeCondition(pod, pending) ? { do: "clear" } : undefined;
  return allocation(question) ?? adoption(question) ?? progress(question);
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function allocation({ pod, sizes }: SizeQuestion): SizeStep | undefined {
  const asked = askedSizes(pod);
  const known = sizes?.volumes ?? new Map<string, SizeRecord>();
  const changed = Array.from(asked).some(([name, size]) => known.get(name)?.allocated.equals(size) === false);
  const isSame = !changed && asked.size === known.size && Array.from(asked.keys()).every((name) => known.has(name));
  if (isSame) return undefined;
  const volumes = new Map(Array.from(asked, ([name, size]) => [name, allocate(known.get(name), size)]));
  return { do: "allocate", sizes: { admitted: changed ? generationOf(pod) : sizes?.admitted, volumes } };
}

/** Memory-backed volumes with a limit, as the spec has them. */
function askedSizes({ spec }: Pod): ReadonlyMap<string, Quantity> {
  return new Map((spec.volumes ?? []).flatMap((volume) => askedSize(volume) ?? []));
}

function askedSize({ name, emptyDir }: Volume): [[string, Quantity]] | undefined {
  const size = emptyDir?.medium === "Memory" ? tryParseQuantity(emptyDir.sizeLimit) : undefined;
  return size && size.sign() > 0 ? [[name, size]] : undefined;
}

function allocate(known: SizeRecord | undefined, size: Quantity): SizeRecord {
  if (!known) return { allocated: size, actuated: undefined, inDoubt: false };
  if (known.allocated.equals(size)) return known;
  const mayBeRemounted = known.actuated !== undefined && !known.actuated.equals(known.allocated);
  return { allocated: size, actuated: known.actuated, inDoubt: known.inDoubt || mayBeRemounted };
}

function adoption({ sizes, isMounted }: SizeQuestion): SizeStep | undefined {
  for (const [volumeName, record] of sizes?.volumes ?? []) {
    if (record.actuated === undefined && isMounted(volumeName)) return { do: "adopt", volumeName, record };
  }
  return undefined;
}

function progress({ pod, sizes, isMounted }: SizeQuestion): SizeStep | undefined {
  const volumes = Array.from(sizes?.volumes ?? []);
  const due = volumes.filter(([, record]) => isDue(record));
  const awaited = volumes.filter(([name, { actuated }]) => actuated === undefined && usageOf(pod, name).mounted);
  const condition = resizeCondition(pod, inProgress);
  const admitted = sizes?.admitted;
  if (due.length + awaited.length > 0 && admitted !== undefined && condition?.observedGeneration !== admitted) return { do: "begin" };
  if (pod.status?.observedGeneration !== pod.metadata.generation) return { do: "observe" };
  const [next] = due.filter(([name]) => isMounted(name)).sort(([, a], [, b]) => Number(shrinks(b)) - Number(shrinks(a)));
  if (next) return { do: "remount", volumeName: next[0], record: next[1] };
  if (condition && due.length + awaited.length === 0) return { do: "complete" };
  return resizeCondition(pod, pending) ? { do: "observe" } : undefined;
}

function isDue({ allocated, actuated, inDoubt }: SizeRecord): boolean {
  return actuated !== undefined && (inDoubt || !actuated.equals(allocated));
}

function shrinks({ allocated, actuated }: SizeRecord): boolean {
  return actuated !== undefined && allocated.cmp(actuated) < 0;
}

function generationOf(pod: Pod): number {
  return pod.metadata.generation ?? 0;
}
