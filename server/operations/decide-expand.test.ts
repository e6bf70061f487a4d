import { describe, expect, it } from "vitest";
import type { PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import { decideExpansion, growthChecks, type ExpandEvidence } from "./decide-expand";

function claim(change: { phase?: string; requested?: string; granted?: string; status?: string; className?: string } = {}): PersistentVolumeClaim {
  const { phase = "Bound", requested = "10Gi", granted = "10Gi", status, className = "fast" } = change;
  return {
    metadata: { namespace: "shop", name: "data", uid: "u" },
    spec: { storageClassName: className, resources: { requests: { storage: requested } } },
    status: {
      phase,
      capacity: granted === "" ? undefined : { storage: granted },
      allocatedResourceStatuses: status === undefined ? undefined : { storage: status },
    },
  };
}

const fast: StorageClass = { metadata: { name: "fast" }, provisioner: "x", allowVolumeExpansion: true };
const evidence = (change: Partial<ExpandEvidence> = {}): ExpandEvidence => ({ claim: claim(), storageClass: fast, ...change });

describe("decideExpansion", () => {
  const cases: { name: string; evidence: ExpandEvidence; target: string; kind: string; reason?: string }[] = [
    { name: "a bound claim of a class that allows it grows", evidence: evidence(), target: "20Gi", kind: "do" },
    { name: "the requested size in another spelling is nothing to do", evidence: evidence(), target: "10240Mi", kind: "nothing" },
    { name: "a pending claim", evidence: evidence({ claim: claim({ phase: "Pending", granted: "" }) }), target: "20Gi", kind: "refuse", reason: "Claim is bound: claim .status.phase Pending" },
    { name: "a class that forbids growth", evidence: evidence({ storageClass: { ...fast, allowVolumeExpansion: false } }), target: "20Gi", kind: "refuse", reason: "Class allows growing: fast .allowVolumeExpansion false" },
    { name: "a class that does not say", evidence: evidence({ storageClass: { metadata: { name: "fast" }, provisioner: "x" } }), target: "20Gi", kind: "refuse", reason: "Class allows growing: fast .allowVolumeExpansion absent" },
    { name: "a class that was deleted", evidence: evidence({ storageClass: undefined }), target: "20Gi", kind: "refuse", reason: "Class allows growing: fast does not exist" },
    { name: "a class that may not be read is unknown, the server decides", evidence: evidence({ storageClass: undefined, classUnreadable: true }), target: "20Gi", kind: "do" },
    { name: "a claim without a class", evidence: evidence({ claim: claim({ className: "" }) }), target: "20Gi", kind: "refuse", reason: 'Class allows growing: claim .spec.storageClassName ""' },
    { name: "a shrink", evidence: evidence(), target: "5Gi", kind: "refuse", reason: "Larger than granted: claim .status.capacity 10Gi" },
    { name: "a recovery down to exactly what is granted", evidence: evidence({ claim: claim({ requested: "100Gi" }) }), target: "10Gi", kind: "refuse", reason: "Larger than granted: claim .status.capacity 10Gi" },
    { name: "a recovery above what is granted", evidence: evidence({ claim: claim({ requested: "100Gi", status: "ControllerResizeInfeasible" }), storageClass: undefined }), target: "11Gi", kind: "do" },
    { name: "a missing right", evidence: evidence({ mayPatch: false }), target: "20Gi", kind: "refuse", reason: "You may do it: you patch persistentvolumeclaims forbidden" },
  ];
  it.each(cases)("$name", ({ evidence: given, target, kind, reason }) => {
    const decision = decideExpansion(given, parseQuantity(target));
    expect(decision.kind).toBe(kind);
    if (reason !== undefined) expect(decision).toMatchObject({ reason });
  });

  it("says before a size is typed what it will say of a larger one, and nothing of sizes", () => {
    const given = [evidence(), evidence({ mayPatch: false }), evidence({ storageClass: undefined }), evidence({ claim: claim({ phase: "Pending", granted: "", status: "NodeResizePending" }) })];
    for (const each of given) {
      const decided = decideExpansion(each, parseQuantity("20Gi")).checks;
      expect(growthChecks(each)).toEqual(decided.filter((check) => check.title !== "Larger than granted"));
    }
  });

  it("a change that is running is noted, not refused", () => {
    const decision = decideExpansion(evidence({ claim: claim({ status: "NodeResizePending" }) }), parseQuantity("20Gi"));
    expect(decision.checks.find((check) => check.title === "No other change is running")).toMatchObject({ verdict: "note" });
  });
});
