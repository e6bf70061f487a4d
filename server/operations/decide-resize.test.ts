import { describe, expect, it } from "vitest";
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import type { EmptyDirVolumeSource } from "@/lib/kube/volumes";
import { parseQuantity } from "@/lib/quantity";
import { decideResize, resizeFeature, type ResizeEvidence } from "./decide-resize";
import { followResize, type FollowResizeEvidence } from "./decide-follow-resize";

function pod(emptyDir: EmptyDirVolumeSource, change: Partial<Pod> = {}): Pod {
  return {
    metadata: { name: "cache", uid: "u", generation: 2 },
    spec: {
      nodeName: "n",
      containers: [{ name: "c", resources: { limits: { memory: "256Mi" } } }],
      volumes: [{ name: "hot", emptyDir }],
    },
    status: { phase: "Pending", observedGeneration: 2 },
    ...change,
  };
}

const node: Node = { metadata: { name: "n" }, status: { allocatable: { memory: "1Gi" }, declaredFeatures: [resizeFeature] } };
const memory = { medium: "Memory", sizeLimit: "64Mi" };
const evidence = (change: Partial<ResizeEvidence> = {}): ResizeEvidence => ({ pod: pod(memory), volumeName: "hot", node, hasSubresource: true, usedBytes: 0n, ...change });

describe("decideResize", () => {
  const cases: { name: string; given: ResizeEvidence; target: string; kind: string; reason?: RegExp }[] = [
    { name: "a memory volume grows", given: evidence(), target: "128Mi", kind: "do" },
    { name: "a memory volume shrinks above its use", given: evidence({ usedBytes: 1048576n }), target: "32Mi", kind: "do" },
    { name: "the same size in another spelling", given: evidence(), target: "65536Ki", kind: "nothing" },
    { name: "shrink below use", given: evidence({ usedBytes: 41n * 1048576n }), target: "32Mi", kind: "refuse", reason: /Above what is used: node statfs 41Mi/ },
    { name: "a disk emptyDir", given: evidence({ pod: pod({ sizeLimit: "1Gi" }) }), target: "2Gi", kind: "refuse", reason: /Memory-backed/ },
    { name: "no sizeLimit", given: evidence({ pod: pod({ medium: "Memory" }) }), target: "128Mi", kind: "refuse", reason: /no sizeLimit/ },
    { name: "zero removes the limit", given: evidence(), target: "0", kind: "refuse", reason: /A size above zero/ },
    { name: "over the node's memory is Voldeck's own refusal", given: evidence(), target: "2Gi", kind: "refuse", reason: /Below the node's memory/ },
    { name: "a server without the subresource", given: evidence({ hasSubresource: false }), target: "128Mi", kind: "refuse", reason: /resize subresource/ },
    { name: "a node that does not declare it", given: evidence({ node: { ...node, status: {} } }), target: "128Mi", kind: "refuse", reason: /declaredFeatures/ },
    { name: "an ended pod", given: evidence({ pod: pod(memory, { status: { phase: "Succeeded" } }) }), target: "128Mi", kind: "refuse", reason: /The pod lives/ },
    { name: "use that is not visible is unknown, not a refusal", given: evidence({ usedBytes: undefined }), target: "32Mi", kind: "do" },
  ];
  it.each(cases)("$name", ({ given, target, kind, reason }) => {
    const decision = decideResize(given, parseQuantity(target));
    expect(decision.kind).toBe(kind);
    if (reason) expect("reason" in decision ? decision.reason : "").toMatch(reason);
  });

  it("says what is left for the processes, as a note of our own", () => {
    const check = decideResize(evidence(), parseQuantity("128Mi")).checks.find((each) => each.title === "Counts as container memory");
    expect(check).toMatchObject({ verdict: "note", remedy: expect.stringMatching(/Leaves 128Mi/) });
  });
});

describe("followResize", () => {
  const resized = { medium: "Memory", sizeLimit: "128Mi" };
  const base: FollowResizeEvidence = { uid: "u", volumeName: "hot", target: parseQuantity("128Mi"), answeredGeneration: 2, events: [], startedAtMs: 0, nowMs: 1_000 };
  const withCondition = (type: string, reason: string, message = "words") =>
    pod(resized, { status: { phase: "Running", observedGeneration: 2, conditions: [{ type, status: "True", reason, message }] } });
  const cases: { name: string; given: Partial<FollowResizeEvidence>; status: string; ended: boolean; sentence: RegExp }[] = [
    { name: "a 200 that changed nothing", given: { pod: pod(memory) }, status: "failed", ended: true, sentence: /changed nothing/ },
    { name: "the node has not seen it", given: { pod: pod(resized, { status: { observedGeneration: 1 } }) }, status: "working", ended: false, sentence: /not seen it/ },
    { name: "deferred is a healthy wait", given: { pod: withCondition("PodResizePending", "Deferred") }, status: "waiting", ended: false, sentence: /words/ },
    { name: "infeasible is final", given: { pod: withCondition("PodResizePending", "Infeasible", "no cgroup v2") }, status: "failed", ended: true, sentence: /no cgroup v2/ },
    { name: "being applied", given: { pod: withCondition("PodResizeInProgress", "") }, status: "working", ended: false, sentence: /applies/ },
    { name: "a failed remount is retried", given: { pod: withCondition("PodResizeInProgress", "Error", "mount failed") }, status: "failed", ended: false, sentence: /mount failed/ },
    { name: "observed without conditions, the mount not visible", given: { pod: pod(resized) }, status: "ok", ended: true, sentence: /not visible/ },
    { name: "observed, the mount still old", given: { pod: pod(resized), capacityBytes: 64n * 1048576n }, status: "working", ended: false, sentence: /does not show it yet/ },
    { name: "observed and mounted", given: { pod: pod(resized), capacityBytes: 128n * 1048576n }, status: "ok", ended: true, sentence: /hot holds 128Mi/ },
    { name: "replaced", given: { pod: pod(resized), uid: "old" }, status: "unknown", ended: true, sentence: /replaced/ },
    { name: "gone", given: {}, status: "unknown", ended: true, sentence: /deleted/ },
  ];
  it.each(cases)("$name", ({ given, status, ended, sentence }) => {
    const progress = followResize({ ...base, ...given });
    expect(progress).toMatchObject({ status, ended });
    expect(progress.sentence).toMatch(sentence);
  });

  it("a size that is no whole number of pages is reached by the next page", () => {
    const odd = pod({ medium: "Memory", sizeLimit: "100k" });
    expect(followResize({ ...base, pod: odd, target: parseQuantity("100k"), capacityBytes: 102400n }).status).toBe("ok");
  });
});
