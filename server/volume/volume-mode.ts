/** Source: pkg/volume/util/util.go (GetVolumeMode, CheckVolumeModeFilesystem, IsLocalEphemeralVolume) of v1.37.2. */
import { messageOf } from "@/lib/errors";
import type { Volume } from "@/lib/kube/volumes";
import { VolumeError, wrap } from "@/server/volume/errors";
import { specName, type Spec } from "@/server/volume/spec";

/** `Filesystem` for every volume of a pod; a persistent volume must say it. Throws VolumeError when it does not. */
export function getVolumeMode(spec: Spec | undefined): string {
  if (!spec?.persistentVolume) return "Filesystem";
  const mode = spec.persistentVolume.spec.volumeMode;
  if (mode === undefined || mode === null) throw new VolumeError(`cannot get volumeMode for volume: ${specName(spec)}`);
  return mode;
}

/** False for a raw block volume only. Throws VolumeError when the mode is not known. */
export function checkVolumeModeFilesystem(spec: Spec | undefined): boolean {
  return getVolumeMode(spec) !== "Block";
}

/** Whether a node has a file system to grow after the volume itself. Throws with the text of the plugins' NodeExpand. */
export function hasFilesystemToGrow(spec: Spec): boolean {
  try {
    return checkVolumeModeFilesystem(spec);
  } catch (error) {
    throw wrap(`error checking VolumeMode: ${messageOf(error)}`, error);
  }
}

/** Volumes whose content counts as the pod's local ephemeral storage. */
export function isLocalEphemeralVolume(volume: Volume): boolean {
  if (volume.gitRepo || volume.configMap) return true;
  return Boolean(volume.emptyDir) && (volume.emptyDir?.medium ?? "") === "";
}
