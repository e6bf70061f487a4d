/**
 * The volumes that pods bound to a node want there, and why others can't be had. Pure.
 * Source: pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { checkEphemeralClaimOwner, ephemeralClaimName } from "@/server/node/binding";
import { VolumeError } from "@/server/volume/errors";
import { newSpecFromPersistentVolume, newSpecFromVolume, type Spec } from "@/server/volume/spec";

export interface WantedVolume {
  /** `<pod uid>/<name in the pod's spec>` */
  readonly key: string;
  readonly pod: Pod;
  readonly podUID: string;
  readonly volumeName: string;
  readonly spec: Spec;
  readonly mode: "Filesystem" | "Block";
  readonly claim?: PersistentVolumeClaim;
}

export interface UnprocessedVolume {
  readonly pod: Pod;
  readonly volumeName: string;
  /** The kubelet's text. */
  readonly message: string;
}

export interface DesiredState {
  readonly wanted: readonly WantedVolume[];
  readonly unprocessed: readonly UnprocessedVolume[];
  /** Pods whose volumes are kept, by uid: those above, and those whose volumes could not be processed. */
  readonly pods: ReadonlyMap<string, Pod>;
}

export function desiredState(snapshot: ClusterSnapshot, nodeName: string): DesiredState {
  const wanted: WantedVolume[] = [];
  const unprocessed: UnprocessedVolume[] = [];
  const pods = new Map<string, Pod>();
  for (const pod of snapshot.pods.values()) {
    if (pod.spec.nodeName !== nodeName || !keepsVolumes(pod)) continue;
    pods.set(pod.metadata.uid ?? "", pod);
    for (const volume of pod.spec.volumes ?? []) {
      try {
        const found = wantedVolume(snapshot, pod, volume);
        if (found) wanted.push(found);
      } catch (error) {
        unprocessed.push({ pod, volumeName: volume.name, message: messageOf(error) });
      }
    }
  }
  return { wanted, unprocessed, pods };
}

/** A pod that ended, or is being deleted on a node that runs no containers, gives its volumes back. */
export function keepsVolumes(pod: Pod): boolean {
  const ended = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  return !ended && !pod.metadata.deletionTimestamp;
}

/** undefined: no container mounts or maps it. Throws with the populator's text. */
function wantedVolume(snapshot: ClusterSnapshot, pod: Pod, volume: Volume): WantedVolume | undefined {
  const usage = usageOf(pod, volume.name);
  if (!usage.mounted && !usage.mapped) return undefined;
  const podUID = pod.metadata.uid ?? "";
  const common = { key: `${podUID}/${volume.name}`, pod, podUID, volumeName: volume.name };
  const source = claimSourceOf(pod, volume);
  if (!source) return { ...common, spec: newSpecFromVolume(volume), mode: "Filesystem" };
  const { claim, persistentVolume } = boundVolume(snapshot, pod, source);
  const mode = persistentVolume.spec.volumeMode === "Block" ? "Block" : "Filesystem";
  if (usage.mounted && mode === "Block") throw new VolumeError(`volume ${volume.name} has volumeMode ${mode}, but is specified in volumeMounts`);
  if (usage.mapped && mode === "Filesystem") throw new VolumeError(`volume ${volume.name} has volumeMode ${mode}, but is specified in volumeDevices`);
  return { ...common, spec: newSpecFromPersistentVolume(persistentVolume, source.readOnly), mode, claim };
}

/** Whether a container mounts the volume, or maps it as a device. */
export function usageOf(pod: Pod, volumeName: string): { readonly mounted: boolean; readonly mapped: boolean } {
  const containers = [pod.spec.initContainers, pod.spec.containers, pod.spec.ephemeralContainers].flatMap((list) => list ?? []);
  return {
    mounted: containers.some((container) => container.volumeMounts?.some((mount) => mount.name === volumeName)),
    mapped: containers.some((container) => container.volumeDevices?.some((device) => device.name === volumeName)),
  };
}

interface ClaimSource {
  readonly claimName: string;
  readonly readOnly: boolean;
  readonly ephemeral: boolean;
}

function claimSourceOf(pod: Pod, volume: Volume): ClaimSource | undefined {
  const source = volume.persistentVolumeClaim;
  if (source) return { claimName: source.claimName, readOnly: source.readOnly ?? false, ephemeral: false };
  if (volume.ephemeral) return { claimName: ephemeralClaimName(pod, volume), readOnly: false, ephemeral: true };
  return undefined;
}

const protectionFinalizer = "kubernetes.io/pvc-protection";

function boundVolume(
  snapshot: ClusterSnapshot,
  pod: Pod,
  source: ClaimSource,
): { readonly claim: PersistentVolumeClaim; readonly persistentVolume: PersistentVolume } {
  const { namespace = "" } = pod.metadata;
  const fail = (why: string) => new VolumeError(`error processing PVC ${namespace}/${source.claimName}: ${why}`);
  const claim = snapshot.claims.get(`${namespace}/${source.claimName}`);
  if (!claim) throw fail(`failed to fetch PVC from API server: persistentvolumeclaims ${goQuote(source.claimName)} not found`);
  const { deletionTimestamp, finalizers = [], uid = "" } = claim.metadata;
  if (deletionTimestamp && !finalizers.includes(protectionFinalizer)) throw fail("PVC is being deleted");
  if (source.ephemeral) checkEphemeralClaimOwner(pod, claim);
  if (claim.status?.phase !== "Bound") throw fail("PVC is not bound");
  const name = claim.spec.volumeName ?? "";
  if (name === "") throw fail("PVC has empty pvc.Spec.VolumeName");
  return { claim, persistentVolume: volumeOfClaim(snapshot, name, uid) };
}

function volumeOfClaim(snapshot: ClusterSnapshot, name: string, claimUID: string): PersistentVolume {
  const volume = snapshot.persistentVolumes.get(name);
  if (!volume) throw new VolumeError(`failed to fetch PV ${name} from API server: persistentvolumes ${goQuote(name)} not found`);
  const reference = volume.spec.claimRef;
  if (!reference) throw new VolumeError(`found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
  if (reference.uid !== claimUID) {
    throw new VolumeError(`found PV object ${name} but its pv.Spec.ClaimRef.UID ${reference.uid ?? ""} does not point to claim.UID ${claimUID}`);
  }
  return volume;
}
