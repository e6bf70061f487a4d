import { describe, expect, it } from "vitest";
import type { Condition } from "@/lib/kube/meta";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import {
  addPreResizeCapacity, deletePreResizeCapacity, markControllerResizeInProgress, markForFSResize, markNodeExpansionFailedCondition,
  markNodeExpansionInfeasible, markNodeExpansionInProgress, markResizeFinished, mergeConditions, setClaimResizer, updatePVSize,
} from "@/server/node/resize-status";

const now = "2026-04-01T10:00:00Z";
const before = "2026-03-01T10:00:00Z";

function condition(type: string, status = "True", message?: string): Condition {
  return { type, status, lastProbeTime: null, lastTransitionTime: before, ...(message !== undefined && { message }) };
}

function claim(status: PersistentVolumeClaimStatus = {}): PersistentVolumeClaim {
  return { metadata: { name: "data", namespace: "shop", resourceVersion: "100" }, spec: {}, status: { capacity: { storage: "10Gi" }, ...status } };
}

function volume(annotations?: Record<string, string>): PersistentVolume {
  return { metadata: { name: "pv-1", annotations }, spec: { capacity: { storage: "10Gi" } } };
}

describe("the way of a claim", () => {
  it("goes from the controller to the node to the end, and leaves no trace but the sizes", () => {
    const size = parseQuantity("20Gi");
    const started = markControllerResizeInProgress(claim(), "csi.example.com", { size, now });
    expect(started.object.status).toMatchObject({ allocatedResourceStatuses: { storage: "ControllerResizeInProgress" }, allocatedResources: { storage: "20Gi" } });
    const waiting = markForFSResize(started.object, now);
    expect(waiting.object.status?.conditions?.map(({ type }) => type)).toEqual(["Resizing", "FileSystemResizePending"]);
    const node = markNodeExpansionInProgress(waiting.object);
    expect(node.body).toEqual({ metadata: { resourceVersion: "100" }, status: { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } } });
    const done = markResizeFinished(node.object, size);
    expect(done.object.status).toEqual({ capacity: { storage: "20Gi" }, allocatedResources: { storage: "20Gi" } });
    expect(done.body["status"]).toEqual({ allocatedResourceStatuses: null, capacity: { storage: "20Gi" }, conditions: null });
  });

  it("keeps the statuses and conditions of other things", () => {
    const others = claim({ allocatedResourceStatuses: { storage: "NodeResizePending", "example.com/x": "NodeResizePending" }, conditions: [condition("Unused"), condition("Resizing")] });
    const { object, body } = markResizeFinished(others, parseQuantity("20Gi"));
    expect(object.status).toMatchObject({ allocatedResourceStatuses: { "example.com/x": "NodeResizePending" }, conditions: [condition("Unused")] });
    expect(body["status"]).toMatchObject({ allocatedResourceStatuses: { storage: null }, conditions: [{ $patch: "delete", type: "Resizing" }] });
  });

  it("guards with the version it read, but not when it reports a node's error", () => {
    expect(setClaimResizer(claim(), "r").body).toMatchObject({ metadata: { resourceVersion: "100" } });
    expect(markNodeExpansionInfeasible(claim(), "boom", now).body).not.toHaveProperty("metadata");
    expect(markNodeExpansionFailedCondition(claim(), "boom", now).object.status?.conditions?.[0]?.message).toBe("failed to expand pvc with boom");
  });

  it("keeps the first error of a node", () => {
    const failed = claim({ conditions: [condition("NodeResizeError", "True", "first")] });
    expect(markNodeExpansionFailedCondition(failed, "second", now).body).toEqual({});
  });

  it("sees no difference in the spelling of a size", () => {
    expect(markResizeFinished(claim({ capacity: { storage: "20480Mi" } }), parseQuantity("20Gi")).body).toEqual({ metadata: { resourceVersion: "100" } });
  });

  it("does not change its input", () => {
    const input = claim({ conditions: [condition("Resizing")] });
    const copy = structuredClone(input);
    markResizeFinished(input, parseQuantity("20Gi"));
    expect(input).toEqual(copy);
  });
});

describe("mergeConditions", () => {
  const cases: { name: string; old: Condition[]; given?: Condition[]; keepOld?: boolean; merged: Condition[] }[] = [
    { name: "drops old resize conditions", old: [condition("Resizing"), condition("Other")], merged: [condition("Other")] },
    { name: "keeps them where asked", old: [condition("Resizing")], keepOld: true, merged: [condition("Resizing")] },
    {
      name: "keeps message and time of an unchanged status",
      old: [condition("Resizing", "True", "old")],
      given: [condition("Resizing", "True", "new")],
      merged: [condition("Resizing", "True", "old")],
    },
    {
      name: "replaces a changed status in its place",
      old: [condition("Resizing", "False"), condition("Other")],
      given: [condition("Resizing")],
      merged: [condition("Resizing"), condition("Other")],
    },
    { name: "appends what is new", old: [condition("Other")], given: [condition("NodeResizeError")], merged: [condition("Other"), condition("NodeResizeError")] },
  ];

  it.each(cases)("$name", ({ old, given = [], keepOld = false, merged }) => {
    expect(mergeConditions(claim({ conditions: old }), given, { keepOld })).toEqual(merged);
  });
});

describe("volumes", () => {
  it("writes a new size, and nothing for the same size", () => {
    expect(updatePVSize(volume(), parseQuantity("20Gi")).body).toEqual({ spec: { capacity: { storage: "20Gi" } } });
    expect(updatePVSize(volume(), parseQuantity("10240Mi")).body).toEqual({});
  });

  it("records the size before a resize once and forgets it", () => {
    const recorded = addPreResizeCapacity(volume({ keep: "me" }), parseQuantity("10Gi"));
    expect(recorded?.body).toEqual({ metadata: { annotations: { "volume.alpha.kubernetes.io/pre-resize-capacity": "10Gi" } } });
    expect(recorded && addPreResizeCapacity(recorded.object, parseQuantity("15Gi"))).toBeUndefined();
    expect(recorded && deletePreResizeCapacity(recorded.object)?.object.metadata.annotations).toEqual({ keep: "me" });
    expect(deletePreResizeCapacity(volume())).toBeUndefined();
  });
});
