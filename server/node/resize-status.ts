/**
 * What is written on claims and volumes while one grows: each function gives the patch to send and the object as it is afterwards.
 * Source: kubernetes v1.37.2, pkg/volume/util/resize_util.go.
 */
import type { JsonObject } from "@/lib/kube/json";
import type { Condition } from "@/lib/kube/meta";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import { createTwoWayPatch } from "@/lib/kube/strategic-diff";
import type { Quantity } from "@/lib/quantity";
import { tryParseQuantity } from "@/lib/quantity";

const resizerAnnotation = "volume.kubernetes.io/storage-resizer";
const preResizeCapacityAnnotation = "volume.alpha.kubernetes.io/pre-resize-capacity";

/** Values of `status.allocatedResourceStatuses.storage`; absent when nothing is going on. */
export type ResizeStatus =
  | "ControllerResizeInProgress"
  | "ControllerResizeInfeasible"
  | "NodeResizePending"
  | "NodeResizeInProgress"
  | "NodeResizeInfeasible";

/** A strategic merge patch, and the object as the server has it once the patch is in. */
export interface StatusPatch<T> {
  readonly object: T;
  readonly body: Record<string, unknown>;
}

export type ClaimPatch = StatusPatch<PersistentVolumeClaim>;
export type VolumePatch = StatusPatch<PersistentVolume>;

const resizeConditions = new Set(["FileSystemResizePending", "Resizing", "ControllerResizeError", "NodeResizeError"]);
const waitingForPod = "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";

// The controller's part

/** Who will resize the claim. */
export function setClaimResizer(claim: PersistentVolumeClaim, resizer: string): ClaimPatch {
  return patchClaim(claim, withResizer(claim, resizer), { checkVersion: true });
}

export function markResizeInProgressWithResizer(claim: PersistentVolumeClaim, resizer: string, now: string): ClaimPatch {
  const after = withConditions(withResizer(claim, resizer), [newCondition("Resizing", now)], { keepOld: false });
  return patchClaim(claim, after, { checkVersion: true });
}

/** The controller begins to grow the volume to `size`. */
export function markControllerResizeInProgress(claim: PersistentVolumeClaim, resizer: string, { size, now }: { size: Quantity; now: string }): ClaimPatch {
  const resizing = withConditions(withResizer(claim, resizer), [newCondition("Resizing", now)], { keepOld: false });
  const allocatedResources = { ...claim.status?.allocatedResources, storage: size.toString() };
  const after = withStatus(withResizeStatus(resizing, "ControllerResizeInProgress"), { allocatedResources });
  return patchClaim(claim, after, { checkVersion: true });
}

/** The volume has grown; the file system waits for a node. */
export function markForFSResize(claim: PersistentVolumeClaim, now: string): ClaimPatch {
  const waiting = withConditions(claim, [newCondition("FileSystemResizePending", now, waitingForPod)], { keepOld: true });
  return patchClaim(claim, withResizeStatus(waiting, "NodeResizePending"), { checkVersion: true });
}

// The node's part

export function markNodeExpansionInProgress(claim: PersistentVolumeClaim): ClaimPatch {
  return patchClaim(claim, withResizeStatus(claim, "NodeResizeInProgress"), { checkVersion: true });
}

/** Everything has grown to `size` (MarkFSResizeFinished, MarkNodeExpansionFinishedWithRecovery). */
export function markResizeFinished(claim: PersistentVolumeClaim, size: Quantity): ClaimPatch {
  const capacity = { ...claim.status?.capacity, storage: size.toString() };
  const idle = withConditions(withResizeStatus(claim, undefined), [], { keepOld: false });
  return patchClaim(claim, withStatus(idle, { capacity }), { checkVersion: true });
}

/** The node failed for good, and the size has to be changed before it tries again. */
export function markNodeExpansionInfeasible(claim: PersistentVolumeClaim, error: string, now: string): ClaimPatch {
  return patchClaim(claim, withNodeError(withResizeStatus(claim, "NodeResizeInfeasible"), error, now), { checkVersion: false });
}

/** The node failed and tries again. A condition that is already true keeps its first message. */
export function markNodeExpansionFailedCondition(claim: PersistentVolumeClaim, error: string, now: string): ClaimPatch {
  return patchClaim(claim, withNodeError(claim, error, now), { checkVersion: false });
}

// Volumes

export function updatePVSize(volume: PersistentVolume, size: Quantity): VolumePatch {
  return patchVolume(volume, { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage: size.toString() } } });
}

/** Records the size before the first of several attempts to grow; undefined when it is recorded already. */
export function addPreResizeCapacity(volume: PersistentVolume, size: Quantity): VolumePatch | undefined {
  const { annotations } = volume.metadata;
  if (annotations?.[preResizeCapacityAnnotation] !== undefined) return undefined;
  return patchVolume(volume, withAnnotations(volume, { ...annotations, [preResizeCapacityAnnotation]: size.toString() }));
}

/** Forgets that size; undefined when there is none. */
export function deletePreResizeCapacity(volume: PersistentVolume): VolumePatch | undefined {
  const { annotations } = volume.metadata;
  if (annotations?.[preResizeCapacityAnnotation] === undefined) return undefined;
  const { [preResizeCapacityAnnotation]: _forgotten, ...others } = annotations;
  return patchVolume(volume, withAnnotations(volume, Object.keys(others).length > 0 ? others : undefined));
}

