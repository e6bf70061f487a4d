/**
 * Strategic merge patches: applied to an object of a known kind. Source: apimachinery v0.37.2, strategicpatch/patch.go (mergeMap and what
 * it calls). Creating patches is in strategic-diff.ts.
 */
import { goPrint, goTypeName } from "./go-print";
import type { GoType } from "./go-types";
import { deepCopy, deepEqual, isObject, jsonKind, newObject, parseJson, type Json, type JsonObject } from "./json";
import { badElementOrder, badPrimitiveList, badRetainKeys, PatchError } from "./patch-error";
import {
  asMap, badType, deletePrefix, directive, elementType, findByKey, interleave, keyOf, noMergeKey, orderPrefix, partition, retainKeys, withoutDuplicates,
} from "./patch-lists";
import { goKind, lookupField, lookupList, schemaOf, type PatchMeta } from "./patch-schema";

export interface MergeOptions {
  /** Carry out parallel lists ($deleteFromPrimitiveList, $setElementOrder); otherwise keep them: the original is a patch itself. */
  readonly mergeParallelLists: boolean;
  /** A null that matches nothing is dropped; otherwise kept. */
  readonly ignoreUnmatchedNulls: boolean;
}

/** Applies a patch to a canonical object of the struct (`core/v1.Pod`). Neither argument is changed. Throws PatchError. */
export function applyStrategicMergePatch(structName: string, original: JsonObject, patch: JsonObject): JsonObject {
  const options = { mergeParallelLists: true, ignoreUnmatchedNulls: true };
  return new Merge(options).maps(deepCopy(original), deepCopy(patch), schemaOf(structName));
}

