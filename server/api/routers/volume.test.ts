import { describe, expect, it } from "vitest";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";

const cluster = "testbed-1a2b3c";
const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));
const web0 = { cluster, namespace: "shop", pod: "web-0", volume: "data" };

describe("volume.list", () => {
  it("gives every volume with its word, in the order of keys, without the token volumes", async () => {
    const { rows, total, hiddenTokens, matched } = await caller.volume.list({ cluster });
    expect(rows.map(({ key, word, at }) => [key, word, at])).toEqual([
      ["lab/legacy-1/share", "stuck", "match"],
      ["lab/nightly/scratch", "stuck", "bind"],
      ["shop/cache-8bc9d7f5b6-l94j8/hot", "ok", "running"],
      ["shop/orphan/lost", "stuck", "register"],
      ["shop/web-0/config", "ok", "running"],
      ["shop/web-0/data", "working", "expand"],
      ["shop/web-1/data", "ok", "running"],
    ]);
    expect({ total, hiddenTokens, matched }).toEqual({ total: 8, hiddenTokens: 1, matched: 7 });
  });

  it.each([
    ["a plain word", { filter: "web-0" }, ["config", "data"]],
    ["a field", { filter: "plugin:csi" }, ["lost", "data", "data"]],
    ["a field and a word", { filter: "plugin:csi node2" }, ["data"]],
    ["no plugin", { filter: "plugin:none" }, ["share"]],
    ["the ledger's word", { status: "working" as const }, ["data"]],
    ["token volumes too", { tokens: true, filter: "web-0" }, ["config", "data", "kube-api-access-x2k7p"]],
    ["sorted by status", { sort: "status" as const, filter: "namespace:shop" }, ["lost", "data", "hot", "config", "data"]],
    ["sorted by size, largest first, none last", { sort: "size" as const, descending: true, filter: "namespace:shop" }, ["data", "data", "hot", "lost", "config"]],
    ["a window", { offset: 1, limit: 2 }, ["scratch", "hot"]],
  ])("%s", async (_name, query, volumes) => {
    const { rows } = await caller.volume.list({ cluster, ...query });
    expect(rows.map(({ volume }) => volume)).toEqual(volumes);
  });

  it.each([
    ["plugin", ["csi 3", "lost", "data", "data", "empty-dir 1", "hot", "none 1", "share"]],
    ["node", ["node1 4", "hot", "lost", "config", "data", "node2 2", "share", "data", " 1", "scratch"]],
    ["claim", ["shop/data-web-0 1", "data"]],
  ] as const)("puts rows together by %s, in the order of names, each group below its head", async (group, lines) => {
    const { rows, heads, matched, lines: all } = await caller.volume.list({ cluster, group });
    const texts = rows.map(({ volume }) => volume);
    for (const { at, head, count } of heads) texts.splice(at, 0, `${head.replace("kubernetes.io/", "")} ${count}`);
    expect(matched).toBe(7);
    expect(all).toBe(texts.length);
    expect(texts.join("; ")).toContain(lines.join("; "));
  });

  it("counts a window in lines, heads among them", async () => {
    const { rows, heads, anchorIndex } = await caller.volume.list({ cluster, group: "plugin", offset: 2, limit: 3, anchor: "shop/web-0/data" });
    expect(heads.map(({ at, head }) => [at, head])).toEqual([[2, "kubernetes.io/csi"]]);
    expect(rows.map(({ key }) => key)).toEqual(["shop/orphan/lost", "shop/web-0/data"]);
    expect(anchorIndex).toBe(4);
  });

  it("counts the ledger before its own word is chosen", async () => {
    const { ledger, matched } = await caller.volume.list({ cluster, status: "stuck" });
    expect(ledger).toMatchObject({ stuck: 3, working: 1, ok: 3 });
    expect(matched).toBe(3);
  });

  it("says where an asked row stands now", async () => {
    const { anchorIndex } = await caller.volume.list({ cluster, anchor: "shop/web-0/data", limit: 1 });
    expect(anchorIndex).toBe(5);
  });

  it("keeps requested and granted size apart, and use as the node says it", async () => {
    const { rows } = await caller.volume.list({ cluster, filter: "claim:data-web-0" });
    expect(rows[0]).toMatchObject({ size: "10Gi", growsTo: "20Gi", usedBytes: "8482560409", capacityBytes: "10737418240" });
  });

  it("refuses a bad window and names the field", async () => {
    await expect(caller.volume.list({ cluster, limit: 100_000 })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

describe("volume.get", () => {
  it("explains the match in the order asked", async () => {
    const { match } = await caller.volume.get(web0);
    expect(match?.winner).toBe("kubernetes.io/csi");
    expect(match?.plugins.map(({ name }) => name).slice(0, 2)).toEqual(["kubernetes.io/empty-dir", "kubernetes.io/git-repo"]);
    expect(match?.plugins.filter(({ could }) => could).map(({ name, field }) => [name, field])).toEqual([["kubernetes.io/csi", "persistentVolume.spec.csi"]]);
  });

  it("shows paths and mount lines where the node reports, and says why not elsewhere", async () => {
    const here = await caller.volume.get(web0);
    expect(here.onNode).toMatchObject({ known: true, mounts: [{ source: "/dev/loop3" }, { source: "/dev/loop3" }] });
    const elsewhere = await caller.volume.get({ ...web0, pod: "web-1" });
    expect(elsewhere.onNode).toEqual({ known: false, why: "No agent answers on node2: paths and mounts there are unknown." });
  });

  it("gives the events of pod, claim and volume, newest first", async () => {
    const { events } = await caller.volume.get({ cluster, namespace: "shop", pod: "orphan", volume: "lost" });
    expect(events).toMatchObject([{ about: "pod", reason: "FailedMount", warning: true, count: 14 }]);
  });

  it.each([".", "..", "a/b", "%2e%2e", "\ud800", ""])("refuses %j, which is no part of a path", async (name) => {
    await expect(caller.volume.get({ ...web0, pod: name })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(caller.volume.object({ ...web0, namespace: name, object: "pod" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(caller.claim.object({ cluster, namespace: "shop", name })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(caller.node.get({ cluster, name })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it.each([
    ["no such pod", { ...web0, pod: "web-9" }, "There is no pod web-9 in shop"],
    ["no such volume of the pod", { ...web0, volume: "x" }, "Pod web-0 in shop has no volume x"],
    ["no such cluster", { ...web0, cluster: "other" }, "There is no cluster other"],
    ["a word of a prototype", { ...web0, volume: "__proto__" }, "Pod web-0 in shop has no volume __proto__"],
  ])("not found: %s", async (_name, input, message) => {
    await expect(caller.volume.get(input)).rejects.toMatchObject({ code: "NOT_FOUND", message });
  });
});

describe("volume.object", () => {
  it("gives the object as the view gives it", async () => {
    const { object } = await caller.volume.object({ ...web0, object: "pod" });
    expect(object).toMatchObject({ kind: "Pod", metadata: { name: "web-0", managedFields: [{ manager: "kubectl" }] } });
  });

  it("refuses an object that the volume does not have", async () => {
    await expect(caller.volume.object({ ...web0, volume: "config", object: "claim" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
