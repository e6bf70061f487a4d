import { describe, expect, it } from "vitest";
import { matchesNodeSelector, matchesTopology, podFitsNode } from "@/lib/kube/node-selector";
import type { NodeSelectorTerm } from "@/lib/kube/nodes";

const node = { metadata: { name: "n1", labels: { zone: "a", cpus: "8" } } };

describe("matchesNodeSelector", () => {
  it.each<[string, NodeSelectorTerm[], boolean]>([
    ["no terms match nothing", [], false],
    ["an empty term matches nothing", [{}], false],
    ["one term of several is enough", [{ matchExpressions: [{ key: "zone", operator: "In", values: ["b"] }] }, { matchExpressions: [{ key: "cpus", operator: "Gt", values: ["4"] }] }], true],
    ["all expressions of a term must hold", [{ matchExpressions: [{ key: "zone", operator: "Exists" }, { key: "gpu", operator: "Exists" }] }], false],
    ["the node's name is a field", [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }], true],
    ["the name may be excluded", [{ matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n1"] }] }], false],
    ["an unknown field is empty", [{ matchFields: [{ key: "spec.x", operator: "In", values: ["n1"] }] }], false],
    ["a good term outweighs a wrong one", [{ matchExpressions: [{ key: "zone", operator: "Near" }] }, { matchExpressions: [{ key: "zone", operator: "Exists" }] }], true],
  ])("%s", (_name, nodeSelectorTerms, expected) => {
    expect(matchesNodeSelector({ nodeSelectorTerms }, node)).toBe(expected);
  });

  it("names what is wrong, several in brackets", () => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: "zone", operator: "Near" }, { key: "zone", operator: "In", values: [] }] }, { matchFields: [{ key: "metadata.name", operator: "In" }] }];
    expect(() => matchesNodeSelector({ nodeSelectorTerms }, node)).toThrow(
      expect.objectContaining({
        code: "invalid",
        message:
          '[nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", ' +
          "nodeSelectorTerms[0].matchExpressions[1].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty, " +
          "nodeSelectorTerms[1].matchFields[0].values: Invalid value: null: must have one element]",
      }),
    );
  });
});

describe("podFitsNode", () => {
  const needs = (terms: NodeSelectorTerm[]) => ({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } });

  it("fits without demands and with met ones", () => {
    expect(podFitsNode({}, node)).toEqual({ fits: true });
    expect(podFitsNode({ nodeSelector: { zone: "a" }, ...needs([{ matchExpressions: [{ key: "cpus", operator: "Exists" }] }]) }, node)).toEqual({ fits: true });
  });

  it.each([
    [{ nodeSelector: { zone: "b" } }, 'node "n1" does not have the label zone=b of spec.nodeSelector'],
    [{ nodeSelector: { constructor: "x" } as Record<string, string> }, 'node "n1" does not have the label constructor=x of spec.nodeSelector'],
    [needs([]), 'node "n1" does not match the pod\'s required node affinity'],
    [needs([{ matchExpressions: [{ key: "zone", operator: "Near" }] }]), "the pod's required node affinity is wrong: nodeSelectorTerms[0]"],
  ])("%j: says why not", (spec, reason) => {
    expect(podFitsNode(spec, node)).toEqual({ fits: false, reason: expect.stringContaining(reason) });
  });
});

describe("matchesTopology", () => {
  it("needs all labels of one term", () => {
    const terms = [{ matchLabelExpressions: [{ key: "zone", values: ["a"] }, { key: "rack", values: ["r1"] }] }];
    expect([matchesTopology(undefined, {}), matchesTopology(terms, { zone: "a", rack: "r1" }), matchesTopology(terms, { zone: "a" })]).toEqual([true, true, false]);
  });
});
