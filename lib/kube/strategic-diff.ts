/**
 * Creating strategic merge patches: two-way (what makes `modified` of `original`) and three-way (what `kubectl apply` sends).
 * Source: apimachinery v0.37.2, strategicpatch/patch.go (diffMaps and what it calls, CreateThreeWayMergePatch).
 */
import type { GoType } from "./go-types";
import { goPrint, goTypeName } from "./go-print";
import { deepEqual, isObject, newObject, type Json, type JsonObject } from "./json";
import { listOfLists, PatchError } from "./patch-error";
import { deleteMarker, deletePrefix, directive, elementType, inOrder, keyOf, orderPrefix, retainKeys, sortByKey, sortScalars, withoutDuplicates } from "./patch-lists";
import { lookupField, lookupList, schemaOf, type PatchMeta } from "./patch-schema";
import { mergeStrategicPatches } from "./strategic-merge";
import { compareText } from "@/lib/names";

interface DiffOptions {
  readonly ignoreChangesAndAdditions: boolean;
  readonly ignoreDeletions: boolean;
}

/** Throws PatchError. */
export function createTwoWayPatch(structName: string, original: JsonObject, modified: JsonObject): JsonObject {
  return new Diff({ ignoreChangesAndAdditions: false, ignoreDeletions: false }).maps(original, modified, schemaOf(structName), false);
}

/**
 * The patch that brings `current` to `modified` and removes what `original` (the last applied object) had and `modified` has not. What
 * others added to `current` stays. Throws PatchError.
 */
export function createThreeWayPatch(structName: string, { original, modified, current }: Readonly<Record<"original" | "modified" | "current", JsonObject>>): JsonObject {
  const schema = schemaOf(structName);
  const changes = new Diff({ ignoreChangesAndAdditions: false, ignoreDeletions: true }).maps(current, modified, schema, false);
  const deletions = new Diff({ ignoreChangesAndAdditions: true, ignoreDeletions: false }).maps(original, modified, schema, false);
  return mergeStrategicPatches(structName, deletions, changes);
}

interface ListDiff {
  readonly patch: Json[];
  readonly deletions: Json[];
  readonly order: Json[];
}

class Diff {
  constructor(private readonly options: DiffOptions) {}

  maps(original: JsonObject, modified: JsonObject, schema: GoType, retain: boolean): JsonObject {
    const patch = newObject();
    const retained: string[] = [];
    for (const [key, value] of Object.entries(modified)) {
      if (value === undefined) continue;
      if (retain && value !== null) retained.push(key);
      const known = original[key];
      if (known === undefined) {
        if (!this.options.ignoreChangesAndAdditions) patch[key] = value;
      } else this.member({ patch, schema }, key, known, value);
    }
    if (!this.options.ignoreDeletions) {
      for (const key of Object.keys(original)) if (original[key] !== undefined && modified[key] === undefined) patch[key] = null;
    }
    const cleared = Object.keys(original).some((key) => modified[key] === undefined);
    if (retained.length > 0 && (Object.keys(patch).length > 0 || cleared)) patch[retainKeys] = sortScalars(retained);
    return patch;
  }

  private member(into: { patch: JsonObject; schema: GoType }, key: string, known: Json, value: Json): void {
    const { patch, schema } = into;
    if (key === directive) {
      if (typeof known !== "string" || typeof value !== "string") throw new PatchError(`invalid value for special key: ${directive}`);
      if (known !== value) patch[directive] = value;
    } else if (goTypeName(known) !== goTypeName(value)) {
      if (!this.options.ignoreChangesAndAdditions) patch[key] = value;
    } else if (isObject(known) && isObject(value)) this.map({ patch, schema }, key, known, value);
    else if (Array.isArray(known) && Array.isArray(value)) this.list({ patch, schema }, key, known, value);
    else this.replaceIfChanged(patch, key, known, value);
  }

  private map(into: { patch: JsonObject; schema: GoType }, key: string, known: JsonObject, value: JsonObject): void {
    const meta = metaOrSame(() => lookupField(into.schema, key), known, value);
    if (meta === undefined) return;
    if (meta.strategy === "replace") {
      if (!this.options.ignoreChangesAndAdditions) into.patch[key] = value;
      return;
    }
    const inner = this.maps(known, value, meta.type, meta.retainKeys);
    if (Object.keys(inner).length > 0) into.patch[key] = inner;
  }

