/** Lists in strategic merge patches: their order, their merge keys, what they may hold. Source: apimachinery v0.37.2, strategicpatch/patch.go. */
import { goPrint, goTypeName } from "./go-print";
import { isObject, newObject, type Json, type JsonObject } from "./json";
import { listOfLists, PatchError } from "./patch-error";
import { compareText } from "@/lib/names";

export const directive = "$patch";
export const retainKeys = "$retainKeys";
export const deletePrefix = "$deleteFromPrimitiveList";
export const orderPrefix = "$setElementOrder";

export function badType(expected: string, actual: Json | undefined): PatchError {
  return new PatchError(`expected a ${expected}, but received a ${goTypeName(actual)}`);
}

export function noMergeKey(item: JsonObject, mergeKey: string): PatchError {
  return new PatchError(`map: ${goPrint(item)} does not contain declared merge key: ${mergeKey}`);
}

export function asMap(item: Json | undefined): JsonObject {
  if (isObject(item)) return item;
  throw badType("map[string]interface {}", item);
}

/** The value of the merge key. Throws where it is missing. */
export function keyOf(item: Json | undefined, mergeKey: string): Json {
  const map = asMap(item);
  const value = map[mergeKey];
  if (value === undefined) throw noMergeKey(map, mergeKey);
  return value;
}

/** "map" or the name of the scalar type that all elements have. Throws where they differ, or there are none. */
export function elementType(...lists: readonly Json[][]): string {
  let type: string | undefined;
  for (const item of lists.flat()) {
    const current = goTypeName(item);
    if (type === undefined && Array.isArray(item)) throw listOfLists();
    if (type !== undefined && type !== current) throw new PatchError(`list element types are not identical: ${goPrint([...lists])}`);
    type = current;
  }
  if (type === undefined) throw new PatchError("no elements in any of the given slices");
  return type === "map[string]interface {}" ? "map" : type;
}

function indexIn(list: readonly Json[], item: Json, mergeKey: string, isMap: boolean): number {
  const read = (value: Json): Json => (isMap ? (isObject(value) ? value[mergeKey] ?? null : null) : value);
  return list.findIndex((candidate) => read(candidate) === read(item));
}

/** Sorts by `order`; elements to delete go last. What `order` does not name moves to the front, as Go's comparison has it. */
export function inOrder(items: readonly Json[], order: readonly Json[], mergeKey: string, isMap: boolean): Json[] {
  if (isMap) for (const item of [...items, ...order]) keyOf(item, mergeKey);
  const deleted = isMap ? items.filter((item) => asMap(item)[directive] === "delete") : [];
  const sorted = items.filter((item) => !deleted.includes(item) || !isMap);
  const less = (a: Json, b: Json): boolean => {
    const left = indexIn(order, a, mergeKey, isMap);
    const right = indexIn(order, b, mergeKey, isMap);
    return left >= 0 && right >= 0 ? left < right : true;
  };
  for (let i = 1; i < sorted.length; i += 1) {
    for (let j = i; j > 0; j -= 1) {
      const [before, after] = [sorted[j - 1] ?? null, sorted[j] ?? null];
      if (!less(after, before)) break;
      [sorted[j - 1], sorted[j]] = [after, before];
    }
  }
  return [...sorted, ...deleted];
}

export interface Orders {
  readonly patchOrder: readonly Json[];
  readonly serverOrder: readonly Json[];
}

/** Interleaves what the patch names with what only the server has, keeping both orders (normalizeElementOrder). */
export function interleave(parts: { patch: Json[]; serverOnly: Json[] }, orders: Orders, mergeKey: string, isMap: boolean): Json[] {
  const right = inOrder(parts.patch, orders.patchOrder, mergeKey, isMap);
  const left = inOrder(parts.serverOnly, orders.serverOrder, mergeKey, isMap);
  const out: Json[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [l, r] = [left[i], right[j]];
    if (l === undefined) out.push(r ?? null);
    else if (r === undefined) out.push(l);
    else {
      const li = indexIn(orders.serverOrder, l, mergeKey, isMap);
      const ri = indexIn(orders.serverOrder, r, mergeKey, isMap);
      const takeLeft = li >= 0 && ri >= 0 && li < ri;
      out.push(takeLeft ? l : r);
      if (takeLeft) i += 1;
      else j += 1;
      continue;
    }
    if (l === undefined) j += 1;
    else i += 1;
  }
  return out;
}

/** Splits by whether `by` names the element. */
export function partition(items: readonly Json[], by: readonly Json[], mergeKey: string): { patch: Json[]; serverOnly: Json[] } {
  const patch: Json[] = [];
  const serverOnly: Json[] = [];
  for (const item of items) {
    const named = mergeKey === "" ? by.includes(item) : findByKey(by, mergeKey, keyOf(item, mergeKey)) >= 0;
    (named ? patch : serverOnly).push(item);
  }
  return { patch, serverOnly };
}

export function findByKey(list: readonly Json[], mergeKey: string, value: Json): number {
  return list.findIndex((item, index) => {
    if (!isObject(item)) throw new PatchError(`value for key ${index} is not a map`);
    return item[mergeKey] !== undefined && item[mergeKey] === value;
  });
}

/** Keeps the first of equal scalars; the last element fills a gap, as in Go. */
export function withoutDuplicates(list: readonly Json[]): Json[] {
  const out = [...list];
  for (let i = 0; i < out.length - 1; i += 1) {
    for (let j = i + 1; j < out.length; j += 1) {
      if (out[i] !== out[j]) continue;
      const last = out.pop() ?? null;
      if (j < out.length) out[j] = last;
      j -= 1;
    }
  }
  return out;
}

export function sortScalars(list: readonly Json[]): Json[] {
  return [...list].sort((a, b) => compareText(goPrint(a), goPrint(b)));
}

/** By the text of the merge key; of elements with the same key the later one comes first, as Go's sort leaves short lists. */
export function sortByKey(list: readonly Json[], mergeKey: string): Json[] {
  const text = (item: Json): string => goPrint(asMap(item)[mergeKey]);
  return [...list].reverse().sort((a, b) => compareText(text(a), text(b)));
}

export function deleteMarker(mergeKey: string, value: Json): JsonObject {
  return newObject([[mergeKey, value], [directive, "delete"]]);
}
