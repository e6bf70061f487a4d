import { describe, expect, it } from "vitest";
import { matches, parseFilter } from "./filter";

const known = ["plugin", "status"] as const;
const row = { text: "shop web-0 data kubernetes.io/csi node1 stuck", fields: { plugin: "kubernetes.io/csi", status: "stuck" } };

describe("a filter line", () => {
  it.each([
    ["nothing", "", true],
    ["a word", "web", true],
    ["a word in another case", "WEB-0", true],
    ["two words that both hold", "web node1", true],
    ["a word that is not there", "web node2", false],
    ["a field", "plugin:csi", true],
    ["a field with another value", "plugin:nfs", false],
    ["a field twice means either", "plugin:nfs plugin:csi", true],
    ["two fields must both hold", "plugin:csi status:ok", false],
    ["a quoted value", 'status:"not applicable"', false],
    ["a field without a value says nothing yet", "plugin:", true],
    ["an unknown field is a plain word", "size:10", false],
    ["a word of a prototype is a plain word", "constructor:x", false],
    ["an open quote", '"web-0 data', true],
    ["what would be a regular expression is text", ".*", false],
  ])("%s", (_name, text, expected) => {
    expect(matches(parseFilter(text, known), row)).toBe(expected);
  });
});
