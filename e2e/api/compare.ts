/** What of two answers has to be equal, and what cannot be. */
import { parse as parseYaml } from "yaml";
import type { Received } from "./client";
import { omissions } from "./omissions";

/** The first difference in words, or undefined. */
export function difference(real: Received, ours: Received): string | undefined {
  for (const key of ["code", "contentType", "warning", "retryAfter"] as const) {
    if (real[key] !== ours[key]) return `${key}: real ${JSON.stringify(real[key])}, ours ${JSON.stringify(ours[key])}\n    real ${cut(real.text)}\n    ours ${cut(ours.text)}`;
  }
  if (real.contentType.includes("yaml")) return deepDifference(prepared(parseYaml(real.text)), prepared(parseYaml(ours.text)), "");
  if (!real.contentType.includes("json")) return maskedText(real.text) === maskedText(ours.text) ? undefined : `text:\n    real ${cut(real.text)}\n    ours ${cut(ours.text)}`;
  const values = { real: lines(real.text), ours: lines(ours.text) };
  const count = Math.max(values.real.length, values.ours.length);
  for (let index = 0; index < count; index += 1) {
    const found = deepDifference(values.real[index], values.ours[index], "");
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A JSON or YAML document in a form that can be compared as text. */
export function preparedText(text: string): string {
  return JSON.stringify(prepared(parseYaml(text)), null, 1);
}

/** One document, or a watch's one per line. */
function lines(text: string): unknown[] {
  try {
    return [prepared(JSON.parse(text))];
  } catch {
    return watchLines(text);
  }
}

function watchLines(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => prepared(JSON.parse(line)));
}

function prepared(value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  for (const { object, kind } of objectsOf(copy)) for (const { drop } of omissions) drop(object, kind);
  return maskedDeep(copy);
}

type Plain = Record<string, unknown>;

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Found {
  readonly object: Plain;
  readonly kind: string;
}

/** Every API object in a document: itself, a list's items (which do not name their kind), a table's row objects, a watch event's object. */
function objectsOf(value: unknown, itemKind = ""): Found[] {
  if (!isPlain(value)) return [];
  const kind = String(value["kind"] ?? itemKind);
  const items = Array.isArray(value["items"]) ? value["items"].flatMap((item) => objectsOf(item, kind.replace(/List$/u, ""))) : [];
  const rows = Array.isArray(value["rows"]) ? value["rows"].flatMap((row: unknown) => (isPlain(row) ? objectsOf(row["object"]) : [])) : [];
  return [{ object: value, kind }, ...items, ...rows, ...objectsOf(value["object"])];
}

const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu, "UID"],
  [/,\\?"managedFields\\?":\[[^\]]*\]/gu, ""],
  [/(\\?"resourceVersion\\?":\\?")\d+/gu, "$1VERSION"],
  [/\bapi_[a-z0-9]{5}\b/gu, "GENERATED"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/gu, "TIME"],
];

/** Ids and times replaced by words. */
export function maskedText(text: string): string {
  return masks.reduce((result, [pattern, word]) => result.replace(pattern, word), text);
}

function maskedDeep(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => maskedDeep(item, key));
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskedDeep(item, name)]));
  if (typeof value !== "string") return value;
  if (key === "resourceVersion" || key === "continue") return value === "" ? "" : "OPAQUE";
  return key === "cells" && /^(\d+[smhdy])+$/u.test(value) ? "AGE" : maskedText(value);
}

function deepDifference(real: unknown, ours: unknown, path: string): string | undefined {
  if (isPlain(real) && isPlain(ours)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
      const found = deepDifference(real[key], ours[key], `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length) {
    for (const [index, item] of real.entries()) {
      const found = deepDifference(item, ours[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Object.is(real, ours)) return undefined;
  return `body${path}\n    real ${cut(JSON.stringify(real) ?? "nothing")}\n    ours ${cut(JSON.stringify(ours) ?? "nothing")}`;
}

function cut(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)}...` : text;
}
