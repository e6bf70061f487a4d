import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec } from "@/lib/kube/pods";
import { fsUserFrom, getPodVolumeNames, isPodTerminated } from "@/server/volume/pod-volumes";

const podOf = (spec: Partial<PodSpec>): Pod => ({ metadata: { name: "p" }, spec: { containers: [], ...spec } });
const runningAs = (runAsUser?: number): Container => ({ name: "c", securityContext: { runAsUser } });

describe("fsUserFrom", () => {
  it("is the user all containers share", () => {
    const pod = podOf({ initContainers: [runningAs(1000)], containers: [runningAs(1000)], ephemeralContainers: [runningAs(1000)] });
    expect(fsUserFrom(pod)).toBe(1000);
  });
  it("is nobody when one does not say, two differ, or there is none", () => {
    expect(fsUserFrom(podOf({ containers: [runningAs(1000), runningAs()] }))).toBeUndefined();
    expect(fsUserFrom(podOf({ containers: [runningAs(1000), runningAs(1001)] }))).toBeUndefined();
    expect(fsUserFrom(podOf({ containers: null }))).toBeUndefined();
  });
  it("falls back to the pod's user, root included", () => {
    expect(fsUserFrom(podOf({ containers: [runningAs()], securityContext: { runAsUser: 0 } }))).toBe(0);
  });
});

describe("getPodVolumeNames", () => {
  it("joins all containers, with the SELinux options of those that mount", () => {
    const level = (text: string): { seLinuxOptions: { level: string } } => ({ seLinuxOptions: { level: text } });
    const pod = podOf({
      initContainers: [{ name: "i", volumeMounts: [{ name: "a", mountPath: "/a" }] }],
      containers: [
        { name: "c", volumeMounts: [{ name: "a", mountPath: "/a" }, { name: "b", mountPath: "/b" }], securityContext: level("s0:c1") },
      ],
      ephemeralContainers: [{ name: "e", volumeDevices: [{ name: "d", devicePath: "/dev/d" }] }],
      securityContext: level("s0:c9"),
    });
    const { mounts, devices, seLinux } = getPodVolumeNames(pod);
    expect([[...mounts], [...devices]]).toEqual([["a", "b"], ["d"]]);
    expect(Object.fromEntries(seLinux)).toEqual({ a: [{ level: "s0:c9" }, { level: "s0:c1" }], b: [{ level: "s0:c1" }] });
  });
});

describe("isPodTerminated", () => {
  const deleted: Pod = { metadata: { name: "p", deletionTimestamp: "2026-01-02T03:04:05Z" }, spec: { containers: [] } };
  it("is so in a final phase", () => {
    expect(isPodTerminated(podOf({}), { phase: "Succeeded" })).toBe(true);
    expect(isPodTerminated(podOf({}), { phase: "Running" })).toBe(false);
  });
  it("is so for a pod being deleted once nothing may run", () => {
    expect(isPodTerminated(deleted, { containerStatuses: [{ name: "c", state: { terminated: {} } }] })).toBe(true);
    expect(isPodTerminated(deleted, { containerStatuses: [{ name: "c", state: { running: {} } }] })).toBe(false);
    expect(isPodTerminated(deleted, { ephemeralContainerStatuses: [{ name: "c", state: {} }] })).toBe(false);
    expect(isPodTerminated(podOf({}), { containerStatuses: [{ name: "c", state: { terminated: {} } }] })).toBe(false);
  });
});
