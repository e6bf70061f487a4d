import { describe, expect, it } from "vitest";
import { decodeFirstGoJSON, parseGoJSON, stringMapOfGoJSON } from "@/lib/go-json";

describe("parseGoJSON", () => {
  it.each([
    ["nothing", "", "unexpected end of JSON input"],
    ["a word cut short", "tru", "invalid character ' ' in literal true (expecting 'e')"],
    ["another word", "not json", "invalid character 'o' in literal null (expecting 'u')"],
    ["a warning before the object", 'warning: x\n{"a":1}', "invalid character 'w' looking for beginning of value"],
    ["two objects", "{}\n{}", "invalid character '{' after top-level value"],
    ["a byte order mark", "\ufeff{}", "invalid character 'ï' looking for beginning of value"],
    ["a leading zero", "01", "invalid character '1' after top-level value"],
    ["a key without quotes", "{a:1}", "invalid character 'a' looking for beginning of object key string"],
    ["a missing colon", '{"a" 1}', "invalid character '1' after object key"],
    ["a missing comma in an object", '{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ["a missing comma in an array", "[1 2]", "invalid character '2' after array element"],
    ["a line break in a string", '"a\nb"', "invalid character '\\n' in string literal"],
    ["an escape that is none", '"\\q"', "invalid character 'q' in string escape code"],
    ["an escape with a wrong digit", '"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ["a control character", "\u0001", "invalid character '\\x01' looking for beginning of value"],
    ["ten thousand brackets and one", "[".repeat(10_001), "invalid character '[' exceeded max depth"],
  ])("refuses %s in Go's words", (_name, text, message) => {
    expect(() => parseGoJSON(text)).toThrow(message);
  });

  it("keeps repeated and hostile keys", () => {
    expect(parseGoJSON('{"__proto__":1,"a":[true,null],"a":"\\ud83d\\ude00\\ud83d"}')).toEqual({
      kind: "object",
      members: [
        { key: "__proto__", value: { kind: "number", text: "1" } },
        { key: "a", value: { kind: "array", items: [{ kind: "bool", value: true }, { kind: "null" }] } },
        { key: "a", value: { kind: "string", value: "😀\ufffd" } },
      ],
    });
  });
});

describe("decodeFirstGoJSON", () => {
  it.each([
    ["nothing", " \n", "EOF"],
    ["half an object", '{"a":', "unexpected EOF"],
  ])("refuses %s in Go's words", (_name, text, message) => {
    expect(() => decodeFirstGoJSON(text)).toThrow(message);
  });

  it("leaves what follows the first value", () => {
    expect(decodeFirstGoJSON("{} x")).toEqual({ kind: "object", members: [] });
  });
});

describe("stringMapOfGoJSON", () => {
  it("takes null for an empty text and the last of equal keys", () => {
    const map = stringMapOfGoJSON(parseGoJSON('{"a":null,"b":"1","b":"2","constructor":"c"}'));
    expect([...map]).toEqual([["a", ""], ["b", "2"], ["constructor", "c"]]);
  });

  it.each([
    ["a list", "[]", "json: cannot unmarshal array into Go value of type map[string]string"],
    ["a number as a value", '{"a":1}', "json: cannot unmarshal number into Go value of type string"],
  ])("refuses %s", (_name, text, message) => {
    expect(() => stringMapOfGoJSON(parseGoJSON(text))).toThrow(message);
  });
});
