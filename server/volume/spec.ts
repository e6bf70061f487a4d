/**
 * Spec: the internal form of a volume; every API volume becomes one before a plugin sees it.
 * Source: pkg/volume/plugins.go (Spec, NewSpecFromVolume, NewSpecFromPersistentVolume).
 */
import type { PersistentVolume } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";

export interface Spec {
  readonly volume?: Volume;
  readonly persistentVolume?: PersistentVolume;
  readonly readOnly: boolean;
  readonly inlineVolumeSpecForCSIMigration: boolean;
  readonly migrated: boolean;
}

export function newSpecFromVolume(volume: Volume): Spec {
  return { volume, readOnly: false, inlineVolumeSpecForCSIMigration: false, migrated: false };
}

export function newSpecFromPersistentVolume(persistentVolume: PersistentVolume, readOnly: boolean): Spec {
  return { persistentVolume, readOnly, inlineVolumeSpecForCSIMigration: false, migrated: false };
}

/** The name of the volume, else of the persistent volume, else "". */
export function specName(spec: Spec): string {
  if (spec.volume) return spec.volume.name;
  return spec.persistentVolume?.metadata.name ?? "";
}

/** True for volumes that only the node can grow. FlexVolume is the only such kind. */
export function isKubeletExpandable(spec: Spec): boolean {
  if (spec.volume) return spec.volume.flexVolume !== undefined;
  return spec.persistentVolume?.spec.flexVolume !== undefined;
}

/** The plugin name used where the look-up on the controller failed: the FlexVolume driver, else "". */
export function kubeletExpandablePluginName(spec: Spec): string {
  if (spec.volume?.flexVolume) return spec.volume.flexVolume.driver;
  return spec.persistentVolume?.spec.flexVolume?.driver ?? "";
}
