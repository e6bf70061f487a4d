/**
 * JSON merge patches (RFC 7386) as the API server applies them. Source: gopkg.in/evanphx/json-patch.v4, merge.go: objects that the
 * patch reaches come out with sorted keys, the others as they were.
 */
import { isObject, newObject, parseJson, type Json, type JsonObject } from "./json";
import { compareText } from "@/lib/names";

/** A merge patch that is no object and no array; the message is Go's. */
export class MergePatchError extends Error {
  readonly code = "bad-patch";
}

/** The patch of a text. An array replaces the document as it is. Throws MergePatchError. */
export function parseMergePatch(text: string): JsonObject | Json[] {
  let value: Json;
  try {
    value = parseJson(text).value;
  } catch (error) {
    throw new MergePatchError("Invalid JSON Patch", { cause: error });
  }
  if (Array.isArray(value)) return value.map(prune);
  if (isObject(value)) return value;
  throw new MergePatchError("Invalid JSON Patch");
}

/** Returns a new value; `document` is not changed. */
export function applyMergePatch(document: JsonObject, patch: JsonObject): JsonObject {
  return mergeObjects(document, patch);
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  const merged = newObject(Object.entries(document));
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete merged[key];
    else merged[key] = mergeValue(merged[key], value);
  }
  return sorted(merged);
}

function mergeValue(known: Json | undefined, value: Json): Json {
  if (!isObject(known)) return prune(value);
  return isObject(value) ? mergeObjects(known, value) : value;
}

/** Where the document has no object, a null has nothing to remove and disappears; elements of arrays stay. */
function prune(value: Json): Json {
  if (Array.isArray(value)) return value.map(prune);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([key, item]): [string, Json][] => (item === undefined || item === null ? [] : [[key, prune(item)]]));
  return sorted(newObject(kept));
}

function sorted(object: JsonObject): JsonObject {
  return newObject(Object.entries(object).sort(([a], [b]) => compareText(a, b)));
}
