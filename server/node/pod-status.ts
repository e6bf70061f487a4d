/**
 * What this node writes into its pods: they stay Pending and get one condition of ours, which says whether their volumes are
 * mounted. Pure, save for the two writes at the end.
 */
import { codeOf } from "@/lib/errors";
import type { Condition } from "@/lib/kube/meta";
import type { Pod } from "@/lib/kube/pods";
import { resourcePath } from "@/server/cluster/resources";
import type { NodeClient } from "@/server/node/client";

export const volumesMountedCondition = "voldeck.dev/VolumesMounted";

export interface PodVolumes {
  /** Names in the pod's spec. */
  readonly mounted: readonly string[];
  readonly missing: readonly string[];
  /** The first text that says why one is missing. */
  readonly reason: string | undefined;
}

/** The condition as it should stand; undefined when it stands so already. A text alone that changed counts too. */
export function conditionUpdate(pod: Pod, volumes: PodVolumes, nowMs: number): Condition | undefined {
  const wanted = wantedCondition(volumes);
  return changed(pod, wanted, nowMs);
}

function wantedCondition({ mounted, missing, reason }: PodVolumes): Omit<Condition, "lastTransitionTime"> {
  const type = volumesMountedCondition;
  if (missing.length === 0) {
    const what = mounted.length === 0 ? "the pod mounts no volumes" : `mounted: ${[...mounted].sort().join(", ")}`;
    return { type, status: "True", reason: "VolumesMounted", message: `${what}; this node runs no containers` };
  }
  const why = reason === undefined ? "" : `: ${reason}`;
  return { type, status: "False", reason: "VolumesNotMounted", message: `not mounted: ${[...missing].sort().join(", ")}${why}` };
}

/** PodScheduled False with the reason why a pod waits for a node. */
export function unschedulableUpdate(pod: Pod, message: string, nowMs: number): Condition | undefined {
  return changed(pod, { type: "PodScheduled", status: "False", reason: "Unschedulable", message }, nowMs);
}

/** A condition keeps the time of its last change of status. */
function changed(pod: Pod, wanted: Omit<Condition, "lastTransitionTime">, nowMs: number): Condition | undefined {
  const known = pod.status?.conditions?.find((condition) => condition.type === wanted.type);
  if (known && known.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message) return undefined;
  const since = known?.status === wanted.status ? known.lastTransitionTime : undefined;
  return { ...wanted, lastTransitionTime: since ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z` };
}

/** Conditions merge by their type: those of others stay. A pod that is gone is no failure. */
export async function writeCondition(client: NodeClient, pod: Pod, condition: Condition): Promise<void> {
  await patchPodStatus(client, pod, { conditions: [condition] });
}

/** A strategic merge patch of the status of this very pod; gives the pod as it is then. undefined: it is gone, or was replaced. */
export async function patchPodStatus(client: NodeClient, pod: Pod, status: object): Promise<Pod | undefined> {
  const { namespace = "", name = "", uid } = pod.metadata;
  const path = resourcePath("pods", { namespace, name, subresource: "status" });
  return ignoreGone(client.patch<Pod>(path, { type: "strategic", body: { metadata: { uid }, status } }));
}

/** The kubelet's last word on a pod whose volumes are gone: the object may go too. */
export async function finishDeletion(client: NodeClient, pod: Pod): Promise<void> {
  const { namespace = "", name = "", uid } = pod.metadata;
  const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } };
  await ignoreGone(client.delete(resourcePath("pods", { namespace, name }), { body }));
}

async function ignoreGone<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (codeOf(error) !== "not-found" && codeOf(error) !== "conflict") throw error;
    return undefined;
  }
}
