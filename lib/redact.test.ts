import { describe, expect, it } from "vitest";
import type { KubeObject } from "@/lib/kube/meta";
import { notShown, redacted } from "./redact";

const base = { apiVersion: "v1", metadata: { name: "x" } };

describe("redacted", () => {
  const cases: readonly (readonly [string, object, object])[] = [
    ["payload of a Secret, keys kept", { ...base, kind: "Secret", data: { password: "aGk=" } }, { data: { password: notShown } }],
    ["data of another kind", { ...base, kind: "ConfigMap", data: { a: "b" } }, { data: { a: "b" } }],
    [
      "the last-applied annotation",
      { ...base, metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", other: "kept" } } },
      { metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": notShown, other: "kept" } } },
    ],
    [
      "values of the environment, references kept",
      { ...base, spec: { containers: [{ env: [{ name: "A", value: "s" }, { name: "B", valueFrom: { fieldRef: {} } }] }] } },
      { spec: { containers: [{ env: [{ name: "A", value: notShown }, { name: "B", valueFrom: { fieldRef: {} } }] }] } },
    ],
    [
      "driver options whose key says secret",
      { ...base, spec: { volumes: [{ flexVolume: { driver: "d", options: { secretKey: "s", share: "a" } } }] } },
      { spec: { volumes: [{ flexVolume: { driver: "d", options: { secretKey: notShown, share: "a" } } }] } },
    ],
    ["a class's parameters", { ...base, parameters: { type: "fast", adminPassword: "s" } }, { parameters: { type: "fast", adminPassword: notShown } }],
    ["numbers, lists and nothing", { ...base, spec: { a: [1, null, "x"], b: false } }, { spec: { a: [1, null, "x"], b: false } }],
  ];
  it.each(cases)("%s", (_name, object, shown) => {
    expect(redacted(object as KubeObject)).toMatchObject(shown);
  });

  it("keeps keys that are words of a prototype as ordinary keys", () => {
    const parsed = JSON.parse('{"metadata":{},"spec":{"__proto__":{"a":1},"constructor":"x"}}') as KubeObject;
    expect(JSON.stringify(redacted(parsed))).toBe('{"metadata":{},"spec":{"__proto__":{"a":1},"constructor":"x"}}');
  });

  it("does not change what it was given", () => {
    const given = { ...base, kind: "Secret", data: { a: "b" } };
    redacted(given);
    expect(given.data).toEqual({ a: "b" });
  });
});
