import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import { extractFieldPathAsString, extractResourceValue } from "@/server/volume/downward-fields";

const pod: Pod = {
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "u-1",
    labels: { b: "2", a: "1 \"x\"\n" },
    annotations: JSON.parse('{"Example.com/A": "v", "__proto__": "own"}') as Record<string, string>,
  },
  spec: {
    containers: [{ name: "c", resources: { limits: { cpu: "1500m", "hugepages-2Mi": "4Mi" }, requests: { cpu: "250m", memory: "100Mi" } } }],
    initContainers: [{ name: "i", resources: { limits: { memory: "1Gi" } } }],
  },
};

describe("extractFieldPathAsString", () => {
  it.each([
    ["metadata.name", "web"],
    ["metadata.namespace", "shop"],
    ["metadata.uid", "u-1"],
    ["metadata.labels", 'a="1 \\"x\\"\\n"\nb="2"'],
    ["metadata.labels['a']", '1 "x"\n'],
    ["metadata.labels['absent']", ""],
    ["metadata.labels['constructor']", ""],
    ["metadata.annotations['Example.com/A']", "v"],
  ])("%s", (path, value) => {
    expect(extractFieldPathAsString(pod, path)).toBe(value);
  });

  it.each([
    ["status.podIP", "unsupported fieldPath: status.podIP"],
    ["metadata.labels[a]", "unsupported fieldPath: metadata.labels[a]"],
    ["metadata.name['x']", `fieldPath "metadata.name['x']" does not support subscript`],
    ["metadata.labels['']", "invalid key subscript in metadata.labels['']: name part must be non-empty;name part must consist of"],
    ["['x']", "unsupported fieldPath: ['x']"],
  ])("%s is refused", (path, text) => {
    expect(() => extractFieldPathAsString(pod, path)).toThrow(text);
  });
});

describe("extractResourceValue", () => {
  const node = { cpu: "8", memory: "16Gi", "ephemeral-storage": "100Gi" };

  it.each([
    ["a limit, rounded up", "c", "limits.cpu", undefined, "2"],
    ["in thousandths", "c", "limits.cpu", "1m", "1500"],
    ["a divisor of zero is one", "c", "requests.cpu", "0", "1"],
    ["the node's amount where no limit is", "c", "limits.memory", "1Gi", "16"],
    ["no request", "c", "requests.ephemeral-storage", undefined, "0"],
    ["a request", "c", "requests.memory", "1Mi", "100"],
    ["huge pages", "c", "limits.hugepages-2Mi", "1Mi", "4"],
    ["huge pages never come from the node", "c", "limits.hugepages-1Gi", undefined, "0"],
    ["an init container", "i", "limits.memory", "1Mi", "1024"],
  ])("%s", (...[, containerName, resource, divisor, value]) => {
    expect(extractResourceValue(pod, { containerName, resource, divisor }, node)).toBe(value);
  });

  it.each([
    [{ containerName: "none", resource: "limits.cpu" }, "container none not found"],
    [{ containerName: "c", resource: "limits.gpu" }, "unsupported container resource : limits.gpu"],
    [{ containerName: "c", resource: "cpu" }, "unsupported container resource : cpu"],
  ])("%j is refused", (selector, text) => {
    expect(() => extractResourceValue(pod, selector, node)).toThrow(text);
  });
});
