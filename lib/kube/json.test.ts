import { describe, expect, it } from "vitest";
import { deepEqual, isObject, newObject, parseJson, stringifyJson } from "./json";

describe("parseJson", () => {
  it.each([
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ["{a}", "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["tru1", "invalid character '1' in literal true (expecting 'e')"],
    ["1.x", "invalid character 'x' after decimal point in numeric literal"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ["1 2", "invalid character '2' after top-level value"],
    ["\u0081", "invalid character 'Â' looking for beginning of value"],
  ])("refuses %j with Go's words", (text, message) => {
    expect(() => parseJson(text)).toThrow(message);
  });

  it("keeps whole numbers beyond 2^53 exact", () => {
    expect(parseJson("[9007199254740993,-1,1.5]").value).toEqual([9007199254740993n, -1, 1.5]);
  });

  it("takes __proto__ and constructor as ordinary keys", () => {
    const { value } = parseJson('{"__proto__":{"a":1},"constructor":2}');
    expect(stringifyJson(value)).toBe('{"__proto__":{"a":1},"constructor":2}');
  });

  it("reports repeated keys beside the last value", () => {
    const { value, duplicates } = parseJson('{"a":1,"b":{"c":1,"c":2},"a":3}');
    expect(isObject(value) && value["a"]).toBe(3);
    expect([...duplicates.values()].flat().sort()).toEqual(["a", "c"]);
  });
});

describe("deepEqual", () => {
  it("tells a missing key from null and ignores the order of keys", () => {
    expect(deepEqual(newObject([["a", null]]), newObject())).toBe(false);
    expect(deepEqual(newObject([["a", 1], ["b", [2]]]), newObject([["b", [2]], ["a", 1]]))).toBe(true);
  });
});
