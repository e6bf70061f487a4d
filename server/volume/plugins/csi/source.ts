/** What a spec says of a CSI volume. Source: pkg/volume/csi/csi_util.go, csi_plugin.go (get...FromSpec) of v1.37.2. */
import type { CSIPersistentVolumeSource, CSIVolumeSource } from "@/lib/kube/volumes";
import { VolumeError } from "@/server/volume/errors";
import type { Spec } from "@/server/volume/spec";

export const csiPluginName = "kubernetes.io/csi";

/** Most messages of the real plugin begin with its name. */
export function log(text: string): string {
  return `${csiPluginName}: ${text}`;
}

export type CSISource =
  | { readonly mode: "Ephemeral"; readonly volume: CSIVolumeSource }
  | { readonly mode: "Persistent"; readonly persistentVolume: CSIPersistentVolumeSource };

/** Throws VolumeError when the spec carries no CSI source, or both kinds of volume. */
export function sourceFromSpec(spec: Spec | undefined): CSISource {
  if (!spec) throw new VolumeError("volume.Spec nil");
  if (spec.volume && spec.persistentVolume) {
    throw new VolumeError("volume.Spec has both volume and persistent volume sources");
  }
  if (spec.volume?.csi) return { mode: "Ephemeral", volume: spec.volume.csi };
  const persistentVolume = spec.persistentVolume?.spec.csi;
  if (persistentVolume) return { mode: "Persistent", persistentVolume };
  throw new VolumeError("volume source not found in volume.Spec");
}

/** The same, and throws for a volume that a pod defines itself. */
export function persistentSourceFromSpec(spec: Spec | undefined): CSIPersistentVolumeSource {
  const source = sourceFromSpec(spec);
  if (source.mode === "Ephemeral") throw new VolumeError("unexpected api.CSIVolumeSource found in volume.Spec");
  return source.persistentVolume;
}

export function driverNameFromSpec(spec: Spec | undefined): string {
  const source = sourceFromSpec(spec);
  return source.mode === "Ephemeral" ? source.volume.driver : source.persistentVolume.driver;
}
