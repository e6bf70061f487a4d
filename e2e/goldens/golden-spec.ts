/** Specs as the goldens write them: absent means nil or false, a nil spec is null. */
import type { PersistentVolume } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import type { Spec } from "@/server/volume/spec";

export interface GoldenSpec {
  readonly volume?: Volume;
  readonly persistentVolume?: PersistentVolume;
  readonly readOnly?: boolean;
  readonly inlineVolumeSpecForCSIMigration?: boolean;
  readonly migrated?: boolean;
}

export function specOf(spec: GoldenSpec | null | undefined): Spec | undefined {
  if (!spec) return undefined;
  return {
    ...(spec.volume && { volume: spec.volume }),
    ...(spec.persistentVolume && { persistentVolume: spec.persistentVolume }),
    readOnly: spec.readOnly ?? false,
    inlineVolumeSpecForCSIMigration: spec.inlineVolumeSpecForCSIMigration ?? false,
    migrated: spec.migrated ?? false,
  };
}

export function goldenSpecOf(spec: Spec | undefined): GoldenSpec | null {
  if (!spec) return null;
  return {
    ...(spec.volume && { volume: spec.volume }),
    ...(spec.persistentVolume && { persistentVolume: spec.persistentVolume }),
    ...(spec.readOnly && { readOnly: true }),
    ...(spec.inlineVolumeSpecForCSIMigration && { inlineVolumeSpecForCSIMigration: true }),
    ...(spec.migrated && { migrated: true }),
  };
}
