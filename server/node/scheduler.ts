/**
 * Binds pods without a node to this one, when their selector, affinity and claims allow it; else says why they wait. There is
 * one node and nothing runs: no resources are counted.
 */
import { codeOf } from "@/lib/errors";
import { podFitsNode } from "@/lib/kube/node-selector";
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import { claimClass } from "@/lib/kube/classes";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { resourcePath } from "@/server/cluster/resources";
import { claimNameOf } from "@/server/cluster/build-snapshot";
import type { NodeClient } from "@/server/node/client";

const defaultScheduler = "default-scheduler";

export type Placement = { readonly fits: true } | { readonly fits: false; readonly reason: string };

/** Pods that wait for a node, and for each whether this one will do. Pure. */
export function placements(snapshot: ClusterSnapshot, node: Node): readonly { readonly pod: Pod; readonly placement: Placement }[] {
  return [...snapshot.pods.values()].filter(waitsForNode).map((pod) => ({ pod, placement: placementOf(snapshot, pod, node) }));
}

/** A pod for another scheduler is left to it. */
function waitsForNode(pod: Pod): boolean {
  const ours = (pod.spec.schedulerName ?? defaultScheduler) === defaultScheduler;
  return ours && !pod.spec.nodeName && !pod.metadata.deletionTimestamp && !isGated(pod);
}

function isGated(pod: Pod): boolean {
  const gates: unknown = Reflect.get(pod.spec, "schedulingGates");
  return Array.isArray(gates) && gates.length > 0;
}

function placementOf(snapshot: ClusterSnapshot, pod: Pod, node: Node): Placement {
  const waits = claimsNotReady(snapshot, pod);
  if (waits !== undefined) return { fits: false, reason: `0/1 nodes are available: ${waits}` };
  const fit = podFitsNode(pod.spec, node);
  return fit.fits ? fit : { fits: false, reason: `0/1 nodes are available: ${fit.reason}` };
}

/** As the scheduler's volume binding: a claim that is missing or is bound at once has to be bound first. */
function claimsNotReady(snapshot: ClusterSnapshot, pod: Pod): string | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimNameOf(pod, volume);
    if (name === undefined) continue;
    const claim = snapshot.claims.get(`${pod.metadata.namespace ?? ""}/${name}`);
    if (!claim) return `persistentvolumeclaim "${name}" not found`;
    if (claim.metadata.deletionTimestamp) return `persistentvolumeclaim "${name}" is being deleted`;
    const mode = snapshot.storageClasses.get(claimClass(claim))?.volumeBindingMode;
    if (!claim.spec.volumeName && mode !== "WaitForFirstConsumer") return "pod has unbound immediate PersistentVolumeClaims";
  }
  return undefined;
}

/** False: the pod was bound or deleted meanwhile. Throws any other refusal of the API. */
export async function bindPod(client: NodeClient, pod: Pod, nodeName: string): Promise<boolean> {
  const { namespace = "", name = "", uid } = pod.metadata;
  const path = resourcePath("pods", { namespace, name, subresource: "binding" });
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target: { apiVersion: "v1", kind: "Node", name: nodeName } };
  try {
    await client.create(path, binding);
    return true;
  } catch (error) {
    if (codeOf(error) !== "conflict" && codeOf(error) !== "not-found") throw error;
    return false;
  }
}
