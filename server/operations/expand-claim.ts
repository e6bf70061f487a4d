/** The verb "expand a claim": evidence, decision, preview and request. Following is in operations.ts. */
import { codeOf, messageOf } from "@/lib/errors";
import type { Kubectl } from "@/lib/kubectl";
import { claimClass } from "@/lib/kube/classes";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import { resourcePath } from "@/server/cluster/resources";
import { decideExpansion, expansionPatch, grantedOf, requestedOf, type ExpandEvidence } from "./decide-expand";
import { followExpansion, holdsVolumes, type FollowEvidence } from "./decide-follow-expand";
import { actorOf } from "./decide-actor";
import { getOptional, getUnlessGone } from "./get-optional";
import type { Decision, OperationRecord, Progress } from "./operation";
import type { OperationCluster } from "./ports";

export interface ExpandInput {
  readonly namespace: string;
  readonly name: string;
  /** As typed: `20Gi`. */
  readonly size: string;
}

export interface DryRun {
  readonly ok: boolean;
  /** The server's words, whole; on success what would be stored. */
  readonly words: string;
  /** The one field that would change, as it is now and as the server answered it; absent when nothing would. */
  readonly change?: { readonly field: string; readonly from: string; readonly to: string };
  readonly atMs: number;
}

export type DryRunAnswer = Omit<DryRun, "atMs">;

export interface ExpandPreview {
  readonly uid: string;
  readonly decision: Decision;
  readonly requested: string;
  readonly granted: string;
  readonly sizeBytes: string;
  readonly dryRun?: DryRun;
  readonly kubectl: string;
}

export const claimPath = (namespace: string, name: string) => resourcePath("persistentvolumeclaims", { namespace, name });

export async function readExpandEvidence(cluster: OperationCluster, input: ExpandInput): Promise<ExpandEvidence> {
  const claim = await cluster.client.get<PersistentVolumeClaim>(claimPath(input.namespace, input.name));
  const [storageClass, persistentVolume, mayPatch] = await Promise.all([
    readClass(cluster, claimClass(claim)),
    readVolume(cluster, claim),
    mayPatchClaim(cluster, input),
  ]);
  return { claim, ...storageClass, persistentVolume, actor: actorOf(persistentVolume), mayPatch };
}

export function mayPatchClaim(cluster: OperationCluster, { namespace, name }: Pick<ExpandInput, "namespace" | "name">): Promise<boolean | undefined> {
  return cluster.mayPatch({ resource: "persistentvolumeclaims", namespace, name });
}

async function readVolume(cluster: OperationCluster, claim: PersistentVolumeClaim | undefined): Promise<PersistentVolume | undefined> {
  const name = claim?.spec.volumeName ?? "";
  return name === "" ? undefined : getOptional(cluster.client, resourcePath("persistentvolumes", { name }));
}

async function readClass(
  cluster: OperationCluster,
  name: string,
): Promise<Pick<ExpandEvidence, "storageClass" | "classUnreadable">> {
  if (name === "") return {};
  try {
    return { storageClass: await cluster.client.get<StorageClass>(resourcePath("storageclasses", { name })) };
  } catch (error) {
    if (codeOf(error) === "not-found") return {};
    if (codeOf(error) === "forbidden") return { classUnreadable: true };
    throw error;
  }
}

/** Everything the dialog shows before the person confirms. Throws AppError `invalid` for a size that is none. */
export async function previewExpansion(cluster: OperationCluster, input: ExpandInput, nowMs: number): Promise<ExpandPreview> {
  const target = parseQuantity(input.size);
  const evidence = await readExpandEvidence(cluster, input);
  const decision = decideExpansion(evidence, target);
  const preview = {
    uid: evidence.claim.metadata.uid ?? "",
    decision,
    requested: requestedOf(evidence.claim) ?? "",
    granted: grantedOf(evidence.claim) ?? "",
    sizeBytes: target.ceilValue().toString(),
    kubectl: expandCommand(cluster.kubectl, input),
  };
  if (decision.kind === "nothing") return preview;
  return { ...preview, dryRun: { ...(await dryRunExpansion(cluster, input, preview.requested)), atMs: nowMs } };
}

async function dryRunExpansion(cluster: OperationCluster, input: ExpandInput, from: string): Promise<DryRunAnswer> {
  try {
    const answer = await cluster.client.patch<PersistentVolumeClaim>(
      claimPath(input.namespace, input.name),
      { type: "merge", body: expansionPatch(input.size, undefined) },
      { dryRun: true },
    );
    return accepted({ field: "spec.resources.requests.storage", from, to: requestedOf(answer) ?? "absent" });
  } catch (error) {
    if (codeOf(error) === "transient") throw error;
    return { ok: false, words: messageOf(error) };
  }
}

/** A field without a value now is `absent`. */
export function accepted({ field, from, to }: NonNullable<DryRun["change"]>): DryRunAnswer {
  return { ok: true, words: `${field}: ${to}`, change: { field, from: from === "" ? "absent" : from, to } };
}

/** Does, when run in a shell, what the button does. */
export function expandCommand(kubectl: Kubectl, input: ExpandInput): string {
  const patch = JSON.stringify(expansionPatch(input.size, undefined));
  return kubectl("-n", input.namespace, "patch", "pvc", input.name, "--type=merge", "-p", patch);
}

/** The first node that should mount it and has no plugin for it. */
function unservedBy(cluster: OperationCluster, pods: readonly Pod[], volume: PersistentVolume | undefined): FollowEvidence["unserved"] {
  for (const pod of volume ? pods.filter(holdsVolumes) : []) {
    const why = volume && cluster.whyUnserved(pod, volume);
    if (why !== undefined) return { node: pod.spec.nodeName ?? "", why };
  }
  return undefined;
}

/** Reads the world as it is now and says where the operation stands. */
export async function expansionProgress(cluster: OperationCluster, record: OperationRecord, nowMs: number): Promise<Progress> {
  const { namespace, name, uid } = record.subject;
  const claim = await getUnlessGone<PersistentVolumeClaim>(cluster.client, claimPath(namespace, name));
  const persistentVolume = await readVolume(cluster, claim);
  const pods = cluster.podsOfClaim(namespace, name);
  return followExpansion({
    claim,
    persistentVolume,
    pods,
    unserved: unservedBy(cluster, pods, persistentVolume),
    events: cluster.eventsOf([uid, ...pods.map((pod) => pod.metadata.uid ?? "")]),
    uid,
    target: parseQuantity(record.to),
    startedAtMs: Date.parse(record.startedAt),
    nowMs,
  });
}

