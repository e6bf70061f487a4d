import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertFieldSelector, escapeFieldValue, fieldSelectorText, matchesFields, parseFieldSelector, selectableFields } from "@/lib/kube/field-selectors";

describe("parseFieldSelector", () => {
  it.each([
    ["", {}, true],
    ["metadata.name=a", { "metadata.name": "a" }, true],
    ["metadata.name!=a", { "metadata.name": "a" }, false],
    ["spec.nodeName=", {}, true],
    ["a=b\\,c", { a: "b,c" }, true],
    ["__proto__=", {}, true],
  ])("%s on %j: %s", (text, fields, expected) => {
    expect(matchesFields(parseFieldSelector(text), fields)).toBe(expected);
  });

  it.each([
    ["a", "invalid selector: 'a'; can't understand 'a'"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
  ])("refuses %s", (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: "invalid", message }));
  });

  it("reads back any escaped value", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => {
      const text = `metadata.name=${escapeFieldValue(value)}`;
      expect(parseFieldSelector(text)).toEqual([{ field: "metadata.name", equal: true, value }]);
      expect(fieldSelectorText(parseFieldSelector(text))).toBe(text);
    }));
  });
});

describe("convertFieldSelector", () => {
  const convert = (text: string, kind: string, group = ""): string => fieldSelectorText(convertFieldSelector(parseFieldSelector(text), { group, kind }));

  it("replaces older spellings", () => {
    expect(convert("spec.host=n1", "Pod")).toBe("spec.nodeName=n1");
    expect(convert("regarding.uid=u", "Event", "events.k8s.io")).toBe("involvedObject.uid=u");
  });

  it("refuses what the kind cannot be selected by", () => {
    expect(() => convert("spec.volumeName=x", "PersistentVolumeClaim")).toThrow(
      '"spec.volumeName" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    expect(() => convert("constructor=x", "Pod")).toThrow("field label not supported: constructor");
  });

  it("takes a kind of another group for an ordinary one", () => {
    expect(() => convert("spec.nodeName=x", "Pod", "example.com")).toThrow("is not a known field selector");
  });
});

describe("selectableFields", () => {
  it("reads a pod with the server's defaults", () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "shop" }, spec: { nodeName: "n1" }, status: { podIPs: [{ ip: "10.0.0.1" }] } };
    expect(selectableFields(pod)).toMatchObject({ "spec.nodeName": "n1", "spec.restartPolicy": "Always", "status.podIP": "10.0.0.1", "metadata.namespace": "shop" });
  });

  it("gives kinds without a namespace none", () => {
    expect(selectableFields({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } })).toEqual({ "metadata.name": "n1", "spec.unschedulable": "false" });
  });

  it("survives a malformed object", () => {
    expect(selectableFields({ kind: "Pod", apiVersion: "v1", spec: "oops" } as object)).toMatchObject({ "spec.nodeName": "", "metadata.name": "" });
  });
});
