/**
 * Which part of a claim's growth is due, decided from claim and volume alone. Pure.
 * Source: pkg/controller/volume/expand/expand_controller.go, pkg/kubelet/volumemanager (populator, node_expander.go) of v1.37.2,
 * and external-resizer's controller for the recovery rules.
 */
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import { tryParseQuantity, type Quantity } from "@/lib/quantity";
import { allocatedSize, statusCapacity } from "@/server/node/resize-status";

export function resizeStatusOf(claim: PersistentVolumeClaim): string | undefined {
  return storageOf(claim.status?.allocatedResourceStatuses);
}

/** The size that the controller half should work towards now; undefined when it has nothing to do. */
export function controllerTarget(claim: PersistentVolumeClaim): Quantity | undefined {
  const requested = tryParseQuantity(storageOf(claim.spec.resources?.requests));
  const capacity = statusCapacity(claim);
  if (claim.status?.phase !== "Bound" || requested === undefined || capacity === undefined) return undefined;
  const allocated = allocatedSize(claim);
  switch (resizeStatusOf(claim)) {
    case undefined:
      return requested.cmp(capacity) > 0 ? requested : undefined;
    case "ControllerResizeInProgress":
      // An outcome that is not known has to be known before another size counts.
      return allocated ?? requested;
    case "ControllerResizeInfeasible":
    case "NodeResizeInfeasible":
      return allocated !== undefined && requested.cmp(allocated) === 0 ? undefined : requested;
    default:
      return undefined;
  }
}

export interface NodeExpansion {
  readonly newSize: Quantity;
  readonly oldSize: Quantity;
  /** False for growth that no resizer recorded: then no status is written while it runs. */
  readonly recorded: boolean;
}

/** The node's half; undefined when nothing is to be grown here. */
export function nodeExpansion(claim: PersistentVolumeClaim, volume: PersistentVolume, readOnly: boolean): NodeExpansion | undefined {
  const oldSize = statusCapacity(claim);
  const capacity = tryParseQuantity(storageOf(volume.spec.capacity));
  if (readOnly || oldSize === undefined || capacity === undefined) return undefined;
  const status = resizeStatusOf(claim);
  const allocated = allocatedSize(claim);
  if (status === "NodeResizePending" || status === "NodeResizeInProgress") {
    return { newSize: allocated ?? capacity, oldSize, recorded: true };
  }
  if (status !== undefined || allocated !== undefined || capacity.cmp(oldSize) <= 0) return undefined;
  return { newSize: capacity, oldSize, recorded: false };
}
