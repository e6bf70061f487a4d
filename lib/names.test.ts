import { describe, expect, it } from "vitest";
import { compareText, isDNS1123Label, isDNS1123Subdomain, isLabelValue, isPathSegmentName, isQualifiedName, utf8Length } from "@/lib/names";

describe("isQualifiedName", () => {
  const valid = ["simple", "now-with-dashes/simple", "1.2.3.4/5678", "example.com/Uppercase_Is_OK_123", "a".repeat(63)];
  it.each([...valid, `${"a".repeat(253)}/${"b".repeat(63)}`])("accepts %s", (name) => {
    expect(isQualifiedName(name)).toEqual([]);
  });

  const refused: [string, string[]][] = [
    ["nospecialchars%^=@", ["name part must consist of"]],
    ["only/one/slash", ["a valid label key must consist of"]],
    ["Example.com/abc", ["prefix part a lowercase RFC 1123 subdomain"]],
    ["example.com/", ["name part must be non-empty", "name part must consist of"]],
    ["/simple", ["prefix part must be non-empty"]],
    ["a".repeat(64), ["name part must be no more than 63 bytes"]],
    ["é".repeat(32), ["name part must be no more than 63 bytes", "name part must consist of"]],
    [`${"a".repeat(254)}/abc`, ["prefix part must be no more than 253 bytes"]],
    ["line\n", ["name part must consist of"]],
  ];
  it.each(refused)("refuses %j", (name, beginnings) => {
    const messages = isQualifiedName(name);
    expect(messages.map((message, index) => message.slice(0, beginnings[index]?.length))).toEqual(beginnings);
  });
});

describe("isLabelValue", () => {
  it.each(["", "a", "A-1_b.c", "a".repeat(63)])("takes %j", (value) => {
    expect(isLabelValue(value)).toEqual([]);
  });
  it.each(["-a", "a b", "a.", "é", "a\n"])("refuses %j", (value) => {
    expect(isLabelValue(value)[0]).toContain("a valid label must be an empty string or consist of");
  });
  it("counts bytes", () => {
    expect(isLabelValue("a".repeat(64))).toEqual(["must be no more than 63 bytes"]);
  });
});

describe("DNS names", () => {
  it("says of a label with dots that it has dots", () => {
    expect(isDNS1123Label("a.b")).toEqual(["must not contain dots"]);
  });
  it("refuses upper case with the whole text", () => {
    expect(isDNS1123Label("A")).toEqual([
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ]);
  });
  it("takes a subdomain of 253 characters and no more", () => {
    expect(isDNS1123Subdomain("a".repeat(253))).toEqual([]);
    expect(isDNS1123Subdomain("a".repeat(254))).toEqual(["must be no more than 253 characters"]);
  });
  it("answers a long hostile name at once", () => {
    expect(isDNS1123Subdomain(`${"a.".repeat(50_000)}!`)).toHaveLength(2);
  });
});

describe("isPathSegmentName", () => {
  it.each(["a", "a.b", "...", "A_b:c", "", "é"])("takes %j", (name) => {
    expect(isPathSegmentName(name)).toEqual([]);
  });
  it.each([
    [".", ["may not be '.'"]],
    ["..", ["may not be '..'"]],
    ["a/b", ["may not contain '/'"]],
    ["%2e%2e/a", ["may not contain '/'", "may not contain '%'"]],
  ])("refuses %j", (name, messages) => {
    expect(isPathSegmentName(name)).toEqual(messages);
  });
  it("takes dots as the beginning of a name", () => {
    expect(isPathSegmentName("..", true)).toEqual([]);
    expect(isPathSegmentName("a/", true)).toEqual(["may not contain '/'"]);
  });
});

describe("texts as bytes", () => {
  it("counts UTF-8", () => {
    expect(["a", "é", "日", "😀"].map(utf8Length)).toEqual([1, 2, 3, 4]);
  });
  it("sorts by code point, not by UTF-16 unit", () => {
    expect(["😀", "\uffee", "ab", "a", "b"].sort(compareText)).toEqual(["a", "ab", "b", "\uffee", "😀"]);
  });
});
