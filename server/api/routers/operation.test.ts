import { describe, expect, it } from "vitest";
import { AppError } from "@/lib/errors";
import type { ClusterOperations } from "@/server/api/context";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";
import type { OperationRecord } from "@/server/operations/operation";

const cluster = "testbed-1a2b3c";
const input = { cluster, namespace: "shop", name: "data-web-0", size: "20Gi", uid: "u" };

const record: OperationRecord = {
  id: "op-1",
  cluster,
  verb: "expand-claim",
  subject: { namespace: "shop", name: "data-web-0", uid: "u" },
  from: "10Gi",
  to: "20Gi",
  who: "me",
  startedAt: "2026-01-01T00:00:00.000Z",
  phase: "following",
  progress: { status: "working", sentence: "Requested", steps: [], ended: false, next: [] },
};

function callerOf(operations?: Partial<ClusterOperations>) {
  const unused = () => Promise.reject(new Error("not part of this test"));
  const all: ClusterOperations = {
    previewExpand: unused,
    expand: unused,
    mayPatchClaim: unused,
    previewResize: unused,
    resize: unused,
    list: () => [],
    get: () => undefined,
    ...operations,
  };
  const view = viewOf(shop);
  return createCallerFactory(appRouter)(contextOf(operations ? { ...view, operations: all } : view));
}

describe("operation", () => {
  it("begins an expansion and returns its record", async () => {
    expect(await callerOf({ expand: async () => record }).operation.expand(input)).toEqual(record);
  });

  it("a refusal keeps its words and its kind", async () => {
    const refused = callerOf({ expand: () => Promise.reject(new AppError("precondition", "Claim is bound: claim .status.phase Pending")) });
    await expect(refused.operation.expand(input)).rejects.toMatchObject({ code: "PRECONDITION_FAILED", message: "Claim is bound: claim .status.phase Pending" });
  });

  it("what fails inside is not told, only referred to", async () => {
    const broken = callerOf({ expand: () => Promise.reject(new Error("secret path /x")) });
    const error: unknown = await broken.operation.expand(input).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INTERNAL_SERVER_ERROR" });
    expect(String(error)).not.toContain("/x");
  });

  it.each(["", "20GB", "ten", "1e999999"])("refuses the size %j as bad input", async (size) => {
    await expect(callerOf({}).operation.expand({ ...input, size })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("an unknown operation is not found", async () => {
    await expect(callerOf({}).operation.get({ cluster, id: "nope" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("a read-only cluster refuses, and says so", async () => {
    await expect(callerOf().operation.list({ cluster })).rejects.toMatchObject({ code: "UNPROCESSABLE_CONTENT" });
    await expect(callerOf().operation.expand(input)).rejects.toMatchObject({ code: "UNPROCESSABLE_CONTENT", message: expect.stringMatching(/read-only/) });
  });
});
