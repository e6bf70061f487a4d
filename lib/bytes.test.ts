import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64Bytes, base64Text, equalBytes, utf8Bytes } from "@/lib/bytes";

describe("utf8Bytes", () => {
  it("equals the platform's encoder for every text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => equalBytes(utf8Bytes(text), new TextEncoder().encode(text))));
  });
});

describe("base64Text", () => {
  it("writes what every other encoder does", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => base64Text(bytes) === Buffer.from(bytes).toString("base64")));
  });
});

describe("base64Bytes", () => {
  it("reads what the platform writes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => equalBytes(base64Bytes(Buffer.from(bytes).toString("base64")) ?? utf8Bytes("none"), bytes)),
    );
  });

  it.each(["a", "ab", "abc", "ab=c", "====", "a===", "ab-_", "abcd=", " abcd"])("refuses %j", (text) => {
    expect(base64Bytes(text)).toBeUndefined();
  });

  it("ignores line ends", () => {
    expect(base64Bytes("YWJj\r\nZGVm\n")).toEqual(utf8Bytes("abcdef"));
  });
});

describe("equalBytes", () => {
  it.each([
    [[1, 2], [1, 2], true],
    [[1, 2], [1, 3], false],
    [[1], [1, 2], false],
    [[], [], true],
  ])("%j and %j: %s", (a, b, equal) => {
    expect(equalBytes(Uint8Array.from(a), Uint8Array.from(b))).toBe(equal);
  });
});
