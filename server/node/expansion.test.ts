import { describe, expect, it } from "vitest";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { controllerTarget } from "@/server/node/expansion";

interface Sizes {
  readonly request: string;
  readonly capacity?: string;
  readonly allocated?: string;
  readonly status?: string;
  readonly phase?: string;
}

function claim({ request, capacity, allocated, status, phase = "Bound" }: Sizes): PersistentVolumeClaim {
  return {
    metadata: { name: "data", namespace: "shop" },
    spec: { resources: { requests: { storage: request } } },
    status: {
      phase,
      ...(capacity ? { capacity: { storage: capacity } } : {}),
      ...(allocated ? { allocatedResources: { storage: allocated } } : {}),
      ...(status ? { allocatedResourceStatuses: { storage: status } } : {}),
    },
  };
}

describe("controllerTarget", () => {
  const cases: readonly (Sizes & { readonly name: string; readonly target: string | undefined })[] = [
    { name: "more than there is", request: "2Gi", capacity: "1Gi", target: "2Gi" },
    { name: "as much as there is, in another spelling", request: "1024Mi", capacity: "1Gi", target: undefined },
    { name: "less than there is", request: "1Gi", capacity: "2Gi", target: undefined },
    { name: "a claim that is not bound", request: "2Gi", capacity: "1Gi", phase: "Pending", target: undefined },
    { name: "a claim of unknown size", request: "2Gi", target: undefined },
    { name: "growth whose outcome is not known: the old size first", request: "2Gi", capacity: "1Gi", allocated: "5Gi", status: "ControllerResizeInProgress", target: "5Gi" },
    { name: "the size that was refused", request: "5Gi", capacity: "1Gi", allocated: "5Gi", status: "ControllerResizeInfeasible", target: undefined },
    { name: "another size than the refused one", request: "2Gi", capacity: "1Gi", allocated: "5Gi", status: "ControllerResizeInfeasible", target: "2Gi" },
    { name: "another size than the node refused", request: "2Gi", capacity: "1Gi", allocated: "5Gi", status: "NodeResizeInfeasible", target: "2Gi" },
    { name: "a claim that waits for its node", request: "3Gi", capacity: "1Gi", allocated: "2Gi", status: "NodeResizePending", target: undefined },
    { name: "a claim that its node grows", request: "3Gi", capacity: "1Gi", allocated: "2Gi", status: "NodeResizeInProgress", target: undefined },
    { name: "growth after an earlier one", request: "3Gi", capacity: "2Gi", allocated: "2Gi", target: "3Gi" },
  ];
  it.each(cases)("of $name: $target", ({ target, ...sizes }) => {
    expect(controllerTarget(claim(sizes))?.toString()).toBe(target);
  });
});
