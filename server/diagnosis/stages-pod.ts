/** The stages that the pod itself proves: schedule and running. */
import type { ContainerStatus, Pod } from "@/lib/kube/pods";
import { eventProof, field, finding, newest, notApplicable, noted, notReached, remark, type StageFinding } from "./finding";
import type { VolumeEvidence } from "./evidence";

export const podOf = (pod: Pod): string => `pod ${pod.metadata.name ?? ""}`;

export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function schedule({ volume: { pod }, podEvents }: VolumeEvidence): StageFinding {
  const condition = pod.status?.conditions?.find((each) => each.type === "PodScheduled");
  if (pod.spec.nodeName) {
    return finding("done", field(podOf(pod), ".spec.nodeName", pod.spec.nodeName), condition?.lastTransitionTime);
  }
  if (condition?.status !== "False") {
    return finding("waiting", noted(field(podOf(pod), ".spec.nodeName", undefined), "no scheduler has spoken yet"));
  }
  const proof = noted(field(podOf(pod), ".status.conditions[PodScheduled]", condition.reason), condition.message);
  if (condition.reason === "SchedulingGated") return finding("waiting", proof, condition.lastTransitionTime);
  const event = newest(podEvents, (each) => each.reason === "FailedScheduling");
  return finding("stuck", event ? [proof, eventProof(event)] : proof, condition.lastTransitionTime);
}

/** Containers that mount or map the volume, by name. A volume that none uses is never mounted. */
export function usersOf(pod: Pod, volumeName: string): ReadonlySet<string> {
  const containers = [pod.spec.initContainers, pod.spec.containers, pod.spec.ephemeralContainers].flatMap((each) => each ?? []);
  const users = containers.filter((container) =>
    [...(container.volumeMounts ?? []), ...(container.volumeDevices ?? [])].some((mount) => mount.name === volumeName),
  );
  return new Set(users.map((container) => container.name));
}

function statusesOf(pod: Pod): readonly ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

/** A container that uses the volume and has started: the kubelet starts none before every volume of the pod is set up. */
export function startedUser({ volume: { pod, volume } }: VolumeEvidence): ContainerStatus | undefined {
  const users = usersOf(pod, volume.name);
  return statusesOf(pod).find((status) => users.has(status.name) && (status.state?.running || (status.restartCount ?? 0) > 0));
}

export function running(evidence: VolumeEvidence, blocked: boolean): StageFinding {
  const { pod, volume } = evidence.volume;
  if (!evidence.runsContainers) return notApplicable("this node mounts and runs no containers");
  if (isFinished(pod)) return finding("done", noted(field(podOf(pod), ".status.phase", pod.status?.phase), "the pod has ended"));
  const users = usersOf(pod, volume.name);
  if (users.size === 0) return notApplicable("no container uses the volume");
  const statuses = pod.status?.containerStatuses ?? [];
  const index = statuses.findIndex((status) => users.has(status.name));
  const status = statuses[index];
  const path = `.status.containerStatuses[${index}]`;
  if (status?.state?.running) {
    return finding("done", field(podOf(pod), `${path}.state.running`, status.name), status.state.running.startedAt);
  }
  if (blocked) return notReached;
  const waiting = status?.state?.waiting;
  if (!status || !waiting || waiting.reason === "ContainerCreating" || waiting.reason === "PodInitializing") {
    return finding("doing", status ? field(podOf(pod), `${path}.state.waiting.reason`, waiting?.reason) : remark(podOf(pod), "no container status yet"));
  }
  return finding("unknown", [
    noted(field(podOf(pod), `${path}.state.waiting.reason`, waiting.reason), waiting.message),
    remark("what would settle it", `the log of container ${status.name}: whether the volume is the cause`),
  ]);
}
