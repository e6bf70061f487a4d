/** Source: pkg/volume/util/util.go (GetVolumeMode, CheckVolumeModeFilesystem) of v1.37.2. */
import { VolumeError } from "@/server/volume/errors";
import { specName, type Spec } from "@/server/volume/spec";

/** `Filesystem` for every volume of a pod; a persistent volume must say it. Throws VolumeError when it does not. */
export function getVolumeMode(spec: Spec): string {
  const mode = spec.volume ? "Filesystem" : spec.persistentVolume?.spec.volumeMode;
  if (mode === undefined) throw new VolumeError(`cannot get volumeMode for volume: ${specName(spec)}`);
  return mode;
}

/** False for a raw block volume only. Throws VolumeError when the mode is not known. */
export function checkVolumeModeFilesystem(spec: Spec): boolean {
  return getVolumeMode(spec) !== "Block";
}
