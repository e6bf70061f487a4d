/**
 * Growing a volume that is in use, as the kubelet does: first decide from the claim what is this node's to do, then do it through ports.
 * Source: kubernetes v1.37.2, pkg/volume/util/operationexecutor/{operation_generator,node_expander}.go.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import type { Quantity } from "@/lib/quantity";
import { tryParseQuantity } from "@/lib/quantity";
import type { ClaimPatch } from "@/server/node/resize-status";
import {
  allocatedSize, markNodeExpansionFailedCondition, markNodeExpansionInfeasible, markNodeExpansionInProgress, markResizeFinished, statusCapacity,
} from "@/server/node/resize-status";

const expansionNotRequired = "volume.kubernetes.io/node-expansion-not-required";

export interface ExpansionQuestion {
  readonly claim: PersistentVolumeClaim;
  /** What the node last knew, and what the persistent volume says. */
  readonly currentSize: Quantity;
  readonly desiredSize: Quantity;
  /** The volume is mounted read-only. */
  readonly readOnly: boolean;
  /** The volume's plugin grows file systems on nodes (isNodeExpandable and requiresFSResize). */
  readonly expandable: boolean;
}

/**
 * What is this node's to do.
 * - `not set`: one of the sizes is missing.
 * - `done`: nothing to grow; the node remembers `size`.
 * - `read-only`: not grown, and told so once.
 * - `wait`: the claim is the controller's, or was given up until its size changes.
 * - `expand`: to `newSize`. `record` says what the claim hears of it: everything; errors alone, because it already shows the new size; or
 *   success alone, because a resizer without recovery made it.
 */
export type ExpansionDecision =
  | { readonly do: "not set" }
  | { readonly do: "done"; readonly size: Quantity }
  | { readonly do: "read-only" }
  | { readonly do: "wait" }
  | { readonly do: "expand"; readonly newSize: Quantity; readonly record: "all" | "errors" | "success" };

export function decideExpansion({ claim, currentSize, desiredSize, readOnly, expandable }: ExpansionQuestion): ExpansionDecision {
  if (currentSize.isZero() || desiredSize.isZero()) return { do: "not set" };
  if (!expandable || desiredSize.cmp(currentSize) <= 0) return { do: "done", size: currentSize };
  if (readOnly) return { do: "read-only" };
  const status = claim.status?.allocatedResourceStatuses?.["storage"];
  if (status === undefined && claim.status?.allocatedResources === undefined) return { do: "expand", newSize: desiredSize, record: "success" };
  const newSize = allocatedSize(claim) ?? desiredSize;
  if (status === "NodeResizePending" || status === "NodeResizeInProgress") return { do: "expand", newSize, record: "all" };
  if (status !== undefined || !hasCapacity(claim, newSize)) return { do: "wait" };
  // Another node finished for the claim; a volume that many nodes mount has a file system to look after on each of them.
  const everyNode = claim.spec.accessModes?.includes("ReadWriteMany") && claim.metadata.annotations?.[expansionNotRequired] === undefined;
  return everyNode ? { do: "expand", newSize, record: "errors" } : { do: "done", size: newSize };
}

function hasCapacity(claim: PersistentVolumeClaim, size: Quantity): boolean {
  return (statusCapacity(claim)?.cmp(size) ?? -1) >= 0;
}

export interface ExpansionEvent {
  readonly on: "Pod" | "PersistentVolumeClaim";
  readonly type: "Normal" | "Warning";
  readonly reason: "FileSystemResizeSuccessful" | "FileSystemResizeFailed" | "VolumeResizeFailed";
  readonly message: string;
}

/** What expanding needs of the world. `markResized`, `markFailed` and `markInUse` change what the node remembers of the volume. */
export interface ExpansionPorts {
  /** The plugin's nodeExpand; its errors are told apart by code. */
  nodeExpand(sizes: { oldSize: Quantity; newSize: Quantity }): Promise<void>;
  /** Sends a patch of the claim's status; gives the claim as the server has it then. */
  patchClaim(patch: ClaimPatch): Promise<PersistentVolumeClaim>;
  event(event: ExpansionEvent): void;
  markResized(size: Quantity): void;
  /** A final error is on record. */
  markFailed(): void;
  /** The driver does not grow the volume while it is mounted here: not tried again on this node. */
  markInUse(): void;
  /** RFC 3339, whole seconds. */
  now(): string;
  warn(message: string): void;
}

export interface Expansion extends ExpansionQuestion {
  /** A final error is on record from before. */
  readonly failedBefore: boolean;
  readonly volumeName: string;
  readonly nodeName: string;
}

/** What failed: `operation` is the beginning of the kubelet's message, `reason` its end. */
export interface ExpansionFailure {
  readonly operation: string;
  readonly reason: string;
}

