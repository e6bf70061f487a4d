/** Rules of ConfigMap and Secret. Source: kubernetes v1.37.2, pkg/apis/core/validation and pkg/registry/core/{configmap,secret}. */
import { messageOf } from "@/lib/errors";
import { deepEqual, isObject, jsonKind, parseJson, type JsonObject } from "@/lib/kube/json";
import { utf8Length } from "@/lib/names";
import { ensureObject, flagAt, objectAt, textAt, textMap } from "@/server/apiserver/access";
import { forbidden, invalid, keyed, required, tooLong, type FieldError } from "@/server/apiserver/field";
import { metadataErrors, metadataUpdateErrors, subdomainName } from "./metadata";
import type { Rules } from "./rules";

const maxBytes = 1024 * 1024;
const maxKey = 253;
const metadataRules = { namespaced: true, name: subdomainName };
const frozen = "field is immutable when `immutable` is set";

/** What is wrong with a key of settings. */
function keyErrors(key: string, field: string): FieldError[] {
  const errors: string[] = [];
  if (utf8Length(key) > maxKey) errors.push(`must be no more than ${maxKey} bytes`);
  if (!/^[-._a-zA-Z0-9]+$/u.test(key)) {
    errors.push("a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
  }
  if (key === "." || key === "..") errors.push(`must not be '${key}'`);
  else if (key.startsWith("..")) errors.push("must not start with '..'");
  return errors.map((message) => invalid(keyed(field, key), key, message));
}

function bytesOf(base64: string): number {
  return Buffer.from(base64, "base64").length;
}

function immutableErrors(next: JsonObject, old: JsonObject, bags: readonly string[]): FieldError[] {
  if (!flagAt(old, "immutable")) return [];
  const errors = flagAt(next, "immutable") ? [] : [forbidden("immutable", frozen)];
  const changed = bags.filter((bag) => !deepEqual(next[bag] ?? null, old[bag] ?? null));
  return [...errors, ...changed.map((bag) => forbidden(bag, frozen))];
}

function configMapErrors(map: JsonObject): FieldError[] {
  const errors = metadataErrors(objectAt(map, "metadata"), metadataRules);
  const [data, binary] = [textMap(map, "data"), textMap(map, "binaryData")];
  let bytes = 0;
  for (const [key, value] of data) {
    errors.push(...keyErrors(key, "data"));
    if (binary.has(key)) errors.push(invalid(keyed("data", key), key, "duplicate of key present in binaryData"));
    bytes += utf8Length(value);
  }
  for (const [key, value] of binary) {
    errors.push(...keyErrors(key, "binaryData"));
    bytes += bytesOf(value);
  }
  return bytes > maxBytes ? [...errors, tooLong("[]", maxBytes)] : errors;
}

function updateMetadata(next: JsonObject, old: JsonObject): FieldError[] {
  return metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata"));
}

export const configMapRules: Rules = {
  prepareForCreate: () => undefined,
  validateCreate: configMapErrors,
  update: {
    prepare: () => undefined,
    validate: (next, old) => [...updateMetadata(next, old), ...immutableErrors(next, old, ["data", "binaryData"]), ...configMapErrors(next)],
  },
};

/** Plain text becomes data. */
function takeStringData(secret: JsonObject): void {
  const plain = textMap(secret, "stringData");
  delete secret["stringData"];
  if (plain.size === 0) return;
  const data = ensureObject(secret, "data");
  for (const [key, value] of plain) data[key] = Buffer.from(value, "utf8").toString("base64");
}

function secretErrors(secret: JsonObject): FieldError[] {
  const errors = metadataErrors(objectAt(secret, "metadata"), metadataRules);
  const data = textMap(secret, "data");
  let bytes = 0;
  for (const [key, value] of data) {
    errors.push(...keyErrors(key, "data"));
    bytes += bytesOf(value);
  }
  if (bytes > maxBytes) errors.push(tooLong("data", maxBytes));
  return [...errors, ...typeErrors(secret, data)];
}

function typeErrors(secret: JsonObject, data: ReadonlyMap<string, string>): FieldError[] {
  const lacking = (...keys: readonly string[]): FieldError[] => keys.filter((key) => !data.has(key)).map((key) => required(keyed("data", key), ""));
  switch (textAt(secret, "type")) {
    case "kubernetes.io/service-account-token": {
      const key = "kubernetes.io/service-account.name";
      const named = textMap(objectAt(secret, "metadata"), "annotations").get(key) ?? "";
      return named === "" ? [required(keyed("metadata.annotations", key), "")] : [];
    }
    case "kubernetes.io/dockercfg":
      return documentErrors(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return documentErrors(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return data.has("username") || data.has("password") ? [] : lacking("username", "password");
    case "kubernetes.io/ssh-auth":
      return (data.get("ssh-privatekey") ?? "") === "" ? [required(keyed("data", "ssh-privatekey"), "")] : [];
    case "kubernetes.io/tls":
      return lacking("tls.crt", "tls.key");
    default:
      return [];
  }
}

function documentErrors(data: ReadonlyMap<string, string>, key: string): FieldError[] {
  const text = data.get(key);
  if (text === undefined) return [required(keyed("data", key), "")];
  const refuse = (why: string): FieldError[] => [invalid(keyed("data", key), "<secret contents redacted>", why)];
  try {
    const { value } = parseJson(Buffer.from(text, "base64").toString("utf8"));
    return value === null || isObject(value) ? [] : refuse(`json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`);
  } catch (error) {
    return refuse(messageOf(error));
  }
}

export const secretRules: Rules = {
  prepareForCreate: takeStringData,
  validateCreate: secretErrors,
  update: {
    prepare(next, old) {
      takeStringData(next);
      if (textAt(next, "type") === "") next["type"] = textAt(old, "type");
    },
    validate(next, old) {
      const type = textAt(next, "type");
      const fixed = type === textAt(old, "type") ? [] : [invalid("type", type, "field is immutable")];
      return [...updateMetadata(next, old), ...fixed, ...immutableErrors(next, old, ["data"]), ...secretErrors(next)];
    },
  },
};
