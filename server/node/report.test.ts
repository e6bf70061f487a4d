import { expect, it } from "vitest";
import type { NodeReport } from "@/lib/node-report";
import { createMemoryHost } from "@/server/hosts/memory";
import { makeReport } from "@/server/node/report";
import { testNode } from "@/server/node/test-node";

const root = "/var/lib/kubelet";

async function nodeWith(mounter: NodeReport["mounter"]) {
  const memory = createMemoryHost();
  await memory.files.mkdirAll(root, 0o755);
  const { manager, actual, reconciler } = await testNode({ host: memory.host, plugins: [] });
  const { picture, operations } = reconciler;
  return { memory, report: () => makeReport({ host: memory.host, manager, root, flexVolumeDir: "/flex", mounter, picture, actual, operations }) };
}

it("says how full the file system of the root is, as statfs has it", async () => {
  const { memory, report } = await nodeWith("root");
  const { totalBytes, freeBytes, availableBytes, inodes, inodesFree } = await memory.files.statfs(root);
  expect((await report()).disk).toEqual({
    capacityBytes: String(totalBytes),
    usedBytes: String(totalBytes - freeBytes),
    availableBytes: String(availableBytes),
    inodes: String(inodes),
    inodesUsed: String(inodes - inodesFree),
  });
});

it("says why the disk is not known: it can't be read, or the node has none", async () => {
  const { memory, report } = await nodeWith("root");
  memory.files.failOn("statfs", root, new Error("input/output error"));
  expect((await report()).disk).toEqual({ problem: "the file system of its root can't be read: failed to get FsInfo due to error input/output error" });
  expect((await (await nodeWith("simulated")).report()).disk).toEqual({ problem: "this node is simulated and has no disk" });
});
