import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatLabelSelector, labelSelectorOf, labelSelectorText, matchesLabels, parseLabelSelector } from "@/lib/kube/selectors";

const labels = { app: "web", tier: "gold", replicas: "5", empty: "" };

describe("parseLabelSelector", () => {
  it.each([
    ["", true],
    ["app=web", true],
    ["app == web , tier in (gold,silver)", true],
    ["app!=web", false],
    ["absent!=x", true],
    ["tier notin (gold)", false],
    ["app", true],
    ["!app", false],
    ["!absent", true],
    ["replicas>4,replicas<6", true],
    ["app>4", false],
    ["empty=", true],
    ["empty in ()", true],
    ["tier in (,gold,)", true],
    ["!constructor", true],
  ])("%s matches: %s", (text, expected) => {
    expect(matchesLabels(parseLabelSelector(text), labels)).toBe(expected);
  });

  it("sorts requirements by key and values within", () => {
    expect(labelSelectorText(parseLabelSelector("z in (b,a),!b,a=1"))).toBe("a=1,!b,z in (a,b)");
  });

  it.each([
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a,", "found '', expected: identifier after ','"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"],
    ["a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
    ["a>9223372036854775808", "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer"],
  ])("refuses %s", (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: "invalid", message }));
  });

  it("prints a text that parses to the same selector", () => {
    const key = fc.constantFrom("a", "in", "example.com/x");
    const value = fc.constantFrom("", "b", "5", "notin");
    const requirement = fc.oneof(
      fc.tuple(key, fc.constantFrom("=", "==", "!="), value).map((parts) => parts.join("")),
      fc.tuple(key, fc.constantFrom(" in ", " notin "), fc.uniqueArray(value, { minLength: 1 })).map(([k, op, list]) => `${k}${op}(${list.join(",")})`),
      key,
      key.map((text) => `!${text}`),
      fc.tuple(key, fc.constantFrom(">", "<"), fc.nat()).map((parts) => parts.join("")),
    );
    fc.assert(fc.property(fc.array(requirement), (parts) => {
      const selector = parseLabelSelector(parts.join(","));
      expect(parseLabelSelector(labelSelectorText(selector))).toEqual(selector);
    }));
  });
});

describe("labelSelectorOf", () => {
  it("selects nothing when absent and everything when empty", () => {
    expect(matchesLabels(labelSelectorOf(undefined), labels)).toBe(false);
    expect(matchesLabels(labelSelectorOf({}), labels)).toBe(true);
  });

  it("joins labels and expressions", () => {
    const selector = { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "NotIn", values: ["silver"] }] };
    expect(matchesLabels(labelSelectorOf(selector), labels)).toBe(true);
    expect(formatLabelSelector(selector)).toBe("app=web,tier notin (silver)");
  });

  it("names what is wrong", () => {
    expect(() => labelSelectorOf({ matchExpressions: [{ key: "a", operator: "Near" }] })).toThrow('"Near" is not a valid label selector operator');
    expect(formatLabelSelector({ matchExpressions: [{ key: "a", operator: "In" }] })).toBe("<error>");
    expect(formatLabelSelector({})).toBe("<none>");
  });
});
