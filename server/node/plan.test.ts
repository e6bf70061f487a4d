import { describe, expect, it } from "vitest";
import type { DeviceMount, PodMount } from "./actual-state";
import { planWork, type PlanInput } from "./plan";

const device = { uniqueName: "kubernetes.io/local-volume/disk" } as DeviceMount;
const mountOf = (podUID: string, volumeName: string) => ({ podUID, volumeName, uniqueName: device.uniqueName }) as PodMount;

function plan(unresolved: readonly string[], mounts: readonly PodMount[]): readonly string[] {
  const actual: PlanInput["actual"] = { mounts: () => [...mounts], allDevices: () => [device], podMount: () => undefined };
  const desired = { unprocessed: [] } as unknown as PlanInput["desired"];
  return planWork({ desired, resolved: [], unresolved: new Set(unresolved), actual }).map(({ kind }) => kind);
}

describe("planWork", () => {
  it.each([
    ["no pod wants it", [], [], ["unmount device"]],
    ["another pod has a volume that no plugin serves", ["legacy/lost"], [], ["unmount device"]],
    ["a pod still has it mounted", [], [mountOf("gone", "data")], ["unmount"]],
    ["a pod has it mounted whose volume no plugin serves now", ["web/data"], [mountOf("web", "data")], []],
  ])("of a device that is mounted, where %s", (_condition, unresolved, mounts, expected) => {
    expect(plan(unresolved, mounts)).toEqual(expected);
  });
});
