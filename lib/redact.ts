/**
 * What an object of the cluster may show in a browser: no secret payload, nor the places where copies of one end up
 * (the last-applied annotation, values of environment variables, driver options whose key says secret).
 */
import type { KubeObject } from "@/lib/kube/meta";

export const notShown = "(not shown by Voldeck)";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const payloadFields: ReadonlySet<string> = new Set(["data", "stringData", "binaryData"]);
const optionFields: ReadonlySet<string> = new Set(["options", "volumeAttributes", "parameters", "attachmentMetadata"]);
const secretive = /secret|passw|token|credential|private|\bkey\b|apikey|access.?key/i;

/** A copy without what must not be shown; everything else word for word. */
export function redacted(object: KubeObject): KubeObject {
  const isSecret = object.kind === "Secret";
  const shown = Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, isSecret && payloadFields.has(key) ? hidden(value) : cleaned(key, value)]),
  );
  return { ...shown, metadata: object.metadata && (cleaned("metadata", object.metadata) as KubeObject["metadata"]) };
}

function cleaned(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (key === "env" ? withoutValue(item) : cleaned("", item)));
  if (!isRecord(value)) return value;
  if (optionFields.has(key)) return mapped(value, (name, inner) => (secretive.test(name) ? notShown : inner));
  if (key === "annotations") return mapped(value, (name, inner) => (name === lastApplied ? notShown : inner));
  return mapped(value, cleaned);
}

/** Every value of a payload, with its keys: which keys a Secret has is no secret to who may read it. */
function hidden(value: unknown): unknown {
  return isRecord(value) ? mapped(value, () => notShown) : notShown;
}

function withoutValue(variable: unknown): unknown {
  return isRecord(variable) && "value" in variable ? { ...variable, value: notShown } : variable;
}

function mapped(value: Record<string, unknown>, change: (key: string, inner: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(key, inner)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
