/** The verb "resize a memory-backed volume": evidence, decision, preview and request. Following is in operations.ts. */
import { AppError, codeOf, messageOf } from "@/lib/errors";
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import { parseQuantity } from "@/lib/quantity";
import { resourcePath } from "@/server/cluster/resources";
import type { Kubectl } from "@/lib/kubectl";
import { decideResize, resizePatch, type ResizeEvidence } from "./decide-resize";
import { followResize } from "./decide-follow-resize";
import { accepted, type DryRun, type DryRunAnswer } from "./expand-claim";
import { getOptional, getUnlessGone } from "./get-optional";
import type { Decision, OperationRecord, Progress } from "./operation";
import type { OperationCluster } from "./ports";

export interface ResizeInput {
  readonly namespace: string;
  /** The pod. */
  readonly name: string;
  readonly volume: string;
  /** As typed: `128Mi`. */
  readonly size: string;
}

export interface ResizePreview {
  readonly uid: string;
  readonly decision: Decision;
  readonly sizeLimit: string;
  readonly usedBytes?: string;
  readonly capacityBytes?: string;
  readonly sizeBytes: string;
  readonly dryRun?: DryRun;
  readonly kubectl: string;
}

export const podPath = (namespace: string, name: string) => resourcePath("pods", { namespace, name });

export async function readResizeEvidence(cluster: OperationCluster, input: ResizeInput): Promise<ResizeEvidence> {
  const pod = await cluster.client.get<Pod>(podPath(input.namespace, input.name));
  const nodeName = pod.spec.nodeName ?? "";
  const [node, hasSubresource, mayPatch] = await Promise.all([
    nodeName === "" ? undefined : getOptional<Node>(cluster.client, resourcePath("nodes", { name: nodeName })),
    cluster.hasPodResize(),
    cluster.mayPatch({ resource: "pods", subresource: "resize", namespace: input.namespace, name: input.name }),
  ]);
  const usedBytes = (await cluster.mountedSize(pod.metadata.uid ?? "", input.volume))?.usedBytes;
  return { pod, volumeName: input.volume, node, hasSubresource, usedBytes, mayPatch };
}

/** Everything the dialog shows before the person confirms. Throws AppError `invalid` for a size that is none. */
export async function previewResize(cluster: OperationCluster, input: ResizeInput, nowMs: number): Promise<ResizePreview> {
  const target = parseQuantity(input.size);
  const evidence = await readResizeEvidence(cluster, input);
  const decision = decideResize(evidence, target);
  const mounted = await cluster.mountedSize(evidence.pod.metadata.uid ?? "", input.volume);
  const preview = {
    uid: evidence.pod.metadata.uid ?? "",
    decision,
    sizeLimit: sizeLimitOf(evidence.pod, input.volume) ?? "",
    usedBytes: mounted?.usedBytes?.toString(),
    capacityBytes: mounted?.capacityBytes?.toString(),
    sizeBytes: target.ceilValue().toString(),
    kubectl: resizeCommand(cluster.kubectl, input),
  };
  if (decision.kind === "nothing" || !evidence.hasSubresource) return preview;
  return { ...preview, dryRun: { ...(await dryRunResize(cluster, input, preview.sizeLimit)), atMs: nowMs } };
}

export function sizeLimitOf(pod: Pod, volume: string): string | undefined {
  return pod.spec.volumes?.find((each) => each.name === volume)?.emptyDir?.sizeLimit;
}

/** A server that drops the change answers 200 as well: only the answered object tells. */
async function dryRunResize(cluster: OperationCluster, input: ResizeInput, from: string): Promise<DryRunAnswer> {
  try {
    const answer = await cluster.client.patch<Pod>(
      `${podPath(input.namespace, input.name)}/resize`,
      { type: "strategic", body: resizePatch(input.volume, input.size, undefined) },
      { dryRun: true },
    );
    const answered = sizeLimitOf(answer, input.volume);
    const changed = answered !== undefined && parseQuantity(answered).cmp(parseQuantity(input.size)) === 0;
    const field = `spec.volumes[${input.volume}].emptyDir.sizeLimit`;
    if (changed) return accepted({ field, from, to: answered });
    return { ok: false, words: `${field}: ${answered ?? "absent"}; the server accepts the request and changes nothing` };
  } catch (error) {
    if (codeOf(error) === "transient") throw error;
    return { ok: false, words: messageOf(error) };
  }
}

/** Does, when run in a shell, what the button does. */
export function resizeCommand(kubectl: Kubectl, input: ResizeInput): string {
  const patch = JSON.stringify(resizePatch(input.volume, input.size, undefined));
  return kubectl("-n", input.namespace, "patch", "pod", input.name, "--subresource=resize", "--type=strategic", "-p", patch);
}

/** Reads the world as it is now and says where the operation stands. Throws AppError `transient` before the node looked at its mounts. */
export async function resizeProgress(cluster: OperationCluster, record: OperationRecord, nowMs: number): Promise<Progress> {
  const { namespace, name, uid, volume = "" } = record.subject;
  const mounted = await cluster.mountedSize(uid, volume);
  if (mounted?.notYet) throw new AppError("transient", "the node has not looked at its mounts yet");
  return followResize({
    pod: await getUnlessGone<Pod>(cluster.client, podPath(namespace, name)),
    uid,
    volumeName: volume,
    target: parseQuantity(record.to),
    answeredGeneration: record.answeredGeneration,
    capacityBytes: mounted?.capacityBytes,
    events: cluster.eventsOf([uid]),
    startedAtMs: Date.parse(record.startedAt),
    nowMs,
  });
}