/** The patch of a text; null is the empty patch. Throws with the words of Go's decoder. */
export function objectOfPatch(text: string): JsonObject {
  const { value } = parseJson(text);
  if (isObject(value)) return value;
  if (value === null) return newObject();
  throw new PatchError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`, 400);
}

/** Merges two patches into one that does what both do, one after the other. Throws PatchError. */
export function mergeStrategicPatches(structName: string, first: JsonObject, second: JsonObject): JsonObject {
  const options = { mergeParallelLists: false, ignoreUnmatchedNulls: false };
  return new Merge(options).maps(deepCopy(first), deepCopy(second), schemaOf(structName));
}

class Merge {
  constructor(private readonly options: MergeOptions) {}

  maps(original: JsonObject, patch: JsonObject, schema: GoType): JsonObject {
    const marker = patch[directive];
    if (marker !== undefined) return marked(marker, patch);
    this.retainKeys(original, patch);
    this.elementOrders(original, patch, schema);
    for (const [name, value] of Object.entries(patch)) {
      if (value !== undefined) this.member({ original, schema }, name, value);
    }
    return original;
  }

  private member({ original, schema }: { original: JsonObject; schema: GoType }, name: string, value: Json): void {
    const isDelete = name.startsWith(deletePrefix);
    if (isDelete && !this.options.mergeParallelLists) {
      original[name] = value;
      return;
    }
    const key = isDelete ? afterPrefix(name, deletePrefix) : name;
    if (value === null) {
      delete original[key];
      if (this.options.ignoreUnmatchedNulls) return;
    }
    const known = original[key];
    if (known === undefined || goTypeName(known) !== goTypeName(value)) {
      if (!isDelete) this.take(original, key, value);
    } else if (isObject(known) && isObject(value)) {
      const meta = lookupField(schema, key);
      original[key] = meta.strategy === "replace" ? value : this.maps(known, value, meta.type);
    } else if (Array.isArray(known) && Array.isArray(value)) {
      const meta = lookupList(schema, key);
      original[key] = this.list(known, value, meta, isDelete);
    } else original[key] = value;
  }

  /** A value that the original lacks is taken as it is, without directives. */
  private take(original: JsonObject, key: string, value: Json): void {
    if (this.options.ignoreUnmatchedNulls) dropNulls(value);
    const clean = withoutDirectives(value);
    if (clean === undefined) delete original[key];
    else original[key] = clean;
  }

  private list(original: Json[], patch: Json[], meta: PatchMeta, isDelete: boolean): Json[] {
    return meta.strategy === "merge" || isDelete ? this.mergeLists(original, patch, meta, isDelete) : patch;
  }

  private mergeLists(original: Json[], patch: Json[], meta: PatchMeta, isDelete: boolean): Json[] {
    if (original.length === 0 && patch.length === 0) return original;
    const isMap = elementType(original, patch) === "map";
    if (!isMap && this.options.mergeParallelLists && isDelete) return original.filter((item) => !patch.includes(item));
    let [server, named] = [original, patch];
    let merged: Json[];
    if (isMap) {
      if (meta.mergeKey === "") throw new PatchError(`cannot merge lists without merge key for ${goKind(meta.type)}`);
      [server, named] = carryOutMarkers(original, patch, meta.mergeKey);
      merged = this.mergeElements(server, named, meta);
    } else merged = withoutDuplicates([...original, ...patch]);
    return interleave(partition(merged, named, meta.mergeKey), { patchOrder: named, serverOrder: server }, meta.mergeKey, isMap);
  }

  private mergeElements(original: readonly Json[], patch: readonly Json[], meta: PatchMeta): Json[] {
    const merged = [...original];
    for (const item of patch) {
      const value = keyOf(item, meta.mergeKey);
      const at = findByKey(merged, meta.mergeKey, value);
      if (at < 0) merged.push(item);
      else merged[at] = this.maps(asMap(merged[at]), asMap(item), meta.type);
    }
    return merged;
  }

  /** `$retainKeys`: what it does not name is cleared from the original. */
  private retainKeys(original: JsonObject, patch: JsonObject): void {
    const list = patch[retainKeys];
    if (list === undefined) return;
    delete patch[retainKeys];
    if (!this.options.mergeParallelLists) {
      const known = original[retainKeys];
      if (known !== undefined && !deepEqual(known, list)) {
        throw new PatchError(`${goPrint(known)} and ${goPrint(list)} are not deep equal: this may happen when calculating the 3-way diff patch`);
      }
      original[retainKeys] = list;
      return;
    }
    if (!Array.isArray(list)) throw badRetainKeys();
    for (const [key, value] of Object.entries(patch)) {
      const parallel = key.startsWith(deletePrefix) || key.startsWith(orderPrefix);
      if (value !== null && value !== undefined && !parallel && !list.includes(key)) throw badRetainKeys();
    }
    for (const key of Object.keys(original)) if (!list.includes(key)) delete original[key];
  }

  /** `$setElementOrder/x`: merges list x at once, in the order that it gives. */
  private elementOrders(original: JsonObject, patch: JsonObject, schema: GoType): void {
    for (const [name, order] of Object.entries(patch)) {
      if (!name.startsWith(orderPrefix) || order === undefined) continue;
      if (!this.options.mergeParallelLists) {
        if (original[name] !== undefined && !deepEqual(original[name], order)) throw badElementOrder();
        original[name] = order;
      }
      delete patch[name];
      if (!Array.isArray(order)) throw badType("[]interface {}", order);
      this.orderedList({ original, patch, schema }, afterPrefix(name, orderPrefix), order);
    }
  }

  private orderedList(maps: { original: JsonObject; patch: JsonObject; schema: GoType }, key: string, order: Json[]): void {
    const { original, patch } = maps;
    const known = listAt(original, key);
    const given = listAt(patch, key);
    const meta = lookupList(maps.schema, key);
    checkOrder(given ?? [], order, meta.mergeKey);
    if (known === undefined && given === undefined) return;
    const before = known === undefined ? [] : [...known];
    const merged = given === undefined ? (known ?? []) : known === undefined ? cleanList(given) : this.list(known, given, meta, false);
    const parts = partition(merged, order, meta.mergeKey);
    const isMap = elementType(before, given ?? []) === "map";
    original[key] = interleave(parts, { patchOrder: order, serverOrder: before }, meta.mergeKey, isMap);
    delete patch[key];
  }
}

function listAt(map: JsonObject, key: string): Json[] | undefined {
  const value = map[key];
  if (value === undefined || Array.isArray(value)) return value;
  throw badType("[]interface {}", value);
}

function cleanList(list: Json[]): Json[] {
  const clean = withoutDirectives(list);
  return Array.isArray(clean) ? clean : [];
}

/** `$patch: replace` takes the patch as it is, `$patch: delete` leaves nothing. */
function marked(marker: Json, patch: JsonObject): JsonObject {
  if (marker === "replace") {
    delete patch[directive];
    return patch;
  }
  if (marker === "delete") return newObject();
  throw badMarker(marker, patch);
}

function badMarker(marker: Json, patch: JsonObject): PatchError {
  const shown = typeof marker === "string" ? marker : `%!s(${goTypeName(marker)}=${goPrint(marker)})`;
  return new PatchError(`unknown patch type: ${shown} in map: ${goPrint(patch)}`);
}

/** Elements with `$patch` are carried out on the original and taken out of the patch. */
function carryOutMarkers(original: Json[], patch: readonly Json[], mergeKey: string): [Json[], Json[]] {
  let server = original;
  let replace = false;
  const rest: Json[] = [];
  for (const item of patch) {
    const map = asMap(item);
    const marker = map[directive];
    if (marker === undefined) rest.push(item);
    else if (marker === "delete") {
      const value = map[mergeKey];
      if (value === undefined) throw noMergeKey(map, mergeKey);
      for (let at = findByKey(server, mergeKey, value); at >= 0; at = findByKey(server, mergeKey, value)) server.splice(at, 1);
    } else if (marker === "replace") replace = true;
    else if (marker === "merge") throw new PatchError("merging lists cannot yet be specified in the patch");
    else throw badMarker(marker, map);
  }
  if (replace) {
    server = rest;
    return [server, []];
  }
  return [server, rest];
}

/** Elements of the patch must stand in the order of `$setElementOrder`, and all be named there. */
function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const kept = mergeKey === "" ? patch : patch.filter((item) => asMap(item)[directive] !== "delete");
  let [at, place] = [0, 0];
  while (at < kept.length && place < order.length) {
    const item = kept[at] ?? null;
    if (isObject(item) && item[directive] !== undefined) {
      at += 1;
      continue;
    }
    const equal = mergeKey === "" ? item === order[place] : keyOf(item, mergeKey) === keyOf(order[place], mergeKey);
    if (equal) at += 1;
    place += 1;
  }
  if (at < kept.length && place >= order.length) {
    throw new PatchError(`The order in patch list:\n${goPrint([...patch])}\n doesn't match ${orderPrefix} list:\n${goPrint([...order])}\n`);
  }
}

function afterPrefix(name: string, prefix: string): string {
  const slash = name.indexOf("/");
  if (slash < 0 || name.slice(0, slash) !== prefix) throw prefix === deletePrefix ? badPrimitiveList() : badElementOrder();
  return name.slice(slash + 1);
}

function dropNulls(value: Json): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (item === null) delete value[key];
      else if (item !== undefined) dropNulls(item);
    }
  }
}

/** Undefined where the value itself is a directive. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (value[directive] !== undefined) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const clean = item === undefined ? undefined : withoutDirectives(item);
    if (clean === undefined) delete value[key];
    else value[key] = clean;
  }
  return value;
}
