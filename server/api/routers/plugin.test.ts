import { describe, expect, it } from "vitest";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";

const cluster = "testbed-1a2b3c";
const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));

describe("plugin.list", () => {
  it("puts what differs from node to node first, then the rest in the order asked", async () => {
    const { rows, hosts, total } = await caller.plugin.list({ cluster });
    expect(hosts.map(({ nodeName }) => nodeName)).toEqual(["node1", "node2"]);
    expect(rows.filter(({ differs }) => differs).map(({ name, cells }) => [name, ...cells.map(({ state }) => state)])).toEqual([
      ["voldeck.test/dirshare", "probed", "failed"],
      ["missing.csi.test", "absent", "absent"],
    ]);
    expect(rows.filter(({ differs }) => !differs).map(({ name }) => name).slice(0, 2)).toEqual(["kubernetes.io/empty-dir", "kubernetes.io/git-repo"]);
    expect(total).toBe(14);
  });

  it("says of each plugin what it can do, and nothing of a driver behind one", async () => {
    const { rows } = await caller.plugin.list({ cluster });
    const of = (name: string) => rows.find((row) => row.name === name)?.capabilities;
    expect(of("kubernetes.io/empty-dir")).toMatchObject({ resizeEphemeral: true, attach: false });
    expect(of("loop.csi.test")).toBeUndefined();
  });

  it("counts the volumes that a driver serves, and those that wait for it", async () => {
    const { rows } = await caller.plugin.list({ cluster });
    const of = (name: string) => rows.find((row) => row.name === name);
    expect(of("loop.csi.test")?.cells.map(({ volumes, limit }) => [volumes, limit])).toEqual([[1, 8], [1, 8]]);
    expect(of("missing.csi.test")?.cells.map(({ word, volumes }) => [word, volumes])).toEqual([["stuck", 1], ["not applicable", 0]]);
    expect(of("voldeck.test/dirshare")?.cells[1]).toMatchObject({ word: "failed", volumes: 1, error: expect.stringContaining("share-fuse") });
  });

  it.each([
    ["a word", "empty", ["kubernetes.io/empty-dir"]],
    ["a kind", "kind:flex", ["voldeck.test/dirshare"]],
    ["a kind and a word that do not meet", "kind:flex empty", []],
  ])("filters by %s", async (_name, filter, names) => {
    const { rows } = await caller.plugin.list({ cluster, filter });
    expect(rows.map(({ name }) => name)).toEqual(names);
  });

  it("shows only the nodes that a filter names", async () => {
    const { hosts, hostsTotal } = await caller.plugin.list({ cluster, filter: "node:node2" });
    expect([hosts.map(({ nodeName }) => nodeName), hostsTotal]).toEqual([["node2"], 2]);
  });

  it("tells what the probes said, newest first", async () => {
    const { events } = await caller.plugin.list({ cluster });
    expect(events).toMatchObject([{ nodeName: "node2", pluginName: "voldeck.test/dirshare", outcome: "failed", count: 2 }]);
  });
});

describe("plugin.get", () => {
  it("gives a plugin with its capabilities and the volumes it serves", async () => {
    const detail = await caller.plugin.get({ cluster, name: "kubernetes.io/empty-dir" });
    expect(detail).toMatchObject({ kind: "in-tree", capabilities: { resizeEphemeral: true, attach: false }, volumesTotal: 1 });
    expect(detail.inits.map(({ nodeName }) => nodeName)).toEqual(["node1", "node2"]);
  });

  it("gives a CSI driver with the word of its own object and its nodes", async () => {
    const detail = await caller.plugin.get({ cluster, name: "loop.csi.test" });
    expect(detail).toMatchObject({ kind: "CSI driver", csiDriver: { attachRequired: false }, volumesTotal: 2 });
    expect(detail.hosts.map(({ nodeName, nodeId }) => [nodeName, nodeId])).toEqual([["node1", "node1"], ["node2", "node2"]]);
  });

  it("does not know what no node has", async () => {
    await expect(caller.plugin.get({ cluster, name: "constructor" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
