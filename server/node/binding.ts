/**
 * How claims and volumes find each other: the decisions of the volume controller, without its writes.
 * Source: component-helpers v1.37.2, storage/volume/{helpers,pv_helpers}.go; kubernetes v1.37.2, pkg/volume/util/storageclass.go and
 * pkg/controller/volume/persistentvolume/index.go.
 */
import { AppError, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { claimClass, volumeClass } from "@/lib/kube/classes";
import type { StringMap } from "@/lib/kube/meta";
import { matchesNodeSelector } from "@/lib/kube/node-selector";
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import { labelSelectorOf, matchesLabels } from "@/lib/kube/selectors";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import { compareText } from "@/lib/names";
import { parseQuantity, Quantity } from "@/lib/quantity";

const boundByControllerAnnotation = "pv.kubernetes.io/bound-by-controller";

/**
 * Whether a claim waits for its first consumer before it is bound. An unknown class does not.
 * @throws AppError `invalid` when the class has no binding mode.
 */
export function isDelayBindingMode(claim: PersistentVolumeClaim, classOf: (name: string) => StorageClass | undefined): boolean {
  const name = claimClass(claim);
  const found = name === "" ? undefined : classOf(name);
  if (found === undefined) return false;
  if (found.volumeBindingMode === undefined) throw new AppError("invalid", `VolumeBindingMode not set for StorageClass ${goQuote(name)}`);
  return found.volumeBindingMode === "WaitForFirstConsumer";
}

// Does this volume suit this claim

/** Whether a volume's reference names this claim; a reference without uid is a reservation by an admin. */
export function isVolumeBoundToClaim(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const reference = volume.spec.claimRef;
  if (!reference || reference.name !== claim.metadata.name || reference.namespace !== claim.metadata.namespace) return false;
  return !reference.uid || reference.uid === claim.metadata.uid;
}

export function volumeModeMismatch(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  return (claim.spec.volumeMode ?? "Filesystem") !== (volume.spec.volumeMode ?? "Filesystem");
}

/** Whether a volume has every access mode that a claim asks for. */
export function checkAccessModes(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  return (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode));
}

/**
 * Passes when a node with these labels can use a volume.
 * @throws AppError `precondition` when it cannot, `invalid` when the volume's affinity is wrong; both with Go's text.
 */
export function checkNodeAffinity(volume: PersistentVolume, labels: StringMap): void {
  const required = volume.spec.nodeAffinity?.required;
  if (!required || matchesNodeSelector(required, { metadata: { labels: { ...labels } } })) return;
  throw new AppError("precondition", "no matching NodeSelectorTerms");
}

function nodeAffinityFits(volume: PersistentVolume, node: Node | undefined): boolean {
  if (node === undefined) return true;
  try {
    checkNodeAffinity(volume, node.metadata.labels ?? {});
    return true;
  } catch {
    return false;
  }
}

// Choosing a volume

export interface MatchOptions {
  /** Where a pod is to use the volume; without it the choice is the volume controller's, before any pod. */
  readonly node?: Node | undefined;
  /** Names of volumes that are taken. */
  readonly excluded?: ReadonlySet<string>;
  /** Without a node: the claim waits for its first consumer, so only a volume reserved for it counts. */
  readonly delayBinding?: boolean;
  /** The gate VolumeAttributesClass; on unless said otherwise. */
  readonly volumeAttributesClasses?: boolean;
}

/**
 * The volume for a claim: one reserved for it, else the smallest that suits (FindMatchingVolume). Access modes are compared only where a
 * node is given; without one use `findBestVolume`.
 * @throws AppError `invalid` with Go's text for a wrong selector or a size that is no quantity.
 */
