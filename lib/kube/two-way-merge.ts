/**
 * The strategic merge patch between two versions of an object, as clients of Kubernetes send it.
 * Source: apimachinery v1.37.2, pkg/util/strategicpatch/patch.go (CreateTwoWayMergePatch, diffMaps, diffLists).
 */
import { AppError } from "@/lib/errors";
import { compareText } from "@/lib/names";

/** How the fields of a type merge; a field that is not named merges when it is a map, and is replaced when it is a list. */
export type MergeSchema = (field: string) => MergeRule | undefined;

export interface MergeRule {
  /** A list merges: by this key when its elements are maps, by value when they are scalars. Absent: the list is replaced. */
  readonly merge?: { readonly key: string };
  /** The patch lists the keys that stay (`$retainKeys`): for unions such as volumes. */
  readonly retainKeys?: boolean;
  /** The map as a whole is replaced, never merged. */
  readonly replace?: boolean;
  /** Of the field's own fields, or of its elements'. */
  readonly fields?: MergeSchema;
}

export type JsonMap = Readonly<Record<string, unknown>>;

/**
 * The patch that turns `original` into `modified`; empty when they are equal. Keys without a value (undefined) count as absent.
 * @throws AppError `invalid` with Go's text for a list element without its merge key.
 */
export function createTwoWayMergePatch(original: JsonMap, modified: JsonMap, schema: MergeSchema): Record<string, unknown> {
  return diffMaps(original, modified, { schema, retainKeys: false });
}

interface Context {
  readonly schema: MergeSchema | undefined;
  readonly retainKeys: boolean;
}

function diffMaps(original: JsonMap, modified: JsonMap, { schema, retainKeys }: Context): Record<string, unknown> {
  const patch = new Map<string, unknown>();
  const kept = keysOf(modified).filter((key) => modified[key] !== null);
  for (const key of keysOf(modified)) {
    const value = modified[key];
    const before = own(original, key);
    if (before === undefined || typeOf(before) !== typeOf(value)) patch.set(key, value);
    else for (const [name, difference] of diffValues(key, [before, value], schema?.(key))) patch.set(name, difference);
  }
  for (const key of keysOf(original)) if (own(modified, key) === undefined) patch.set(key, null);
  const dropped = keysOf(original).some((key) => own(modified, key) === undefined);
  if (retainKeys && kept.length > 0 && (patch.size > 0 || dropped)) patch.set("$retainKeys", kept.sort(compareText));
  return Object.fromEntries(patch);
}

function diffValues(key: string, [before, after]: readonly [unknown, unknown], rule: MergeRule | undefined): [string, unknown][] {
  if (isMap(before) && isMap(after)) {
    if (rule?.replace === true) return [[key, after]];
    const difference = diffMaps(before, after, { schema: rule?.fields, retainKeys: rule?.retainKeys === true });
    return keysOf(difference).length > 0 ? [[key, difference]] : [];
  }
  if (Array.isArray(before) && Array.isArray(after) && rule?.merge !== undefined) return diffLists(key, [before, after], rule);
  return equal(before, after) ? [] : [[key, after]];
}

function diffLists(key: string, [before, after]: readonly [unknown[], unknown[]], rule: MergeRule): [string, unknown][] {
  if (before.length === 0) return after.length === 0 ? [] : [[key, after]];
  const { changes, deletions, order } = before.concat(after).every(isMap)
    ? diffMapLists(before.filter(isMap), after.filter(isMap), rule)
    : diffScalarLists(before, after);
  const parts: [string, unknown[]][] = [
    [key, changes],
    [`$deleteFromPrimitiveList/${key}`, deletions],
    [`$setElementOrder/${key}`, order],
  ];
  return parts.filter(([, list]) => list.length > 0);
}

interface ListDifference {
  readonly changes: unknown[];
  readonly deletions: unknown[];
  readonly order: unknown[];
}

function diffMapLists(before: readonly JsonMap[], after: readonly JsonMap[], rule: MergeRule): ListDifference {
  const mergeKey = rule.merge?.key ?? "";
  const changed: JsonMap[] = [];
  const deleted: JsonMap[] = [];
  const [left, right] = [sortedBy(before, mergeKey), sortedBy(after, mergeKey)];
  let [i, j] = [0, 0];
  for (;;) {
    const [old, now] = [left[i], right[j]];
    if (old === undefined && now === undefined) break;
    const order = old === undefined ? 1 : now === undefined ? -1 : compareText(goValue(old[mergeKey]), goValue(now[mergeKey]));
    if (old !== undefined && now !== undefined && order === 0) {
      const difference = diffMaps(old, now, { schema: rule.fields, retainKeys: rule.retainKeys === true });
      if (keysOf(difference).length > 0) changed.push({ ...difference, [mergeKey]: now[mergeKey] });
    } else if (now !== undefined && order > 0) changed.push(now);
    else deleted.push({ $patch: "delete", [mergeKey]: old?.[mergeKey] });
    if (order <= 0) i += 1;
    if (order >= 0) j += 1;
  }
  const position = (item: JsonMap): number => after.findIndex((other) => equal(other[mergeKey], item[mergeKey]));
  const changes = [...changed.sort((a, b) => position(a) - position(b)), ...deleted];
  const sameOrder = before.length === after.length && before.every((item, index) => equal(item[mergeKey], after[index]?.[mergeKey]));
  const order = changes.length > 0 || !sameOrder ? after.map((item) => ({ [mergeKey]: item[mergeKey] })) : [];
  return { changes, deletions: [], order };
}

function diffScalarLists(before: readonly unknown[], after: readonly unknown[]): ListDifference {
  const left = new Set(before.map(goValue));
  const right = new Set(after.map(goValue));
  const changes = after.filter((item) => !left.has(goValue(item)));
  const deletions = [...before].filter((item) => !right.has(goValue(item))).sort(byGoValue);
  return { changes, deletions: [...new Set(deletions)], order: equal(before, after) ? [] : [...after] };
}

/** By merge key; of several with the same key the last comes first, as Go's sort leaves them. */
function sortedBy(items: readonly JsonMap[], mergeKey: string): JsonMap[] {
  const stray = items.find((item) => own(item, mergeKey) === undefined);
  if (stray !== undefined) throw new AppError("invalid", `map: ${goValue(stray)} does not contain declared merge key: ${mergeKey}`);
  return items.toReversed().sort((a, b) => compareText(goValue(a[mergeKey]), goValue(b[mergeKey])));
}

// Values

function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function keysOf(map: JsonMap): string[] {
  return Object.keys(map).filter((key) => map[key] !== undefined);
}

function own(map: JsonMap, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (!isMap(a) || !isMap(b)) return a === b;
  const keys = keysOf(a);
  return keys.length === keysOf(b).length && keys.every((key) => equal(a[key], own(b, key)));
}

/** `%v` of a decoded JSON value. */
function goValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (isMap(value)) return `map[${keysOf(value).sort(compareText).map((key) => `${key}:${goValue(value[key])}`).join(" ")}]`;
  return String(value);
}

function byGoValue(a: unknown, b: unknown): number {
  return compareText(goValue(a), goValue(b));
}
