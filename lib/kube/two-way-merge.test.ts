import { describe, expect, it } from "vitest";
import type { JsonMap, MergeSchema } from "@/lib/kube/two-way-merge";
import { createTwoWayMergePatch } from "@/lib/kube/two-way-merge";

const schema: MergeSchema = (field) => {
  if (field === "conditions") return { merge: { key: "type" } };
  if (field === "volumes") return { merge: { key: "name" }, retainKeys: true };
  if (field === "finalizers") return { merge: { key: "" } };
  return field === "whole" ? { replace: true } : undefined;
};

describe("createTwoWayMergePatch", () => {
  it.each<[string, ...JsonMap[]]>([
    ["nothing changed", { a: 1, b: [1] }, { a: 1, b: [1] }, {}],
    ["a field is added, changed or removed", { a: 1, b: 2 }, { a: 3, c: 4 }, { a: 3, b: null, c: 4 }],
    ["a map inside changes", { a: { b: 1, c: 2 } }, { a: { b: 1 } }, { a: { c: null } }],
    ["the type changes", { a: { b: 1 } }, { a: "x" }, { a: "x" }],
    ["a list without a rule is replaced", { a: [1, 2] }, { a: [2, 1] }, { a: [2, 1] }],
    ["a map is replaced where the rule says so", { whole: { a: 1 } }, { whole: { a: 1, b: 2 } }, { whole: { a: 1, b: 2 } }],
    ["hostile keys", JSON.parse('{"m":{}}'), JSON.parse('{"m":{"__proto__":1,"constructor":2}}'), JSON.parse('{"m":{"__proto__":1,"constructor":2}}')],
    [
      "elements of a merging list",
      { conditions: [{ type: "B", s: 1 }, { type: "A", s: 1 }] },
      { conditions: [{ type: "A", s: 2 }, { type: "C" }] },
      { conditions: [{ type: "A", s: 2 }, { type: "C" }, { $patch: "delete", type: "B" }], "$setElementOrder/conditions": [{ type: "A" }, { type: "C" }] },
    ],
    ["a merging list that was empty is sent whole", { conditions: [] }, { conditions: [{ type: "A" }] }, { conditions: [{ type: "A" }] }],
    [
      "only the order of a merging list",
      { conditions: [{ type: "B" }, { type: "A" }] },
      { conditions: [{ type: "A" }, { type: "B" }] },
      { "$setElementOrder/conditions": [{ type: "A" }, { type: "B" }] },
    ],
    [
      "a union says which keys stay",
      { volumes: [{ name: "v", emptyDir: {} }] },
      { volumes: [{ name: "v", hostPath: { path: "/x" } }] },
      {
        volumes: [{ name: "v", hostPath: { path: "/x" }, emptyDir: null, $retainKeys: ["hostPath", "name"] }],
        "$setElementOrder/volumes": [{ name: "v" }],
      },
    ],
    [
      "scalars of a merging list",
      { finalizers: ["b", "a"] },
      { finalizers: ["c", "a"] },
      { finalizers: ["c"], "$deleteFromPrimitiveList/finalizers": ["b"], "$setElementOrder/finalizers": ["c", "a"] },
    ],
  ])("%s", (_name, ...[original = {}, modified = {}, patch = {}]) => {
    expect(createTwoWayMergePatch(original, modified, schema)).toEqual(patch);
  });

  it("names an element without its key", () => {
    expect(() => createTwoWayMergePatch({ volumes: [{ name: "v" }] }, { volumes: [{ emptyDir: { sizeLimit: "1Mi" } }] }, schema)).toThrow(
      "map: map[emptyDir:map[sizeLimit:1Mi]] does not contain declared merge key: name",
    );
  });
});