export function findMatchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  options: MatchOptions = {},
): PersistentVolume | undefined {
  const { node, excluded, delayBinding = false, volumeAttributesClasses = true } = options;
  const claimName = `${claim.metadata.namespace}/${claim.metadata.name}`;
  if (!volumeAttributesClasses && claim.spec.volumeAttributesClassName) {
    throw new AppError("invalid", `unsupported volumeAttributesClassName is set on claim ${claimName} when the feature-gate VolumeAttributesClass is disabled`);
  }
  const requested = sizeOf(storageOf(claim.spec.resources?.requests));
  const matchesSelector = selectorOf(claim, claimName);
  let smallest: { volume: PersistentVolume; size: Quantity } | undefined;
  for (const volume of volumes) {
    const size = sizeOf(storageOf(volume.spec.capacity));
    if (excluded?.has(volume.metadata.name ?? "") || !couldServe({ claim, volume, size, requested })) continue;
    const fitsNode = nodeAffinityFits(volume, node);
    if (isVolumeBoundToClaim(volume, claim)) return fitsNode ? volume : undefined;
    if (node === undefined && delayBinding) continue;
    const free = volume.status?.phase === "Available" && matchesSelector(volume) && volumeClass(volume) === claimClass(claim);
    if (!free || !fitsNode || (node !== undefined && !checkAccessModes(claim, volume))) continue;
    if (smallest === undefined || smallest.size.cmp(size) > 0) smallest = { volume, size };
  }
  return smallest?.volume;
}

/** The controller's choice: volumes with the fewest access modes beyond those asked for are looked at first. */
export function findBestVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  delayBinding: boolean,
): PersistentVolume | undefined {
  const byModes = Map.groupBy(
    volumes.filter((volume) => checkAccessModes(claim, volume)),
    (volume) => [...new Set(volume.spec.accessModes)].sort().join(","),
  );
  const groups = [...byModes].sort(([a], [b]) => a.split(",").length - b.split(",").length || compareText(a, b));
  for (const [, group] of groups) {
    const found = findMatchingVolume(claim, group, { delayBinding });
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Candidate {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly size: Quantity;
  readonly requested: Quantity;
}

/** What holds for reserved and for free volumes alike. */
function couldServe({ claim, volume, size, requested }: Candidate): boolean {
  if (volume.spec.claimRef && !isVolumeBoundToClaim(volume, claim)) return false;
  if (size.cmp(requested) < 0 || volumeModeMismatch(claim, volume) || volume.metadata.deletionTimestamp) return false;
  return (claim.spec.volumeAttributesClassName ?? "") === (volume.spec.volumeAttributesClassName ?? "");
}

function selectorOf(claim: PersistentVolumeClaim, claimName: string): (volume: PersistentVolume) => boolean {
  if (!claim.spec.selector) return () => true;
  try {
    const selector = labelSelectorOf(claim.spec.selector);
    return (volume) => matchesLabels(selector, volume.metadata.labels);
  } catch (error) {
    throw new AppError("invalid", `error creating internal label selector for claim: ${claimName}: ${messageOf(error)}`, { cause: error });
  }
}

function sizeOf(text: string | undefined): Quantity {
  return text === undefined ? Quantity.zero : parseQuantity(text);
}

// Binding

/**
 * The volume as it is written to bind it to a claim, and whether that differs from what is there (GetBindVolumeToClaim). A binding that
 * no admin asked for is marked as the controller's.
 */
export function getBindVolumeToClaim(volume: PersistentVolume, claim: PersistentVolumeClaim): { volume: PersistentVolume; dirty: boolean } {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const reference = volume.spec.claimRef;
  const referenced = reference && reference.name === name && reference.namespace === namespace && (reference.uid ?? "") === (uid ?? "");
  const marked = isVolumeBoundToClaim(volume, claim) || volume.metadata.annotations?.[boundByControllerAnnotation] !== undefined;
  const annotations = marked ? volume.metadata.annotations : { ...volume.metadata.annotations, [boundByControllerAnnotation]: "yes" };
  const claimRef = referenced ? reference : { kind: "PersistentVolumeClaim", apiVersion: "v1", name, namespace, uid, resourceVersion };
  const bound = {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations && { annotations }) },
    spec: { ...volume.spec, claimRef },
  };
  return { volume: bound, dirty: !referenced || !marked };
}

// Claims of generic ephemeral volumes

/** The name of the claim behind a generic ephemeral volume of a pod. */
export function ephemeralClaimName(pod: Pod, volume: Pick<Volume, "name">): string {
  return `${pod.metadata.name}-${volume.name}`;
}

/** @throws AppError `precondition` with Go's text when the claim was made for another pod, or by hand. */
export function checkEphemeralClaimOwner(pod: Pod, claim: PersistentVolumeClaim): void {
  const { metadata } = claim;
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller?.uid === pod.metadata.uid && metadata.namespace === pod.metadata.namespace) return;
  throw new AppError(
    "precondition",
    `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`,
  );
}
