/**
 * The controller half of a claim's growth, decided from the claim alone. Pure.
 * Source: pkg/controller/volume/expand/expand_controller.go of v1.37.2, and external-resizer's controller for the recovery rules.
 */
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import { tryParseQuantity, type Quantity } from "@/lib/quantity";
import { allocatedSize, statusCapacity } from "@/server/node/resize-status";

function resizeStatusOf(claim: PersistentVolumeClaim): string | undefined {
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
