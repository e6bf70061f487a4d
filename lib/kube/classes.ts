/** Which class a claim or a volume is of. Source: component-helpers/storage/volume/helpers.go and pkg/volume/util/storageclass.go of v1.37.2. */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { compareText } from "@/lib/names";

const betaClassAnnotation = "volume.beta.kubernetes.io/storage-class";
const defaultClassAnnotations = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/** The name of a claim's class: the beta annotation where there is one, else the field; empty for none. */
export function claimClass(claim: PersistentVolumeClaim): string {
  return claim.metadata.annotations?.[betaClassAnnotation] ?? claim.spec.storageClassName ?? "";
}

/** Whether a claim names a class at all; the empty name counts. */
export function claimHasClass(claim: PersistentVolumeClaim): boolean {
  return (claim.metadata.annotations?.[betaClassAnnotation] ?? claim.spec.storageClassName ?? undefined) !== undefined;
}

export function volumeClass(volume: PersistentVolume): string {
  return volume.metadata.annotations?.[betaClassAnnotation] ?? volume.spec.storageClassName ?? "";
}

/** The class of claims that name none: of several defaults the newest, of equally old ones the first by name. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const isDefault = ({ metadata }: StorageClass): boolean => defaultClassAnnotations.some((key) => metadata.annotations?.[key] === "true");
  return classes.filter(isDefault).sort((a, b) => createdAt(b) - createdAt(a) || compareText(a.metadata.name ?? "", b.metadata.name ?? ""))[0];
}

function createdAt({ metadata }: StorageClass): number {
  return metadata.creationTimestamp ? Date.parse(metadata.creationTimestamp) : -Infinity;
}