// Conditions

/**
 * The claim's conditions with these merged in (MergeResizeConditionOnPVC). A condition whose status stays keeps its old message and time;
 * conditions about other things are never touched; old resize conditions that are not given go, unless `keepOld`.
 */
export function mergeConditions(
  claim: PersistentVolumeClaim,
  conditions: readonly Condition[],
  { keepOld }: { keepOld: boolean },
): Condition[] {
  const given = new Map(conditions.map((condition) => [condition.type, condition]));
  const merged: Condition[] = [];
  for (const old of claim.status?.conditions ?? []) {
    const replacement = resizeConditions.has(old.type) ? given.get(old.type) : undefined;
    if (replacement !== undefined) {
      merged.push(replacement.status === old.status ? old : replacement);
      given.delete(old.type);
    } else if (keepOld || !resizeConditions.has(old.type)) merged.push(old);
  }
  return [...merged, ...given.values()];
}

function newCondition(type: string, now: string, message?: string): Condition {
  return { type, status: "True", lastProbeTime: null, lastTransitionTime: now, ...(message !== undefined && { message }) };
}

// Parts of objects

function withConditions(claim: PersistentVolumeClaim, conditions: readonly Condition[], options: { keepOld: boolean }): PersistentVolumeClaim {
  const merged = mergeConditions(claim, conditions, options);
  return withStatus(claim, { conditions: merged.length > 0 ? merged : undefined });
}

function withNodeError(claim: PersistentVolumeClaim, error: string, now: string): PersistentVolumeClaim {
  return withConditions(claim, [newCondition("NodeResizeError", now, `failed to expand pvc with ${error}`)], { keepOld: true });
}

function withResizeStatus(claim: PersistentVolumeClaim, status: ResizeStatus | undefined): PersistentVolumeClaim {
  const { storage: _old, ...others } = claim.status?.allocatedResourceStatuses ?? {};
  const statuses = status === undefined ? others : { ...others, storage: status };
  return withStatus(claim, { allocatedResourceStatuses: Object.keys(statuses).length > 0 ? statuses : undefined });
}

function withResizer(claim: PersistentVolumeClaim, resizer: string): PersistentVolumeClaim {
  return withAnnotations(claim, { ...claim.metadata.annotations, [resizerAnnotation]: resizer });
}

function withAnnotations<T extends PersistentVolume | PersistentVolumeClaim>(object: T, annotations: Record<string, string> | undefined): T {
  return { ...object, metadata: defined({ ...object.metadata, annotations }) };
}

function withStatus(claim: PersistentVolumeClaim, status: Partial<PersistentVolumeClaimStatus>): PersistentVolumeClaim {
  return { ...claim, status: defined({ ...claim.status, ...status }) };
}

/** Without the keys that have no value. */
function defined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

// Patches

function patchClaim(before: PersistentVolumeClaim, after: PersistentVolumeClaim, { checkVersion }: { checkVersion: boolean }): ClaimPatch {
  const [left, right] = [canonicalClaim(before), canonicalClaim(after)];
  const body = createTwoWayPatch("core/v1.PersistentVolumeClaim", changing(left), changing(right));
  const { resourceVersion } = before.metadata;
  if (!checkVersion || !resourceVersion) return { object: right, body };
  const metadata = typeof body["metadata"] === "object" ? body["metadata"] : {};
  return { object: right, body: { ...body, metadata: { ...metadata, resourceVersion } } };
}

/** The parts that these patches change. A claim is JSON, which its interface cannot say. */
function changing({ metadata, status }: PersistentVolumeClaim): JsonObject {
  return { metadata: { annotations: metadata.annotations }, status: { ...status } as JsonObject };
}

function patchVolume(before: PersistentVolume, after: PersistentVolume): VolumePatch {
  const parts = ({ metadata, spec }: PersistentVolume): JsonObject => ({
    metadata: { annotations: metadata.annotations },
    spec: { capacity: canonicalSizes(spec.capacity) },
  });
  return { object: after, body: createTwoWayPatch("core/v1.PersistentVolume", parts(before), parts(after)) };
}

/** As Go writes it: sizes in their canonical spelling, times of conditions present, empty parts left out. */
function canonicalClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { capacity, allocatedResources, conditions } = claim.status ?? {};
  const times = conditions?.map((condition) => ({ lastProbeTime: null, lastTransitionTime: null, ...condition }));
  return withStatus(claim, {
    capacity: canonicalSizes(capacity),
    allocatedResources: canonicalSizes(allocatedResources),
    conditions: times && times.length > 0 ? times : undefined,
  });
}

function canonicalSizes(sizes: Record<string, string> | undefined): Record<string, string> | undefined {
  if (!sizes || Object.keys(sizes).length === 0) return undefined;
  return Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, tryParseQuantity(size)?.toString() ?? size]));
}

/** The size that the claim's status says is there. */
export function statusCapacity(claim: PersistentVolumeClaim): Quantity | undefined {
  return tryParseQuantity(storageOf(claim.status?.capacity));
}

/** The size that the claim's volume is being grown to, or was last. */
export function allocatedSize(claim: PersistentVolumeClaim): Quantity | undefined {
  return tryParseQuantity(storageOf(claim.status?.allocatedResources));
}
