import { describe, expect, it } from "vitest";
import { firstDifference } from "@/e2e/goldens/compare";

describe("firstDifference", () => {
  const equal: [string, unknown, unknown][] = [
    ["key order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ["a key without a value", { a: 1 }, { a: 1, b: undefined }],
    ["hostile keys", JSON.parse('{"__proto__":{"a":1},"constructor":2}'), JSON.parse('{"constructor":2,"__proto__":{"a":1}}')],
    ["a crash and any error", { panic: true, message: "runtime error", probes: 1 }, { err: "spec is nil", probes: 1 }],
    ["a crash as err and any error", { err: { panic: "runtime error" } }, { err: "x is nil" }],
    ["the note on sorted names", { err: "a,b", unordered: ["a", "b"] }, { err: "a,b" }],
    ["a multiset and a list", { unordered: [{ x: 1 }, { x: 2 }] }, [{ x: 2 }, { x: 1 }]],
    ["a multiset and the causes of a Status", { unordered: ["b", "a"] }, { code: 422, details: { causes: ["a", "b"] } }],
    ["pointers", "&Spec{Volume:(*v1.Volume)(0xPTR)}", "&Spec{Volume:(*v1.Volume)(0xc000123abc)}"],
    ["addresses", "at <address>", "at 0xc0001"],
    ["time-stamped directories", { "p": "/x/..TS/f" }, { "p": "/x/..2026_01_02_03_04_05.123/f" }],
  ];
  it.each(equal)("finds none for %s", (_name, expected, got) => {
    expect(firstDifference(expected, got)).toBeUndefined();
  });

  const different: [string, unknown, unknown, string][] = [
    ["a value", { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, "a.1.b"],
    ["a missing key", { a: 1, b: null }, { a: 1 }, "b"],
    ["a key too many", { a: 1 }, { a: 1, b: 0 }, "b"],
    ["a hostile key", JSON.parse('{"__proto__":1}'), {}, "__proto__"],
    ["a shorter list", { a: [1, 2] }, { a: [1] }, "a"],
    ["null and an empty list", { a: null }, { a: [] }, "a"],
    ["a text and a number", { a: "1" }, { a: 1 }, "a"],
    ["no error where the real code crashed", { s: { panic: true } }, { s: { out: 1 } }, "s"],
    ["the calls made before a crash", { panic: true, probes: 1 }, { err: "x", probes: 0 }, "probes"],
    ["a multiset with one twice", { unordered: ["a", "b"] }, ["a", "a"], ""],
    ["the text of sorted names", { err: "a,b", unordered: ["a", "b"] }, { err: "b,a" }, "err"],
    ["an address where none is expected", "0xab", "0xac", ""],
  ];
  it.each(different)("names %s", (...[, expected, got, path]) => {
    expect(firstDifference(expected, got)).toMatchObject({ path });
  });
});
