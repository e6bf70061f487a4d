/**
 * What is never shown: secret payloads and their copies. Applied where objects leave for the browser, the log or a bundle.
 * Keys of options, attributes and environment are judged by their name.
 */

const hidden = "(hidden)";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const secretWord = /secret|passw|token|credential|private|api-?_?key|access-?_?key|passphrase/i;

type Json = unknown;

/** A copy without secret payloads; the object itself is not changed. */
export function redacted<T>(object: T): T {
  return redact(object, isSecret(object) ? "secret" : "object") as T;
}

/** Items of a SecretList name no kind of their own. */
function isSecret(object: unknown): boolean {
  return typeof object === "object" && object !== null && "kind" in object && (object.kind === "Secret" || object.kind === "SecretList");
}

/** Where a value stands: decides which of its fields are payload. */
type Place = "object" | "secret" | "metadata" | "options" | "environment";

function redact(value: Json, place: Place): Json {
  if (Array.isArray(value)) return value.map((item) => redact(item, place === "environment" ? place : nested(item)));
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.create(null) as Record<string, Json>;
  for (const [key, field] of Object.entries(value)) copy[key] = redactField(key, field, place);
  if (place === "environment" && secretWord.test(String(copy["name"])) && "value" in copy) copy["value"] = hidden;
  return copy;
}

function nested(item: unknown): Place {
  return isSecret(item) ? "secret" : "object";
}

function redactField(key: string, field: Json, place: Place): Json {
  if (place === "secret" && (key === "data" || key === "stringData")) return hideAll(field);
  if (place === "secret" && key === "items" && Array.isArray(field)) return field.map((item) => redact(item, place));
  if (place === "options" && typeof field === "string" && secretWord.test(key)) return hidden;
  if (place === "metadata" && key === "annotations") return withoutLastApplied(field);
  if (key === "metadata") return redact(field, "metadata");
  if (key === "env") return redact(field, "environment");
  if (key === "options" || key === "volumeAttributes" || key === "parameters") return redact(field, "options");
  return redact(field, "object");
}

/** The annotation repeats the whole object, and so its payload. */
function withoutLastApplied(annotations: Json): Json {
  if (typeof annotations !== "object" || annotations === null) return annotations;
  const copy = Object.create(null) as Record<string, Json>;
  for (const [key, value] of Object.entries(annotations)) copy[key] = key === lastApplied ? hidden : value;
  return copy;
}

function hideAll(field: Json): Json {
  if (typeof field !== "object" || field === null) return hidden;
  const copy = Object.create(null) as Record<string, Json>;
  for (const key of Object.keys(field)) copy[key] = hidden;
  return copy;
}
