/**
 * Spec: the internal form of a volume; every API volume becomes one before a plugin sees it. The rules accept a missing spec, as the
 * finders do, and throw a VolumeError `nil-dereference` where Go would crash.
 * Source: pkg/volume/plugins.go (Spec, NewSpecFromVolume, NewSpecFromPersistentVolume).
 */
import type { PersistentVolume } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import { nilDereference } from "@/server/volume/errors";

export interface Spec {
  readonly volume?: Volume;
  readonly persistentVolume?: PersistentVolume;
  readonly readOnly: boolean;
  readonly inlineVolumeSpecForCSIMigration: boolean;
  readonly migrated: boolean;
}

export function newSpecFromVolume(volume: Volume | undefined): Spec {
  return { volume, readOnly: false, inlineVolumeSpecForCSIMigration: false, migrated: false };
}

export function newSpecFromPersistentVolume(persistentVolume: PersistentVolume | undefined, readOnly: boolean): Spec {
  return { persistentVolume, readOnly, inlineVolumeSpecForCSIMigration: false, migrated: false };
}

/** The name of the volume, else of the persistent volume, else "". */
export function specName(spec: Spec | undefined): string {
  const { volume, persistentVolume } = present(spec);
  if (volume) return volume.name;
  return persistentVolume?.metadata.name ?? "";
}

/** True for volumes that only the node can grow. FlexVolume is the only such kind; a volume, when there is one, decides alone. */
export function isKubeletExpandable(spec: Spec | undefined): boolean {
  const { volume, persistentVolume } = present(spec);
  if (volume) return isSet(volume.flexVolume);
  return isSet(persistentVolume?.spec.flexVolume);
}

/** The plugin name used where the look-up on the controller failed: the FlexVolume driver, else "". */
export function kubeletExpandablePluginName(spec: Spec | undefined): string {
  const { volume, persistentVolume } = present(spec);
  const source = volume?.flexVolume ?? persistentVolume?.spec.flexVolume;
  return source?.driver ?? "";
}

/** How Go prints a spec with `%#v`; a pointer's value means nothing to anybody and is `0xPTR`. */
export function goSyntaxOf(spec: Spec | undefined): string {
  if (!spec) return "(*volume.Spec)(nil)";
  const pointer = (value: object | undefined): string => (value ? "0xPTR" : "nil");
  const fields = [
    `Volume:(*v1.Volume)(${pointer(spec.volume)})`,
    `PersistentVolume:(*v1.PersistentVolume)(${pointer(spec.persistentVolume)})`,
    `ReadOnly:${spec.readOnly}`,
    `InlineVolumeSpecForCSIMigration:${spec.inlineVolumeSpecForCSIMigration}`,
    `Migrated:${spec.migrated}`,
  ];
  return `&volume.Spec{${fields.join(", ")}}`;
}

function present(spec: Spec | undefined): Spec {
  if (!spec) throw nilDereference("volume spec");
  return spec;
}

/** JSON's null is Go's nil. */
function isSet(source: object | null | undefined): boolean {
  return source !== undefined && source !== null;
}
