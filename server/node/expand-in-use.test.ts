import { describe, expect, it } from "vitest";
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import type { Expansion, ExpansionPorts, ExpansionQuestion } from "@/server/node/expand-in-use";
import { decideExpansion, expandInUse } from "@/server/node/expand-in-use";
import { VolumeError } from "@/server/volume/errors";

function claim(status: PersistentVolumeClaimStatus, spec: PersistentVolumeClaim["spec"] = {}): PersistentVolumeClaim {
  return {
    metadata: { name: "data", namespace: "shop", resourceVersion: "7" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "20Gi" } }, ...spec },
    status,
  };
}

const pending: PersistentVolumeClaimStatus = {
  capacity: { storage: "10Gi" },
  allocatedResources: { storage: "20Gi" },
  allocatedResourceStatuses: { storage: "NodeResizePending" },
};
const finished: PersistentVolumeClaimStatus = { capacity: { storage: "20Gi" }, allocatedResources: { storage: "20Gi" } };

function question(changes: Partial<ExpansionQuestion> = {}): ExpansionQuestion {
  return { claim: claim(pending), currentSize: parseQuantity("10Gi"), desiredSize: parseQuantity("20Gi"), readOnly: false, expandable: true, ...changes };
}

describe("decideExpansion", () => {
  it.each<[string, Partial<ExpansionQuestion>, object]>([
    ["a pending claim is expanded", {}, { do: "expand", record: "all" }],
    ["the size worked on counts, not the volume's", { desiredSize: parseQuantity("30Gi") }, { do: "expand", newSize: parseQuantity("20Gi") }],
    ["an unknown size is an error", { currentSize: parseQuantity("0") }, { do: "not set" }],
    ["nothing to grow is done", { currentSize: parseQuantity("20480Mi") }, { do: "done" }],
    ["a plugin without file systems is done", { expandable: false }, { do: "done", size: parseQuantity("10Gi") }],
    ["a read-only mount is left", { readOnly: true }, { do: "read-only" }],
    ["the controller's turn is waited for", { claim: claim({ ...pending, allocatedResourceStatuses: { storage: "ControllerResizeInProgress" } }) }, { do: "wait" }],
    ["a given-up size is not tried", { claim: claim({ ...pending, allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } }) }, { do: "wait" }],
    ["an old resizer records success alone", { claim: claim({ capacity: { storage: "10Gi" } }) }, { do: "expand", record: "success" }],
    ["a finished claim of one node is done", { claim: claim(finished) }, { do: "done", size: parseQuantity("20Gi") }],
    ["a finished claim of many nodes is expanded on each", { claim: claim(finished, { accessModes: ["ReadWriteMany"] }) }, { do: "expand", record: "errors" }],
  ])("%s", (_name, changes, decision) => {
    expect(decideExpansion(question(changes))).toMatchObject(decision);
  });

  it("spares nodes where the driver says so", () => {
    const spared = claim(finished, { accessModes: ["ReadWriteMany"] });
    spared.metadata.annotations = { "volume.kubernetes.io/node-expansion-not-required": "yes" };
    expect(decideExpansion(question({ claim: spared }))).toMatchObject({ do: "done" });
  });
});

interface Recorder {
  readonly ports: ExpansionPorts;
  readonly log: string[];
}

function recorder(failure?: Error): Recorder {
  const log: string[] = [];
  const ports: ExpansionPorts = {
    nodeExpand: ({ oldSize, newSize }) => {
      log.push(`expand ${oldSize} to ${newSize}`);
      return failure ? Promise.reject(failure) : Promise.resolve();
    },
    patchClaim: ({ object, body }) => {
      log.push(`patch ${Object.keys(body["status"] ?? {}).sort().join("+")}`);
      return Promise.resolve(object);
    },
    event: ({ on, reason }) => void log.push(`${on} ${reason}`),
    markResized: (size) => void log.push(`resized ${size}`),
    markFailed: () => void log.push("failed"),
    markInUse: () => void log.push("in use"),
    now: () => "2026-04-01T10:00:00Z",
    warn: (message) => void log.push(message),
  };
  return { ports, log };
}

const expansion = (changes: Partial<Expansion> = {}): Expansion => ({ ...question(), failedBefore: false, volumeName: "pv-1", nodeName: "n1", ...changes });

describe("expandInUse", () => {
  it("marks, grows, tells and finishes, in this order", async () => {
    const { ports, log } = recorder();
    expect(await expandInUse(expansion(), ports)).toBeUndefined();
    expect(log).toEqual([
      "patch allocatedResourceStatuses",
      "expand 10Gi to 20Gi",
      "Pod FileSystemResizeSuccessful",
      "PersistentVolumeClaim FileSystemResizeSuccessful",
      "patch allocatedResourceStatuses+capacity",
      "resized 20Gi",
    ]);
  });

  it.each<[string, VolumeError, string[]]>([
    ["a passing error is told and tried again", new VolumeError("driver not found", "transient"), ["Pod VolumeResizeFailed"]],
    ["a final error is recorded", new VolumeError("boom"), ["failed", "patch conditions", "Pod VolumeResizeFailed"]],
    ["an infeasible size is given up", new VolumeError("too big", "infeasible"), ["failed", "patch allocatedResourceStatuses+conditions", "Pod VolumeResizeFailed"]],
    ["a driver that cannot while mounted is left alone", new VolumeError("in use", "failed-precondition"), ["failed", "patch conditions", "in use"]],
  ])("%s", async (_name, error, rest) => {
    const { ports, log } = recorder(error);
    const failure = await expandInUse(expansion(), ports);
    expect(log.slice(2)).toEqual(rest);
    expect(failure?.reason).toBe(rest.includes("Pod VolumeResizeFailed") ? error.message : undefined);
  });

  it("gives a size up that failed before and is no longer wanted", async () => {
    const { ports, log } = recorder(new VolumeError("boom"));
    await expandInUse(expansion({ failedBefore: true, claim: claim(pending, { resources: { requests: { storage: "15Gi" } } }) }), ports);
    expect(log).toContain("patch allocatedResourceStatuses+conditions");
  });

  it("reports the driver's error even when the claim cannot be written", async () => {
    const { ports, log } = recorder(new VolumeError("boom"));
    const refusing = { ...ports, patchClaim: () => (log.includes("failed") ? Promise.reject(new Error("conflict")) : Promise.resolve(claim(pending))) };
    expect(await expandInUse(expansion(), refusing)).toEqual({ operation: "NodeExpandVolume.NodeExpandVolume failed", reason: "boom" });
    expect(log).toContain("the error of expanding pv-1 could not be written on its claim: conflict");
  });

  it("does not touch the volume when the claim cannot be marked", async () => {
    const { ports, log } = recorder();
    const failure = await expandInUse(expansion(), { ...ports, patchClaim: () => Promise.reject(new Error("conflict")) });
    expect(failure?.reason).toBe("conflict");
    expect(log).toEqual(["Pod VolumeResizeFailed"]);
  });
});
