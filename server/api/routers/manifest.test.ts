import { describe, expect, it } from "vitest";
import { AppError } from "@/lib/errors";
import type { ManifestState } from "@/lib/manifests";
import type { ClusterManifests } from "@/server/api/context";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";

const cluster = "testbed-1a2b3c";
const state: ManifestState = { folder: "/manifests", files: [{ file: "shop.yaml", objects: 3 }], errors: [{ file: "a.yaml", line: 7, message: "bad" }], kept: [] };

function callerOf(manifests?: ClusterManifests) {
  return createCallerFactory(appRouter)(contextOf({ ...viewOf(shop), ...(manifests ? { manifests } : {}) }));
}

describe("manifest", () => {
  it("says what became of the files", async () => {
    expect(await callerOf({ state: () => state, confirmRemoval: () => Promise.resolve() }).manifest.state({ cluster })).toEqual(state);
  });

  it("hands on exactly what was shown", async () => {
    const confirmed: (readonly string[])[] = [];
    const caller = callerOf({ state: () => state, confirmRemoval: (uids) => Promise.resolve(void confirmed.push(uids)) });
    expect(await caller.manifest.confirmRemoval({ cluster, uids: ["u-1", "u-2"] })).toEqual(state);
    expect(confirmed).toEqual([["u-1", "u-2"]]);
  });

  it("says that the list has changed", async () => {
    const caller = callerOf({ state: () => state, confirmRemoval: () => Promise.reject(new AppError("conflict", "look again")) });
    await expect(caller.manifest.confirmRemoval({ cluster, uids: ["u"] })).rejects.toMatchObject({ code: "CONFLICT", message: "look again" });
  });

  it("confirms nothing when nothing was shown", async () => {
    const caller = callerOf({ state: () => state, confirmRemoval: () => Promise.resolve() });
    await expect(caller.manifest.confirmRemoval({ cluster, uids: [] })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("is unsupported where no manifests make the cluster", async () => {
    await expect(callerOf().manifest.state({ cluster })).rejects.toMatchObject({ code: "UNPROCESSABLE_CONTENT", message: "testbed is not made from manifests" });
  });
});
