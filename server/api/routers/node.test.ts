import { describe, expect, it } from "vitest";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";

const cluster = "testbed-1a2b3c";
const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));

describe("node", () => {
  it("judges each node by its volumes and its report", async () => {
    const { rows } = await caller.node.list({ cluster });
    expect(rows.map(({ name, word, source, volumes, troubled }) => [name, word, source, volumes, troubled])).toEqual([
      ["node1", "stuck", "node", 5, 1],
      ["node2", "stuck", "observed", 2, 1],
    ]);
  });

  it("gives the disk as the node reports it, what each pod holds, and neither where nobody reports", async () => {
    const report = shop.reports?.[0];
    if (!report) throw new Error("the picture has a report");
    const disk = { capacityBytes: "1000", usedBytes: "410", availableBytes: "500", inodes: "100", inodesUsed: "6" };
    const asked = createCallerFactory(appRouter)(contextOf(viewOf({ ...shop, reports: [{ ...report, disk }] })));
    const { rows } = await asked.node.list({ cluster });
    expect(rows.map((row) => row.disk)).toEqual([disk, undefined]);
    const [here, there] = [await asked.node.get({ cluster, name: "node1" }), await asked.node.get({ cluster, name: "node2" })];
    expect(here.pods?.map(({ name, volumes, measured, usedBytes }) => [name, volumes, measured, usedBytes])).toEqual([
      ["web-0", 3, 1, "8482560409"],
      ["cache-8bc9d7f5b6-l94j8", 1, 1, "42949672"],
      ["orphan", 1, 0, undefined],
    ]);
    expect(there.pods).toBeUndefined();
  });

  it("puts wanted and found side by side, differences first", async () => {
    const { compared } = await caller.node.get({ cluster, name: "node1" });
    expect(compared.map(({ title, differs, found }) => [title, differs, found])).toEqual([
      ["orphan / lost", true, "nothing"],
      ["web-0 / data", true, "/dev/loop3 xfs"],
      ["cache-8bc9d7f5b6-l94j8 / hot", false, "tmpfs tmpfs"],
      ["web-0 / config", false, "…/pods/uid-web-0/volumes/kubernetes.io~configmap/config"],
      ["web-0 / kube-api-access-x2k7p", false, "…/pods/uid-web-0/volumes/kubernetes.io~projected/kube-api-access-x2k7p"],
    ]);
  });

  it("finds what no pod wants", async () => {
    const report = shop.reports?.[0];
    if (!report) throw new Error("the picture has a report");
    const stray = { podUID: "gone", specName: "pvc-41d7", pluginName: "kubernetes.io/csi", mode: "Filesystem" as const, path: "/r/x", found: true, state: "mounted" as const, mounts: [] };
    const view = viewOf({ ...shop, reports: [{ ...report, volumes: [...report.volumes, stray], leftovers: [{ podUID: "old", path: "/r/pods/old", why: "still holds a folder" }] }] });
    const { compared } = await createCallerFactory(appRouter)(contextOf(view)).node.get({ cluster, name: "node1" });
    expect(compared.filter(({ row }) => row === undefined).map(({ title, wanted, word }) => [title, wanted, word])).toEqual([
      ["pod gone / pvc-41d7", "no such pod here", "stuck"],
      ["pod old", "no such pod", "stuck"],
    ]);
  });

  it("shows a lost mount as a difference on the node, in its volume and in its claim, and no size of it", async () => {
    const report = shop.reports?.[0];
    if (!report) throw new Error("the picture has a report");
    const lose = ({ capacityBytes, usedBytes, ...volume }: (typeof report.volumes)[number]) =>
      volume.specName === "pvc-data-web-0"
        ? { ...volume, state: "lost" as const, problem: `nothing is mounted at ${volume.path} any more`, setUpAgain: "for a new pod" as const, mounts: volume.mounts.slice(0, 1) }
        : { ...volume, capacityBytes, usedBytes };
    const view = viewOf({ ...shop, reports: [{ ...report, volumes: report.volumes.map(lose) }] });
    const asked = createCallerFactory(appRouter)(contextOf(view));
    const { compared } = await asked.node.get({ cluster, name: "node1" });
    expect(compared.find(({ title }) => title === "web-0 / data")).toMatchObject({
      word: "stuck",
      differs: true,
      found: "…/pods/uid-web-0/volumes/kubernetes.io~csi/pvc-data-web-0/mount, nothing mounted",
      meaning: "stuck at publish: what was set up is gone",
    });
    const volumes = await asked.volume.list({ cluster });
    const claims = await asked.claim.list({ cluster });
    const volume = volumes.rows.find(({ key }) => key === "shop/web-0/data");
    const claim = claims.rows.find(({ name }) => name === "data-web-0");
    expect(volume).toMatchObject({ word: "stuck", at: "publish" });
    expect(claim).toMatchObject({ word: "stuck", standing: "stuck at publish" });
    expect([volume?.capacityBytes, claim?.capacityBytes]).toEqual([undefined, undefined]);
  });

  it("says nothing of what is found where nobody reports", async () => {
    const { compared, report } = await caller.node.get({ cluster, name: "node2" });
    expect([report, ...compared.map(({ found }) => found)]).toEqual([undefined, undefined, undefined]);
  });
});
