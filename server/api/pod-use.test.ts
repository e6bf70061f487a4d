import { expect, it } from "vitest";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import { useByPod } from "@/server/api/pod-use";

const volume = (pod: string, specName: string, stats: Partial<ReportedVolume> = {}): ReportedVolume => ({
  podUID: `uid-${pod}`,
  podNamespace: "shop",
  podName: pod,
  specName,
  pluginName: "kubernetes.io/empty-dir",
  mode: "Filesystem",
  path: `/r/${pod}/${specName}`,
  found: true,
  state: "mounted",
  mounts: [],
  ...stats,
});
const report = (volumes: readonly ReportedVolume[]): NodeReport => ({
  nodeName: "n",
  takenAt: "2026-12-01T12:00:00Z",
  root: "/r",
  mounter: "root",
  volumes,
  otherMounts: [],
  pluginSockets: [],
  flexDrivers: [],
});

it("adds up what is measured of each pod, the largest first, and calls nothing measured unknown, not 0", () => {
  const pods = useByPod(
    report([
      volume("idle", "disk", { mode: "Block" }),
      volume("small", "a", { usedBytes: "0", inodesUsed: "1" }),
      volume("web", "a", { usedBytes: "9007199254740993", inodesUsed: "3" }),
      volume("web", "b", { usedBytes: "2" }),
      volume("web", "c"),
    ]),
  );
  expect(pods.map(({ name, volumes, measured, usedBytes, inodesUsed }) => [name, volumes, measured, usedBytes, inodesUsed])).toEqual([
    ["web", 3, 2, "9007199254740995", "3"],
    ["small", 1, 1, "0", "1"],
    ["idle", 1, 0, undefined, undefined],
  ]);
});

it("keeps pods apart that the API does not know", () => {
  const gone = (uid: string) => volume("x", "a", { podUID: uid, podName: undefined, podNamespace: undefined, usedBytes: "1" });
  expect(useByPod(report([gone("one"), gone("two")])).map(({ uid, name }) => [uid, name])).toEqual([["one", undefined], ["two", undefined]]);
});
