/** What has to be done to make the actual state the desired one: pure, in the order in which it is to be started. */
import type { ActualState, DeviceMount, PodMount } from "@/server/node/actual-state";
import type { DesiredState } from "@/server/node/desired-state";
import type { ResolvedVolume } from "@/server/node/resolve-volume";

export type PlannedWork =
  | { readonly kind: "unmount"; readonly mount: PodMount }
  | { readonly kind: "mount"; readonly volume: ResolvedVolume }
  | { readonly kind: "unmount device"; readonly device: DeviceMount };

export interface PlanInput {
  readonly desired: DesiredState;
  /** The wanted volumes that a plugin serves. */
  readonly resolved: readonly ResolvedVolume[];
  /** Names in the pod's spec, by `<pod uid>/<name>`, of wanted volumes that no plugin serves now. */
  readonly unresolved: ReadonlySet<string>;
  readonly actual: Pick<ActualState, "mounts" | "allDevices" | "podMount">;
}

/** Unmounts before mounts, so that a volume which moves from one pod to another is free; devices last. */
export function planWork(input: PlanInput): readonly PlannedWork[] {
  const { resolved, actual } = input;
  const wanted = new Set(resolved.map((volume) => `${volume.podUID}\n${volume.uniqueName}`));
  const wantedDevices = new Set(resolved.map((volume) => volume.uniqueName));
  const doubtful = podsInDoubt(input);
  const unmounts = actual
    .mounts()
    .filter((mount) => !wanted.has(`${mount.podUID}\n${mount.uniqueName}`) && !isInDoubt(mount, input, doubtful))
    .map((mount) => ({ kind: "unmount", mount }) as const);
  const mounts = resolved
    .filter((volume) => needsMount(actual.podMount(volume.podUID, volume.uniqueName)))
    .map((volume) => ({ kind: "mount", volume }) as const);
  const inUse = new Set(actual.mounts().map((mount) => mount.uniqueName));
  const devices = actual
    .allDevices()
    .filter((device) => !inUse.has(device.uniqueName) && !wantedDevices.has(device.uniqueName))
    .map((device) => ({ kind: "unmount device", device }) as const);
  return [...unmounts, ...mounts, ...devices];
}

function needsMount(mount: PodMount | undefined): boolean {
  return mount === undefined || mount.certainty === "uncertain" || mount.remountRequired;
}

/** Pods that have a volume of which it can't be told now whether it is the one that is mounted. */
function podsInDoubt({ desired, unresolved }: PlanInput): ReadonlySet<string> {
  const unprocessed = desired.unprocessed.map(({ pod }) => pod.metadata.uid ?? "");
  return new Set([...unprocessed, ...Array.from(unresolved, (key) => key.slice(0, key.indexOf("/")))]);
}

/** A claim that vanished or a driver that broke is no reason to take a volume from a pod that still names it. */
function isInDoubt(mount: PodMount, { desired, unresolved }: PlanInput, doubtful: ReadonlySet<string>): boolean {
  if (!doubtful.has(mount.podUID)) return false;
  const { volumeName } = mount;
  if (volumeName === undefined) return true;
  return (
    unresolved.has(`${mount.podUID}/${volumeName}`) ||
    desired.unprocessed.some(({ pod, volumeName: name }) => pod.metadata.uid === mount.podUID && name === volumeName)
  );
}
