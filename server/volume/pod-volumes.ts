/** What a pod says of its volumes and users. Source: pkg/volume/util/util.go (FsUserFrom, GetPodVolumeNames, IsPodTerminated) of v1.37.2. */
import type { Container, ContainerStatus, Pod, PodStatus, SELinuxOptions } from "@/lib/kube/pods";

/** Init, then normal, then ephemeral containers. */
function containersOf(pod: Pod): Container[] {
  const { initContainers, containers, ephemeralContainers } = pod.spec;
  return [initContainers, containers, ephemeralContainers].flatMap((list) => list ?? []);
}

/** The one user all containers run as; undefined when one does not say or two differ. */
export function fsUserFrom(pod: Pod): number | undefined {
  const users = new Set(containersOf(pod).map((container) => userOf(pod, container)));
  const [user] = users;
  return users.size === 1 ? user : undefined;
}

function userOf(pod: Pod, container: Container): number | undefined {
  return container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser;
}

export interface PodVolumeNames {
  readonly mounts: ReadonlySet<string>;
  readonly devices: ReadonlySet<string>;
  /** The SELinux options of each container that mounts the volume and has some, its own or the pod's. */
  readonly seLinux: ReadonlyMap<string, readonly SELinuxOptions[]>;
}

/** The volumes that any container mounts or maps. */
export function getPodVolumeNames(pod: Pod): PodVolumeNames {
  const seLinux = new Map<string, SELinuxOptions[]>();
  for (const container of containersOf(pod)) {
    const options = container.securityContext?.seLinuxOptions ?? pod.spec.securityContext?.seLinuxOptions;
    if (!options) continue;
    for (const { name } of container.volumeMounts ?? []) seLinux.set(name, [...(seLinux.get(name) ?? []), options]);
  }
  return {
    mounts: new Set(containersOf(pod).flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name))),
    devices: new Set(containersOf(pod).flatMap(({ volumeDevices }) => (volumeDevices ?? []).map(({ name }) => name))),
    seLinux,
  };
}

/** Ended, or being deleted with no container that may still run. */
export function isPodTerminated(pod: Pod, status: PodStatus): boolean {
  if (status.phase === "Failed" || status.phase === "Succeeded") return true;
  const lists = [status.initContainerStatuses, status.containerStatuses, status.ephemeralContainerStatuses];
  return Boolean(pod.metadata.deletionTimestamp) && lists.every((statuses) => (statuses ?? []).every(isNotRunning));
}

function isNotRunning({ state }: ContainerStatus): boolean {
  return Boolean(state?.terminated) || Boolean(state?.waiting);
}
