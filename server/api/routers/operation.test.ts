import { describe, expect, it } from "vitest";
import { createCallerFactory } from "@/server/api/init";
import type { ClusterOperations } from "@/server/api/context";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";
import type { OperationRecord } from "@/server/operations/operation";

const cluster = "testbed-1a2b3c";

function record(id: string, more: Partial<OperationRecord>): OperationRecord {
  return {
    id,
    cluster,
    verb: "expand-claim",
    subject: { namespace: "shop", name: "data-web-0", uid: "uid-data-web-0" },
    from: "10Gi",
    to: "20Gi",
    who: "ada",
    startedAt: "2026-12-01T12:00:00Z",
    phase: "following",
    progress: { status: "working", sentence: "node1 grows the file system", steps: [], ended: false, next: [] },
    ...more,
  };
}

const done = record("b", { startedAt: "2026-12-01T11:00:00Z", endedAt: "2026-12-01T11:00:27Z", progress: { status: "ok", sentence: "grown", steps: [], ended: true, next: [] } });
const refuse = (): never => {
  throw new Error("not asked here");
};
const operations: ClusterOperations = {
  previewExpand: refuse,
  expand: refuse,
  previewResize: refuse,
  resize: refuse,
  list: () => [record("a", {}), done],
  get: (id) => (id === "a" ? { record: record("a", {}), entries: [] } : undefined),
};
const view = { ...viewOf(shop), operations };
const caller = createCallerFactory(appRouter)(contextOf(view));

describe("operation", () => {
  it("lists the newest first, with its own words in the ledger", async () => {
    const { rows, ledger } = await caller.operation.list({ cluster });
    expect(rows.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(ledger).toMatchObject({ working: 1, ok: 1 });
  });

  it("counts those that run for the rail, and shows them on their claim", async () => {
    expect((await caller.cluster.status({ cluster })).counts.operations).toBe(1);
    expect((await caller.claim.get({ cluster, namespace: "shop", name: "data-web-0" })).operations?.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("says that a cluster is read-only, and counts nothing there", async () => {
    const readOnly = createCallerFactory(appRouter)(contextOf(viewOf(shop)));
    await expect(readOnly.operation.list({ cluster })).rejects.toMatchObject({ code: "UNPROCESSABLE_CONTENT" });
    expect((await readOnly.cluster.status({ cluster })).counts.operations).toBeUndefined();
  });

  it("refuses a size that is none, on its field", async () => {
    const input = { cluster, namespace: "shop", name: "data-web-0", size: "much" };
    await expect(caller.operation.previewExpand(input)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("does not know another id", async () => {
    await expect(caller.operation.get({ cluster, id: "z" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
