import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goAggregate, goJson, goJsonInOrder, goList, goQuote } from "@/lib/go-text";

describe("goQuote", () => {
  it.each([
    ["plain text", '"plain text"'],
    ['say "hi" \\ bye', '"say \\"hi\\" \\\\ bye"'],
    ["\u0007\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'],
    ["\u0000\u001b\u007f", '"\\x00\\x1b\\x7f"'],
    ["é 日本 😀", '"é 日本 😀"'],
    ["\u00a0\u200b\ufeff", '"\\u00a0\\u200b\\ufeff"'],
    ["\u{e0001}", '"\\U000e0001"'],
    ["half \ud800", '"half \ufffd"'],
    ["`'`", "\"`'`\""],
  ])("%j", (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });
});

describe("lists", () => {
  it("prints lists with spaces", () => {
    expect(goList(["a", "b c"])).toBe("[a b c]");
    expect(goList([])).toBe("[]");
  });
});

describe("goAggregate", () => {
  it("leaves one message alone and lists several once each", () => {
    expect(goAggregate(["a"])).toBe("a");
    expect(goAggregate(["a", "b", "a"])).toBe("[a, b]");
    expect(goAggregate(["a", "a"])).toBe("a");
  });
});

describe("goJson", () => {
  it.each<[string, unknown, string]>([
    ["sorts keys at every depth", { b: { d: 1, c: [true, null] }, a: "x" }, '{"a":"x","b":{"c":[true,null],"d":1}}'],
    ["escapes what HTML minds", "<a&b>\u2028\u2029", '"\\u003ca\\u0026b\\u003e\\u2028\\u2029"'],
    ["escapes keys too", { "<k>": 1 }, '{"\\u003ck\\u003e":1}'],
    ["uses the short escapes Go has", '"\\\b\f\n\r\t\u000b\u007f', '"\\"\\\\\\b\\f\\n\\r\\t\\u000b\u007f"'],
    ["leaves out absent keys", { a: undefined, b: null }, '{"b":null}'],
    ["keeps hostile keys", JSON.parse('{"constructor":1,"__proto__":2}'), '{"__proto__":2,"constructor":1}'],
    ["writes a bigint as a number", { size: 9007199254740993n }, '{"size":9007199254740993}'],
    ["writes large and small numbers as Go does", [1e21, 1e-7, 0.1], "[1e+21,1e-7,0.1]"],
  ])("%s", (_name, value, json) => {
    expect(goJson(value)).toBe(json);
  });

  it("keeps the order of a struct's fields where asked", () => {
    expect(goJsonInOrder({ kind: "Pod", apiVersion: "v1" })).toBe('{"kind":"Pod","apiVersion":"v1"}');
  });

  it("reads back as the same value", () => {
    fc.assert(fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      expect(JSON.parse(goJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }));
  });
});
