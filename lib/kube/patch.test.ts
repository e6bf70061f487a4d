import { describe, expect, it } from "vitest";
import { isObject, newObject, parseJson, stringifyJson, type Json, type JsonObject } from "./json";
import { applyJsonPatch, decodeJsonPatch } from "./json-patch";
import { applyMergePatch } from "./merge-patch";
import { createThreeWayPatch, createTwoWayPatch } from "./strategic-diff";
import { applyStrategicMergePatch } from "./strategic-merge";

const pod = "core/v1.Pod";

function object(value: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(value)).value;
  return isObject(parsed) ? parsed : newObject();
}

function plain(value: Json): unknown {
  return JSON.parse(stringifyJson(value));
}

function podOf(...containers: readonly object[]): JsonObject {
  return object({ spec: { containers } });
}

describe("strategic merge patch", () => {
  it("merges containers by name and takes new ones in", () => {
    const old = podOf({ name: "a", image: "1", command: ["x"] }, { name: "b", image: "1" });
    const patched = applyStrategicMergePatch(pod, old, podOf({ name: "b", image: "2" }, { name: "c", image: "1" }));
    const containers = [{ name: "a", image: "1", command: ["x"] }, { name: "b", image: "2" }, { name: "c", image: "1" }];
    expect(plain(patched)).toEqual({ spec: { containers: expect.arrayContaining(containers) } });
  });

  it("deletes an entry by its directive and a key by null", () => {
    const patched = applyStrategicMergePatch(pod, podOf({ name: "a", image: "1" }, { name: "b", image: "1" }), podOf({ name: "a", $patch: "delete" }, { name: "b", image: null }));
    expect(plain(patched)).toEqual({ spec: { containers: [{ name: "b" }] } });
  });

  it("finds the patch between two objects, which gives the second again", () => {
    const [a, b] = [podOf({ name: "a", image: "1" }, { name: "b", image: "1" }), podOf({ name: "a", image: "2" })];
    const patch = createTwoWayPatch(pod, a, b);
    expect(plain(applyStrategicMergePatch(pod, a, patch))).toEqual(plain(b));
  });

  it("keeps what others wrote, three ways", () => {
    const original = object({ metadata: { labels: { a: "1", b: "1" } } });
    const modified = object({ metadata: { labels: { a: "2" } } });
    const current = object({ metadata: { labels: { a: "1", b: "1", other: "x" } } });
    const patch = createThreeWayPatch(pod, { original, modified, current });
    expect(plain(applyStrategicMergePatch(pod, current, patch))).toEqual({ metadata: { labels: { a: "2", other: "x" } } });
  });
});

describe("merge patch", () => {
  it("removes what is null and replaces lists", () => {
    const patch = object({ a: null, b: [2], c: { d: 1 } });
    expect(plain(applyMergePatch(object({ a: 1, b: [1] }), patch))).toEqual({ b: [2], c: { d: 1 } });
  });
});

describe("JSON patch", () => {
  it("applies operations in order", () => {
    const patch = decodeJsonPatch('[{"op":"add","path":"/a/-","value":2},{"op":"copy","from":"/a/1","path":"/b"},{"op":"remove","path":"/a/0"}]');
    expect(JSON.parse(applyJsonPatch('{"a":[1]}', patch))).toEqual({ a: [2], b: 2 });
  });

  it("stops at a test that fails", () => {
    const patch = decodeJsonPatch('[{"op":"test","path":"/a","value":2}]');
    expect(() => applyJsonPatch('{"a":1}', patch)).toThrow("testing value /a failed");
  });
});
