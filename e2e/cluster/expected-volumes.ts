/**
 * Which volumes a node should have for its pods, and where, told from API objects and the kubelet's documented paths alone: a second
 * opinion that shares no code with what it judges.
 */
import { createHash } from "node:crypto";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";

export interface ExpectedVolume {
  /** `<pod uid>/<plugin>/<folder's name>`. */
  readonly key: string;
  /** For people: `namespace/pod: volume`. */
  readonly shown: string;
  readonly folder: string;
  readonly mode: "Filesystem" | "Block";
  /** There when the volume is set up. */
  readonly targets: readonly string[];
  /** There as well where the driver stages volumes. */
  readonly stagedAt: string | undefined;
  readonly volumeHandle: string | undefined;
  /** The pod's containers run, so the volume must be there. */
  readonly isDue: boolean;
}

export interface ApiObjects {
  readonly pods: readonly Pod[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly persistentVolumes: readonly PersistentVolume[];
}

/** Throws an Error that names a volume whose kind this comparison does not know. */
export function expectedVolumes(root: string, api: ApiObjects): readonly ExpectedVolume[] {
  return api.pods.flatMap((pod) => (pod.spec.volumes ?? []).flatMap((volume) => (isUsed(pod, volume.name) ? (expected(root, api, pod, volume) ?? []) : [])));
}

function isUsed({ spec }: Pod, name: string): boolean {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return containers.some(({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices].some((use) => use.name === name));
}

interface Kind {
  readonly plugin: string;
  readonly isMount: boolean;
}

function expected(root: string, api: ApiObjects, pod: Pod, volume: Volume): ExpectedVolume | undefined {
  const { uid = "", name = "", namespace = "" } = pod.metadata;
  const shown = `${namespace}/${name}: ${volume.name}`;
  const isDue = (pod.status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined);
  const persistent = persistentVolumeOf(api, pod, volume);
  if (persistent === "unbound" || volume.hostPath || volume.image) return undefined;
  const source = persistent?.spec.csi;
  if (persistent && source) return csiVolume(root, { uid, shown, isDue }, persistent, source);
  const flexVolume = persistent?.spec.flexVolume ?? volume.flexVolume;
  const { plugin, isMount } = flexVolume ? { plugin: flexVolume.driver, isMount: true } : kindOf(volume, shown);
  const own = persistent?.metadata.name ?? volume.name;
  const folder = `${root}/pods/${uid}/volumes/${plugin.replaceAll("/", "~")}/${own}`;
  const target = plugin === "kubernetes.io/csi" ? `${folder}/mount` : folder;
  const targets = isMount ? [target] : [];
  const stagedAt = flexVolume && `${root}/plugins/kubernetes.io/flexvolume/${plugin}/mounts/${own}`;
  return { key: `${uid}/${plugin}/${own}`, shown, folder, mode: "Filesystem", targets, stagedAt, volumeHandle: undefined, isDue };
}

function csiVolume(
  root: string,
  of: { readonly uid: string; readonly shown: string; readonly isDue: boolean },
  { metadata: { name = "" }, spec }: PersistentVolume,
  { driver, volumeHandle }: { readonly driver: string; readonly volumeHandle: string },
): ExpectedVolume {
  const common = { key: `${of.uid}/kubernetes.io/csi/${name}`, shown: of.shown, volumeHandle, isDue: of.isDue };
  const csi = `${root}/plugins/kubernetes.io/csi`;
  if (spec.volumeMode === "Block") {
    const targets = [`${csi}/volumeDevices/publish/${name}/${of.uid}`, `${csi}/volumeDevices/${name}/dev/${of.uid}`];
    return { ...common, folder: `${root}/pods/${of.uid}/volumeDevices/kubernetes.io~csi/${name}`, mode: "Block", targets, stagedAt: undefined };
  }
  const folder = `${root}/pods/${of.uid}/volumes/kubernetes.io~csi/${name}`;
  const hash = createHash("sha256").update(volumeHandle).digest("hex");
  return { ...common, folder, mode: "Filesystem", targets: [`${folder}/mount`], stagedAt: `${csi}/${driver}/${hash}/globalmount` };
}

function persistentVolumeOf({ claims, persistentVolumes }: ApiObjects, pod: Pod, volume: Volume): PersistentVolume | "unbound" | undefined {
  const { namespace, name: podName = "" } = pod.metadata;
  const claimName = volume.ephemeral ? `${podName}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
  if (claimName === undefined) return undefined;
  const claim = claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === claimName);
  return persistentVolumes.find(({ metadata }) => metadata.name === claim?.spec.volumeName) ?? "unbound";
}

function kindOf(volume: Volume, shown: string): Kind {
  if (volume.emptyDir) return { plugin: "kubernetes.io/empty-dir", isMount: (volume.emptyDir.medium ?? "") !== "" };
  if (volume.configMap) return { plugin: "kubernetes.io/configmap", isMount: false };
  if (volume.secret) return { plugin: "kubernetes.io/secret", isMount: true };
  if (volume.downwardAPI) return { plugin: "kubernetes.io/downward-api", isMount: true };
  if (volume.projected) return { plugin: "kubernetes.io/projected", isMount: true };
  if (volume.csi) return { plugin: "kubernetes.io/csi", isMount: true };
  if (volume.nfs) return { plugin: "kubernetes.io/nfs", isMount: true };
  throw new Error(`${shown}: this comparison does not know volumes of its kind`);
}
