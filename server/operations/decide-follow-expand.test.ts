import { describe, expect, it } from "vitest";
import type { Condition } from "@/lib/kube/meta";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import { followExpansion, stalledAfterMs, type FollowEvidence } from "./decide-follow-expand";

const startedAtMs = Date.parse("2026-01-01T00:00:00Z");
const pod: Pod = { metadata: { name: "p", uid: "pu" }, spec: { containers: [], nodeName: "n" }, status: { phase: "Running" } };

interface Change {
  requested?: string;
  granted?: string;
  status?: string;
  conditions?: [type: string, message?: string][];
}

function claim({ requested = "20Gi", granted = "10Gi", status, conditions = [] }: Change): PersistentVolumeClaim {
  return {
    metadata: { name: "data", uid: "u" },
    spec: { resources: { requests: { storage: requested } } },
    status: {
      phase: "Bound",
      capacity: { storage: granted },
      allocatedResourceStatuses: status === undefined ? undefined : { storage: status },
      conditions: conditions.map(([type, message]): Condition => ({ type, status: "True", message })),
    },
  };
}

function evidence(change: Partial<FollowEvidence>): FollowEvidence {
  return { pods: [], events: [], uid: "u", target: parseQuantity("20Gi"), startedAtMs, nowMs: startedAtMs + 1000, ...change };
}

const failure: KubeEvent = { metadata: {}, involvedObject: {}, reason: "VolumeResizeFailed", message: "pool is full", lastTimestamp: "2026-01-01T00:00:05Z" };

describe("followExpansion", () => {
  const cases: { name: string; given: Partial<FollowEvidence>; status: string; ended: boolean; sentence: RegExp }[] = [
    { name: "nobody has begun", given: { claim: claim({}) }, status: "working", ended: false, sentence: /nobody has begun/ },
    { name: "nobody acts after a minute", given: { claim: claim({}), nowMs: startedAtMs + stalledAfterMs + 1 }, status: "stuck", ended: false, sentence: /Nobody acts/ },
    { name: "a CSI driver without a resizer is named", given: { claim: claim({}), nowMs: startedAtMs + stalledAfterMs + 1, persistentVolume: { metadata: {}, spec: { csi: { driver: "d.example", volumeHandle: "h" } } } }, status: "stuck", ended: false, sentence: /external-resizer of d\.example/ },
    { name: "the controller works", given: { claim: claim({ status: "ControllerResizeInProgress", conditions: [["Resizing"]] }) }, status: "working", ended: false, sentence: /driver grows/ },
    { name: "the backend refuses for good", given: { claim: claim({ status: "ControllerResizeInfeasible", conditions: [["Resizing"]] }), events: [failure] }, status: "failed", ended: false, sentence: /pool is full/ },
    { name: "the old spelling of infeasible", given: { claim: claim({ status: "ControllerResizeFailed" }) }, status: "failed", ended: false, sentence: /cannot grow/ },
    { name: "the node step waits for a pod", given: { claim: claim({ status: "NodeResizePending", conditions: [["FileSystemResizePending"]] }) }, status: "waiting", ended: false, sentence: /next mount/ },
    { name: "a finished pod mounts nothing", given: { claim: claim({ status: "NodeResizePending" }), pods: [{ ...pod, status: { phase: "Succeeded" } }] }, status: "waiting", ended: false, sentence: /next mount/ },
    { name: "the node step of a mounted volume", given: { claim: claim({ status: "NodeResizePending", conditions: [["FileSystemResizePending"]] }), pods: [pod] }, status: "working", ended: false, sentence: /node grows/ },
    { name: "the node step of a volume that no plugin of its node serves", given: { claim: claim({ status: "NodeResizePending" }), pods: [pod], unserved: { node: "n", why: "no volume plugin matched" } }, status: "stuck", ended: false, sentence: /^n cannot mount data, .*: no volume plugin matched$/ },
    { name: "the node fails and retries", given: { claim: claim({ status: "NodeResizeInProgress", conditions: [["NodeResizeError", "failed to expand pvc with x"]] }), pods: [pod] }, status: "failed", ended: false, sentence: /failed to expand pvc with x/ },
    { name: "granted reached the request", given: { claim: claim({ granted: "20Gi" }) }, status: "ok", ended: true, sentence: /data holds 20Gi/ },
    { name: "the driver rounded up", given: { claim: claim({ granted: "21Gi" }) }, status: "ok", ended: true, sentence: /data holds 21Gi/ },
    { name: "granted but a condition is left: not done", given: { claim: claim({ granted: "20Gi", conditions: [["FileSystemResizePending"]] }), pods: [pod] }, status: "working", ended: false, sentence: /node grows/ },
    { name: "lowered by somebody else", given: { claim: claim({ requested: "12Gi" }) }, status: "unknown", ended: true, sentence: /lowered below 20Gi/ },
    { name: "deleted", given: {}, status: "unknown", ended: true, sentence: /deleted before/ },
    { name: "made anew", given: { claim: claim({}), uid: "old" }, status: "unknown", ended: true, sentence: /made anew/ },
  ];
  it.each(cases)("$name", ({ given, status, ended, sentence }) => {
    const progress = followExpansion(evidence(given));
    expect(progress).toMatchObject({ status, ended });
    expect(progress.sentence).toMatch(sentence);
  });

  it("an event from before the start proves nothing", () => {
    const old = { ...failure, lastTimestamp: "2025-12-31T23:59:59Z" };
    const progress = followExpansion(evidence({ claim: claim({ status: "ControllerResizeInfeasible" }), events: [old] }));
    expect(progress.sentence).toMatch(/no reason was given/);
  });

  it("an event since the clock was set back keeps its words", () => {
    const setBack = { nowMs: startedAtMs - 3_600_000 };
    const since = { ...failure, lastTimestamp: "2025-12-31T23:00:00Z" };
    const progress = followExpansion(evidence({ claim: claim({ status: "ControllerResizeInfeasible" }), events: [since], ...setBack }));
    expect(progress.sentence).toMatch(/pool is full/);
  });

  it("an infeasible node step stands at the node", () => {
    const steps = followExpansion(evidence({ claim: claim({ status: "NodeResizeInfeasible" }) })).steps;
    expect(steps.map((step) => step.state)).toEqual(["ok", "ok", "ok", "ok", "failed", "not reached"]);
  });
});