  private list(into: { patch: JsonObject; schema: GoType }, key: string, known: Json[], value: Json[]): void {
    const meta = metaOrSame(() => lookupList(into.schema, key), known, value);
    if (meta === undefined) return;
    if (meta.strategy !== "merge") {
      this.replaceIfChanged(into.patch, key, known, value);
      return;
    }
    const { patch, deletions, order } = this.lists(known, value, meta);
    if (patch.length > 0) into.patch[key] = patch;
    if (deletions.length > 0) into.patch[`${deletePrefix}/${key}`] = deletions;
    if (order.length > 0) into.patch[`${orderPrefix}/${key}`] = order;
  }

  private replaceIfChanged(patch: JsonObject, key: string, known: Json, value: Json): void {
    if (!this.options.ignoreChangesAndAdditions && !deepEqual(known, value)) patch[key] = value;
  }

  private lists(original: Json[], modified: Json[], meta: PatchMeta): ListDiff {
    if (original.length === 0) {
      const added = modified.length === 0 || this.options.ignoreChangesAndAdditions ? [] : modified;
      return { patch: added, deletions: [], order: [] };
    }
    const type = elementType(original, modified);
    if (type === "[]interface {}") throw listOfLists();
    return type === "map" ? this.mapLists(original, modified, meta) : this.scalarLists(original, modified);
  }

  private mapLists(original: Json[], modified: Json[], meta: PatchMeta): ListDiff {
    const { changes, deletions } = this.mapElements(original, modified, meta);
    const patch = [...inOrder(changes, modified, meta.mergeKey, true), ...deletions];
    const sameOrder =
      original.length === modified.length && modified.every((item, at) => keyOf(original[at], meta.mergeKey) === keyOf(item, meta.mergeKey));
    const { ignoreChangesAndAdditions, ignoreDeletions } = this.options;
    const wanted = (!ignoreChangesAndAdditions && (patch.length > 0 || !sameOrder)) || (!ignoreDeletions && patch.length > 0);
    const order = wanted ? modified.map((item): Json => newObject([[meta.mergeKey, keyOf(item, meta.mergeKey)]])) : [];
    return { patch, deletions: [], order };
  }

  private mapElements(original: Json[], modified: Json[], meta: PatchMeta): { changes: Json[]; deletions: Json[] } {
    const changes: Json[] = [];
    const deletions: Json[] = [];
    const before = sortByKey(original, meta.mergeKey);
    const after = sortByKey(modified, meta.mergeKey);
    let [i, j] = [0, 0];
    while (i < before.length || j < after.length) {
      const [known, value] = [before[i], after[j]];
      const knownKey = known === undefined ? undefined : keyOf(known, meta.mergeKey);
      const valueKey = value === undefined ? undefined : keyOf(value, meta.mergeKey);
      const side = known === undefined ? 1 : value === undefined ? -1 : compareText(goPrint(knownKey), goPrint(valueKey));
      if (side === 0) {
        const inner = this.maps(isObject(known) ? known : newObject(), isObject(value) ? value : newObject(), meta.type, meta.retainKeys);
        if (Object.keys(inner).length > 0) changes.push(newObject([...Object.entries(inner).filter(([key]) => key !== meta.mergeKey), [meta.mergeKey, valueKey]]));
      } else if (side > 0 && !this.options.ignoreChangesAndAdditions) changes.push(value ?? null);
      else if (side < 0 && !this.options.ignoreDeletions) deletions.push(deleteMarker(meta.mergeKey, knownKey ?? null));
      if (side <= 0) i += 1;
      if (side >= 0) j += 1;
    }
    return { changes, deletions };
  }

  private scalarLists(original: Json[], modified: Json[]): ListDiff {
    const added: Json[] = [];
    const removed: Json[] = [];
    const before = sortScalars(original);
    const after = sortScalars(modified);
    let [i, j] = [0, 0];
    while (i < before.length || j < after.length) {
      const [known, value] = [before[i], after[j]];
      const side = known === undefined ? 1 : value === undefined ? -1 : compareText(goPrint(known), goPrint(value));
      if (side > 0 && !this.options.ignoreChangesAndAdditions) added.push(value ?? null);
      if (side < 0 && !this.options.ignoreDeletions) removed.push(known ?? null);
      if (side <= 0) i += 1;
      if (side >= 0) j += 1;
    }
    const deletions = withoutDuplicates(removed);
    const { ignoreChangesAndAdditions, ignoreDeletions } = this.options;
    const ordered = (!ignoreDeletions && deletions.length > 0) || (!ignoreChangesAndAdditions && !deepEqual(original, modified));
    return { patch: inOrder(added, modified, "", false), deletions, order: ordered ? modified : [] };
  }
}

/** Values that are equal need no metadata; a field without any is an error otherwise. */
function metaOrSame(find: () => PatchMeta, known: Json, value: Json): PatchMeta | undefined {
  try {
    return find();
  } catch (error) {
    if (deepEqual(known, value)) return undefined;
    throw error;
  }
}
