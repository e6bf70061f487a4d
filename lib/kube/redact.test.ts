import { describe, expect, it } from "vitest";
import { redacted } from "./redact";

const text = (object: unknown) => JSON.stringify(redacted(object));

describe("redacted", () => {
  const payloads: { name: string; object: unknown }[] = [
    { name: "the data of a Secret", object: { kind: "Secret", data: { key: "cGF5bG9hZA==payload" } } },
    { name: "the stringData of a Secret", object: { kind: "Secret", stringData: { a: "payload" } } },
    { name: "a Secret in a list", object: { kind: "List", items: [{ kind: "Secret", data: { a: "payload" } }] } },
    { name: "the items of a SecretList, which name no kind", object: { kind: "SecretList", apiVersion: "v1", items: [{ metadata: { name: "a" }, data: { a: "payload" }, stringData: { b: "payload" } }] } },
    { name: "the last applied configuration in an item of a SecretList", object: { kind: "SecretList", items: [{ metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "payload" } } }] } },
    { name: "a SecretList in a list", object: { kind: "List", items: [{ kind: "SecretList", items: [{ data: { a: "payload" } }] }] } },
    { name: "the last applied configuration", object: { kind: "Pod", metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": '{"a":"payload"}' } } } },
    { name: "an environment value whose name says it", object: { spec: { containers: [{ env: [{ name: "DB_PASSWORD", value: "payload" }] }] } } },
    { name: "a driver's option", object: { spec: { volumes: [{ flexVolume: { driver: "d", options: { "api-key": "payload" } } }] } } },
    { name: "a CSI attribute", object: { spec: { csi: { volumeAttributes: { clientSecret: "payload" } } } } },
    { name: "a class parameter", object: { kind: "StorageClass", parameters: { adminToken: "payload" } } },
  ];
  it.each(payloads)("hides $name", ({ object }) => {
    expect(text(object)).not.toContain("payload");
    expect(JSON.stringify(object)).toContain("payload");
  });

  const kept: { name: string; object: unknown }[] = [
    { name: "plain environment", object: { spec: { containers: [{ env: [{ name: "MODE", value: "fast" }] }] } } },
    { name: "options that say nothing secret", object: { spec: { flexVolume: { options: { size: "4Mi" } } } } },
    { name: "names of secrets", object: { spec: { volumes: [{ secret: { secretName: "web-tls" } }] } } },
    { name: "a ConfigMap", object: { kind: "ConfigMap", data: { a: "b" } } },
    { name: "hostile keys", object: { constructor: "c", a: [1, null, true] } },
  ];
  it.each(kept)("keeps $name", ({ object }) => {
    expect(JSON.parse(text(object))).toEqual(object);
  });
});
