/**
 * Objects as Kubernetes' internal types print them: the form in which its refusals show a value or a difference. Internal types carry
 * no JSON tags: every field is written, under its Go name, in the order of the type.
 */
import { zeroOf } from "./go-decode";
import { declaredFields, type GoField, type GoType } from "./go-types";
import { isObject, newObject, type Json, type JsonObject } from "./json";
import { goJsonInOrder } from "@/lib/go-text";
import { unifiedDiff } from "@/lib/unified-diff";

/** The internal form of a canonical v1 value. Both names are struct names of go-types.json (`core/v1.PodSpec`, `core.PodSpec`). */
export function toInternal(v1Name: string, internalName: string, value: Json | undefined): JsonObject {
  const source = isObject(value) ? value : newObject();
  const byGoName = new Map<string, GoField>();
  collect(v1Name, byGoName);
  const out = newObject();
  for (const field of declaredFields(internalName) ?? []) {
    if (field.embedded && field.type.kind === "struct") Object.assign(out, toInternal(v1Name, field.type.name, source));
    else out[field.goName] = internalField(field, { byGoName, source });
  }
  return out;
}

interface Source {
  readonly byGoName: ReadonlyMap<string, GoField>;
  readonly source: JsonObject;
}

function collect(name: string, into: Map<string, GoField>): void {
  for (const field of declaredFields(name) ?? []) {
    if (field.embedded && field.type.kind === "struct") collect(field.type.name, into);
    else into.set(field.goName, field);
  }
}

function internalField(field: GoField, { byGoName, source }: Source): Json {
  const from = byGoName.get(field.goName);
  return from === undefined ? zeroInternal(field.type) : convert(from.type, field.type, source[from.jsonName]);
}

function convert(from: GoType, to: GoType, value: Json | undefined): Json {
  if (to.kind === "pointer") {
    if (value === undefined || value === null) return null;
    return convert(from.kind === "pointer" ? from.elem : from, to.elem, value);
  }
  const source = from.kind === "pointer" ? from.elem : from;
  if (value === undefined || value === null) return zeroInternal(to);
  if (to.kind === "struct" && source.kind === "struct") {
    return to.name === source.name ? value : toInternal(source.name, to.name, value);
  }
  if (to.kind === "list" && source.kind === "list" && Array.isArray(value)) return value.map((item) => convert(source.elem, to.elem, item));
  if (to.kind === "map" && source.kind === "map" && isObject(value)) {
    return newObject(Object.keys(value).sort().map((key) => [key, convert(source.elem, to.elem, value[key])]));
  }
  return value;
}

function zeroInternal(type: GoType): Json {
  if (type.kind !== "struct") return zeroOf(type);
  return type.name.includes("/") ? newObject() : toInternal("", type.name, undefined);
}

/** json.MarshalIndent with one space. */
function prettyJson(value: Json, indent = ""): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((item) => `${indent} ${prettyJson(item, `${indent} `)}`).join(",\n")}\n${indent}]`;
  }
  if (isObject(value)) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (entries.length === 0) return "{}";
    return `{\n${entries.map(([key, item]) => `${indent} ${goJsonInOrder(key)}: ${prettyJson(item ?? null, `${indent} `)}`).join(",\n")}\n${indent}}`;
  }
  return goJsonInOrder(value);
}

/** k8s.io/apimachinery/pkg/util/diff.Diff of two internal values. */
export function goDiff(before: Json, after: Json): string {
  return unifiedDiff(prettyJson(before), prettyJson(after));
}