/** Grows the volume where that is this node's to do. Nothing is thrown: what failed is given back, and was told on the pod. */
export async function expandInUse(expansion: Expansion, ports: ExpansionPorts): Promise<ExpansionFailure | undefined> {
  const failure = await tryExpand(expansion, ports);
  if (failure !== undefined) {
    ports.event({ on: "Pod", type: "Warning", reason: "VolumeResizeFailed", message: failureText(failure, expansion.volumeName) });
  }
  return failure;
}

/** The message of an event; with `details` (unique name and pod) that of the log. */
export function failureText({ operation, reason }: ExpansionFailure, volumeName: string, details = ""): string {
  return `${operation} for volume ${goQuote(volumeName)} ${details}: ${reason}`;
}

async function tryExpand(expansion: Expansion, ports: ExpansionPorts): Promise<ExpansionFailure | undefined> {
  const decision = decideExpansion(expansion);
  switch (decision.do) {
    case "not set":
      return { operation: "NodeExpandvolume.expansion failed", reason: "current or new size of the volume is not set" };
    case "wait":
      return undefined;
    case "done":
      ports.markResized(decision.size);
      return undefined;
    case "read-only":
      tellBoth(ports, "Warning", `MountVolume.NodeExpandVolume failed for volume ${goQuote(expansion.volumeName)} requested read-only file system`);
      ports.markResized(expansion.currentSize);
      return undefined;
    case "expand":
      try {
        if (await expand(expansion, decision, ports)) ports.markResized(decision.newSize);
        return undefined;
      } catch (error) {
        return { operation: "NodeExpandVolume.NodeExpandVolume failed", reason: messageOf(error) };
      }
  }
}

type Decided = Extract<ExpansionDecision, { do: "expand" }>;

/** True when the volume counts as grown on this node. */
async function expand(expansion: Expansion, { newSize, record }: Decided, ports: ExpansionPorts): Promise<boolean> {
  const { volumeName, nodeName, currentSize } = expansion;
  const claim = record === "all" ? await ports.patchClaim(markNodeExpansionInProgress(expansion.claim)) : expansion.claim;
  try {
    await ports.nodeExpand({ oldSize: currentSize, newSize });
  } catch (error) {
    return onFailure({ ...expansion, claim }, { newSize, record, error }, ports);
  }
  tellBoth(ports, "Normal", `MountVolume.NodeExpandVolume succeeded for volume ${goQuote(volumeName)} ${nodeName}`);
  const shown = record === "errors" || (record === "success" && hasCapacity(claim, newSize));
  if (!shown) await ports.patchClaim(markResizeFinished(claim, newSize));
  return true;
}

interface Failed {
  readonly newSize: Quantity;
  readonly record: Decided["record"];
  readonly error: unknown;
}

/** Records the error where it is to be recorded. True when it is no obstacle, false when the driver waits for the volume to be free. */
async function onFailure(expansion: Expansion, { newSize, record, error }: Failed, ports: ExpansionPorts): Promise<boolean> {
  const code = codeOf(error);
  const inUse = code === "failed-precondition";
  if (code === "operation-not-supported" && record !== "all") return true;
  if (record === "success") {
    if (!inUse) throw error;
    ports.markInUse();
    return true;
  }
  if (code === "transient" || code === "uncertain") throw error;
  ports.markFailed();
  await recordError(expansion, { newSize, error }, ports);
  if (!inUse) throw error;
  ports.markInUse();
  return false;
}

/** A size that fails for good, or fails again after somebody asked for another one, is given up so that the controller can take over. */
async function recordError(expansion: Expansion, failed: Pick<Failed, "newSize" | "error">, ports: ExpansionPorts): Promise<void> {
  const { claim, failedBefore } = expansion;
  const requested = tryParseQuantity(storageOf(claim.spec.resources?.requests));
  const otherSizeWanted = failedBefore && requested?.equals(failed.newSize) !== true;
  const mark = codeOf(failed.error) === "infeasible" || otherSizeWanted ? markNodeExpansionInfeasible : markNodeExpansionFailedCondition;
  try {
    await ports.patchClaim(mark(claim, messageOf(failed.error), ports.now()));
  } catch (error) {
    ports.warn(`the error of expanding ${expansion.volumeName} could not be written on its claim: ${messageOf(error)}`);
  }
}

function tellBoth(ports: ExpansionPorts, type: ExpansionEvent["type"], message: string): void {
  const reason = type === "Normal" ? "FileSystemResizeSuccessful" : "FileSystemResizeFailed";
  ports.event({ on: "Pod", type, reason, message });
  ports.event({ on: "PersistentVolumeClaim", type, reason, message });
}
