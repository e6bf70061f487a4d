import { describe, expect, it } from "vitest";
import { podCgroupMemoryLimit, podQOSClass } from "@/lib/kube/pod-resources";
import type { Container, Pod, PodSpec } from "@/lib/kube/pods";

const both = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const container = (name: string, resources: Container["resources"], more: Partial<Container> = {}): Container => ({ name, resources, ...more });
const podOf = (spec: Partial<PodSpec>): Pod => ({ metadata: { name: "p" }, spec: { containers: [], ...spec } });

describe("class and memory limit", () => {
  it.each([
    { case: "nothing asked", spec: { containers: [container("a", {})] }, qos: "BestEffort", limit: undefined },
    { case: "zeros only", spec: { containers: [container("a", both("0", "0"))] }, qos: "BestEffort", limit: undefined },
    { case: "requests equal limits", spec: { containers: [container("a", both("1", "1Gi"))] }, qos: "Guaranteed", limit: 1n << 30n },
    { case: "equal by value", spec: { containers: [container("a", { requests: { cpu: "1000m", memory: "1Gi" }, limits: { cpu: "1", memory: "1024Mi" } })] }, qos: "Guaranteed", limit: 1n << 30n },
    { case: "memory alone", spec: { containers: [container("a", { limits: { memory: "1Gi" } })] }, qos: "Burstable", limit: 1n << 30n },
    { case: "one container without a limit", spec: { containers: [container("a", both("1", "1Gi")), container("b", {})] }, qos: "Burstable", limit: undefined },
    {
      case: "an init container larger than the others",
      spec: { containers: [container("a", both("1", "1Gi"))], initContainers: [container("i", both("1", "3Gi"))] },
      qos: "Guaranteed",
      limit: 3n << 30n,
    },
    {
      case: "a sidecar beside the container",
      spec: { containers: [container("a", both("1", "1Gi"))], initContainers: [container("i", both("1", "2Gi"), { restartPolicy: "Always" })] },
      qos: "Guaranteed",
      limit: 3n << 30n,
    },
    {
      case: "a limit of the pod over containers without one",
      spec: { containers: [container("a", {})], resources: { limits: { memory: "2Gi" } } },
      qos: "Burstable",
      limit: 2n << 30n,
    },
    {
      case: "overhead on top",
      spec: { containers: [container("a", both("1", "1Gi"))], overhead: { memory: "1Gi" } },
      qos: "Guaranteed",
      limit: 2n << 30n,
    },
  ])("$case: $qos, limit $limit", ({ spec, qos, limit }) => {
    expect(podQOSClass(podOf(spec))).toBe(qos);
    expect(podCgroupMemoryLimit(podOf(spec))).toBe(limit);
  });

  it("takes the class that the status names", () => {
    expect(podQOSClass({ ...podOf({ containers: [container("a", both("1", "1Gi"))] }), status: { qosClass: "Burstable" } })).toBe("Burstable");
  });
});
