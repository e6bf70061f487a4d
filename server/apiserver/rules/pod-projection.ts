/** Rules of the payload volumes of pods: secret, configMap, downwardAPI, projected. Source: kubernetes v1.37.2, validateProjectionSources. */
import type { JsonObject } from "@/lib/kube/json";
import { toInternal } from "@/lib/kube/go-internal";
import { isDNS1123Subdomain, isQualifiedName } from "@/lib/names";
import { parseQuantity } from "@/lib/quantity";
import { numberAt, objectAt, objectsAt, optionalText, textAt } from "@/server/apiserver/access";
import { child, forbidden, invalid, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { labelSelectorErrors } from "./metadata";
import { fileModeErrors, keyToPathErrors, nonReservedErrors, requiredTexts } from "./paths";

export function secretErrors(source: JsonObject, at: string): FieldError[] {
  return [...requiredTexts(source, ["secretName"], at), ...fileModeErrors(source, "defaultMode", at), ...itemErrors(source, at)];
}

export function configMapErrors(source: JsonObject, at: string): FieldError[] {
  return [...requiredTexts(source, ["name"], at), ...fileModeErrors(source, "defaultMode", at), ...itemErrors(source, at)];
}

function itemErrors(source: JsonObject, at: string): FieldError[] {
  return objectsAt(source, "items").flatMap((item, index) => keyToPathErrors(item, child(at, "items", index)));
}

export function downwardErrors(source: JsonObject, at: string): FieldError[] {
  return [...fileModeErrors(source, "defaultMode", at), ...objectsAt(source, "items").flatMap((file) => downwardFileErrors(file, at))];
}

const fieldPaths = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const resources = ["limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"];

function downwardFileErrors(file: JsonObject, at: string): FieldError[] {
  const errors = [...requiredTexts(file, ["path"], at), ...nonReservedErrors(textAt(file, "path"), `${at}.path`)];
  const field = objectAt(file, "fieldRef");
  const resource = objectAt(file, "resourceFieldRef");
  if (field !== undefined) {
    errors.push(...fieldRefErrors(field, `${at}.fieldRef`));
    if (resource !== undefined) errors.push(invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
  } else if (resource !== undefined) errors.push(...resourceRefErrors(resource, `${at}.resourceFieldRef`));
  else errors.push(required(at, "one of fieldRef and resourceFieldRef is required"));
  return [...errors, ...fileModeErrors(file, "mode", at)];
}

function fieldRefErrors(field: JsonObject, at: string): FieldError[] {
  if (textAt(field, "apiVersion") === "") return [required(`${at}.apiVersion`, "")];
  const path = textAt(field, "fieldPath");
  if (path === "") return [required(`${at}.fieldPath`, "")];
  const keyed = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/u.exec(path);
  if (keyed !== null) {
    const key = keyed[2] ?? "";
    const shown = keyed[1] === "metadata.annotations" ? key.toLowerCase() : key;
    return isQualifiedName(shown).map((message) => invalid(at, key, message));
  }
  return fieldPaths.includes(path) ? [] : [notSupported(`${at}.fieldPath`, path, fieldPaths)];
}

function resourceRefErrors(resource: JsonObject, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = textAt(resource, "resource");
  if (textAt(resource, "containerName") === "") errors.push(required(`${at}.containerName`, ""));
  else if (name === "") errors.push(required(`${at}.resource`, ""));
  else if (!resources.includes(name) && !/^(?:limits|requests)\.hugepages-/u.test(name)) errors.push(notSupported(`${at}.resource`, name, resources));
  return [...errors, ...divisorErrors(name, textAt(resource, "divisor"), `${at}.divisor`)];
}

const divisors: readonly (readonly [suffix: string, allowed: readonly string[], words: string])[] = [
  [".cpu", ["1m", "1"], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [
    ".memory",
    ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"],
    "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource",
  ],
  [
    ".ephemeral-storage",
    ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"],
    "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource",
  ],
];

function divisorErrors(name: string, divisor: string, at: string): FieldError[] {
  const rule = divisors.find(([suffix]) => name.endsWith(suffix));
  if (rule === undefined || divisor === "" || parseQuantity(divisor).isZero() || rule[1].includes(divisor)) return [];
  return [invalid(at, name, rule[2])];
}

export function projectedErrors(source: JsonObject, at: string): FieldError[] {
  const projection = new Projection(at);
  const sources = objectsAt(source, "sources").flatMap((one, index) => projection.source(one, child(at, "sources", index)));
  return [...fileModeErrors(source, "defaultMode", at), ...sources];
}

/** The files of all sources share one directory: a path may be used once. */
class Projection {
  private readonly paths = new Set<string>();

  constructor(private readonly at: string) {}

  source(one: JsonObject, at: string): FieldError[] {
    const rules: readonly (readonly [string, (part: JsonObject, at: string) => FieldError[]])[] = [
      ["secret", (part, here) => this.items(part, here)],
      ["configMap", (part, here) => this.items(part, here)],
      ["downwardAPI", (part, here) => this.downward(part, here)],
      ["serviceAccountToken", (part, here) => this.token(part, here)],
      ["clusterTrustBundle", (part, here) => this.trustBundle(part, here)],
      ["podCertificate", (part, here) => this.certificate(part, here)],
    ];
    const given = rules.flatMap(([key, rule]) => {
      const part = objectAt(one, key);
      return part === undefined ? [] : [rule(part, `${at}.${key}`)];
    });
    return [...given.flat(), ...(given.length > 1 ? [forbidden(at, "may not specify more than 1 volume type per source")] : [])];
  }

  private once(path: string, shown: string): FieldError[] {
    if (this.paths.has(path)) return [invalid(this.at, shown, "conflicting duplicate paths")];
    this.paths.add(path);
    return [];
  }

  private items(part: JsonObject, at: string): FieldError[] {
    const name = textAt(part, "name");
    const items = objectsAt(part, "items").flatMap((item, index) => {
      const path = textAt(item, "path");
      return [...keyToPathErrors(item, child(at, "items", index)), ...(path === "" ? [] : this.once(path, name))];
    });
    return [...requiredTexts(part, ["name"], at), ...items];
  }

  private downward(part: JsonObject, at: string): FieldError[] {
    return objectsAt(part, "items").flatMap((file) => {
      const path = textAt(file, "path");
      return [...downwardFileErrors(file, at), ...(path === "" ? [] : this.once(path, path))];
    });
  }

  private token(part: JsonObject, at: string): FieldError[] {
    const seconds = numberAt(part, "expirationSeconds");
    const errors: FieldError[] = [];
    const path = `${at}.expirationSeconds`;
    if (seconds === undefined) errors.push(required(path, ""));
    else if (seconds < 600) errors.push(invalid(path, seconds, "may not specify a duration less than 10 minutes"));
    else if (seconds > 2 ** 32) errors.push(invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"));
    const file = textAt(part, "path");
    return [...errors, ...(file === "" ? [required(`${this.at}.path`, "")] : nonReservedErrors(file, `${this.at}.path`))];
  }

  private trustBundle(part: JsonObject, at: string): FieldError[] {
    const name = optionalText(part, "name");
    const signer = optionalText(part, "signerName");
    const file = textAt(part, "path");
    const errors: FieldError[] = [];
    if (name !== undefined && signer !== undefined) {
      const shown = toInternal("core/v1.ClusterTrustBundleProjection", "core.ClusterTrustBundleProjection", part);
      errors.push(invalid(at, shown, "only one of name and signerName may be used"));
    } else if (name !== undefined) errors.push(...bundleNameErrors(part, name, at));
    else if (signer !== undefined) {
      if (signer === "") errors.push(required(`${at}.signerName`, "must be a valid signer name"));
      errors.push(...labelSelectorErrors(objectAt(part, "labelSelector"), `${at}.labelSelector`));
    } else errors.push(required(at, "either name or signerName must be specified"));
    if (file === "") errors.push(required(`${at}.path`, ""));
    return [...errors, ...nonReservedErrors(file, `${at}.path`), ...this.once(file, file)];
  }

  private certificate(part: JsonObject, at: string): FieldError[] {
    const errors: FieldError[] = [];
    const types = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
    const type = textAt(part, "keyType");
    if (!types.includes(type)) errors.push(notSupported(`${at}.keyType`, type, types));
    const seconds = numberAt(part, "maxExpirationSeconds");
    if (seconds !== undefined && seconds < 3600) {
      errors.push(invalid(`${at}.maxExpirationSeconds`, seconds, "if provided, maxExpirationSeconds must be >= 3600"));
    }
    const keys = ["credentialBundlePath", "keyPath", "certificateChainPath"].filter((key) => textAt(part, key) !== "");
    for (const key of keys) errors.push(...nonReservedErrors(textAt(part, key), `${at}.${key}`), ...this.once(textAt(part, key), textAt(part, key)));
    if (keys.length === 0) errors.push(required(at, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"));
    return errors;
  }
}

function bundleNameErrors(part: JsonObject, name: string, at: string): FieldError[] {
  const errors = name === "" ? [required(`${at}.name`, "must be a valid object name")] : [];
  const plain = name.includes(":") ? name.slice(name.lastIndexOf(":") + 1) : name;
  errors.push(...isDNS1123Subdomain(plain).map((message) => invalid(`${at}.name`, name, `not a valid clustertrustbundlename: ${message}`)));
  const selector = objectAt(part, "labelSelector");
  if (selector !== undefined) errors.push(invalid(`${at}.labelSelector`, selector, "labelSelector must be unset if name is specified"));
  return errors;
}
