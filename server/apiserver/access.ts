/** Reading and changing objects in their canonical v1 form (see lib/kube/go-decode), where every value has the type of its field. */
import { isObject, newObject, type Json, type JsonObject } from "@/lib/kube/json";

export function objectAt(object: JsonObject | undefined, ...path: readonly string[]): JsonObject | undefined {
  let current: Json | undefined = object;
  for (const key of path) {
    if (!isObject(current)) return undefined;
    current = current[key];
  }
  return isObject(current) ? current : undefined;
}

/** The object at a key, made where it is missing. */
export function ensureObject(object: JsonObject, key: string): JsonObject {
  const known = object[key];
  if (isObject(known)) return known;
  const made = newObject();
  object[key] = made;
  return made;
}

export function textAt(object: JsonObject | undefined, key: string): string {
  const value = object?.[key];
  return typeof value === "string" ? value : "";
}

/** A pointer to a string: undefined where it is not set. */
export function optionalText(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === "string" ? value : undefined;
}

export function numberAt(object: JsonObject | undefined, key: string): number | undefined {
  const value = object?.[key];
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : undefined;
}

export function flagAt(object: JsonObject | undefined, key: string): boolean {
  return object?.[key] === true;
}

export function optionalFlag(object: JsonObject | undefined, key: string): boolean | undefined {
  const value = object?.[key];
  return typeof value === "boolean" ? value : undefined;
}

export function objectsAt(object: JsonObject | undefined, key: string): JsonObject[] {
  const value = object?.[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textsAt(object: JsonObject | undefined, key: string): string[] {
  const value = object?.[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function textMap(object: JsonObject | undefined, key: string): Map<string, string> {
  const map = new Map<string, string>();
  for (const [name, value] of Object.entries(objectAt(object, key) ?? {})) {
    if (typeof value === "string") map.set(name, value);
  }
  return map;
}

export function metadataOf(object: JsonObject): JsonObject {
  return ensureObject(object, "metadata");
}

/** Sets a key, or removes it where the value is undefined. */
export function assign(object: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete object[key];
  else object[key] = value;
}
