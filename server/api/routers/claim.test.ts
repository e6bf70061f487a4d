import { describe, expect, it } from "vitest";
import { claimGrowth } from "@/server/api/claim-detail";
import type { ClusterOperations } from "@/server/api/context";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";

const cluster = "testbed-1a2b3c";
const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));

describe("claim.list", () => {
  it("keeps requested, granted, real and used size apart", async () => {
    const { rows } = await caller.claim.list({ cluster });
    expect(rows.map(({ name, word, requested, granted, capacityBytes, usedBytes }) => ({ name, word, requested, granted, capacityBytes, usedBytes }))).toEqual([
      { name: "data-web-0", word: "working", requested: "20Gi", granted: "10Gi", capacityBytes: "10737418240", usedBytes: "8482560409" },
      { name: "data-web-1", word: "ok", requested: "10Gi", granted: "10Gi", capacityBytes: undefined, usedBytes: undefined },
    ]);
  });

  it.each([
    ["by pod", { filter: "pod:web-1" }, ["data-web-1"]],
    ["by word", { status: "working" as const }, ["data-web-0"]],
    ["sorted by request, largest first", { sort: "requested" as const, descending: true }, ["data-web-0", "data-web-1"]],
  ])("%s", async (_name, query, names) => {
    const { rows } = await caller.claim.list({ cluster, ...query });
    expect(rows.map(({ name }) => name)).toEqual(names);
  });
});

describe("claim.get", () => {
  it("shows where it stands, with proof, and who uses it", async () => {
    const { row, way } = await caller.claim.get({ cluster, namespace: "shop", name: "data-web-0" });
    expect(row).toMatchObject({ mayGrow: true, pods: [{ name: "web-0", volume: "data", node: "node1" }] });
    expect(way.stages.map(({ stage, state }) => [stage, state])).toEqual([
      ["bind", "done"],
      ["provision", "done"],
      ["expand", "doing"],
    ]);
  });

  it("has the class that the old annotation names", async () => {
    const metadata = { name: "old", namespace: "shop", uid: "uid-old", annotations: { "volume.beta.kubernetes.io/storage-class": "loop-xfs" } };
    const old = { metadata, spec: { resources: { requests: { storage: "1Gi" } } }, status: { phase: "Pending" as const } };
    const view = viewOf({ ...shop, objects: { ...shop.objects, persistentvolumeclaims: [old] } });
    const { row } = await createCallerFactory(appRouter)(contextOf(view)).claim.get({ cluster, namespace: "shop", name: "old" });
    expect(row).toMatchObject({ className: "loop-xfs", mayGrow: true });
  });

  it("does not know what is not there", async () => {
    await expect(caller.claim.get({ cluster, namespace: "shop", name: "x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("claim.growth", () => {
  const verdicts = async (view: ReturnType<typeof viewOf>) => {
    const { checks } = await createCallerFactory(appRouter)(contextOf(view)).claim.growth({ cluster, namespace: "shop", name: "data-web-0" });
    return Object.fromEntries(checks.map(({ title, verdict }) => [title, verdict]));
  };

  it("says what stands for and against, without a size and without asking who may not be asked", async () => {
    expect(await verdicts(viewOf(shop))).toEqual({
      "Claim is bound": "pass",
      "Class allows growing": "pass",
      "No other change is running": "note",
      "What grows": "note",
      "Somebody acts on it": "unknown",
      "You may do it": "unknown",
      "Room in the backend": "unknown",
    });
  });

  it("asks for the right where the cluster may be changed, and a class that can't be read is unknown", async () => {
    const freshness = [{ kind: "storageclasses" as const, state: "forbidden" as const, lastHeardMs: undefined, sinceMs: 0, objects: 0 }];
    const unread = viewOf({ ...shop, objects: { ...shop.objects, storageclasses: [] }, freshness });
    const operations = { mayPatchClaim: async () => false } as unknown as ClusterOperations;
    expect(await verdicts({ ...unread, operations })).toMatchObject({ "Class allows growing": "unknown", "You may do it": "refuse" });
  });

  it("names the right that is missing, and none where it is there", async () => {
    const growthIf = (allowed: boolean) => {
      const operations = { mayPatchClaim: async () => allowed } as unknown as ClusterOperations;
      return claimGrowth({ ...viewOf(shop), operations }, { cluster, namespace: "shop", name: "data-web-0" });
    };
    expect((await growthIf(false)).missing).toEqual({ group: "", resource: "persistentvolumeclaims", verbs: ["patch"], namespace: "shop" });
    expect((await growthIf(true)).missing).toBeUndefined();
  });

  it("does not know what is not there", async () => {
    await expect(caller.claim.growth({ cluster, namespace: "shop", name: "x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
