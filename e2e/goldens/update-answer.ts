/** What a golden asks of an update: old object, new object, and the difference to what the server would answer. */
import type { Answer } from "@/e2e/goldens/adapter";
import { goldenContext, kindOf, toObject, type World } from "@/e2e/goldens/api-context";
import { codeOf, messageOf } from "@/lib/errors";
import { deepCopy, deepEqual, isObject, newObject, stringifyJson, type Json, type JsonObject } from "@/lib/kube/json";
import { textAt } from "@/server/apiserver/access";
import { complete } from "@/server/apiserver/codec";
import { invalidError, isApiError } from "@/server/apiserver/status";
import { rulesOf, type UpdateRules } from "@/server/apiserver/rules";

export interface UpdateCase extends World {
  /** "" is the object itself. */
  readonly subresource: string;
}

/** The rules alone, in the order of the server: prepare, validate, admit. */
export function updateAnswer(input: Readonly<Record<string, unknown>>, { subresource, ...world }: UpdateCase): Answer {
  const context = goldenContext({ gates: input["gates"], ...world });
  try {
    const kind = kindOf(context.kinds, toObject(input["old"]));
    const old = complete(kind, toObject(input["old"]));
    const next = complete(kind, toObject(input["new"]));
    const before = deepCopy(old);
    const all = rulesOf(kind);
    const rules: UpdateRules | undefined = subresource === "" ? all.update : all.subresources?.[subresource];
    if (rules === undefined) throw new Error(`no subresource ${subresource}`);
    rules.prepare(next, old, context);
    const ready = complete(kind, next);
    const errors = rules.validate(ready, old, context);
    const metadata = isObject(ready["metadata"]) ? ready["metadata"] : newObject();
    if (errors.length > 0) throw invalidError(kind, textAt(metadata, "name"), errors);
    const warnings = rules.warnings?.(ready, old) ?? [];
    rules.admit?.(ready, old, context);
    const diff: unknown = JSON.parse(stringifyJson(mergeDiff(before, ready)));
    return { out: { diff, ...(warnings.length > 0 ? { warnings } : {}) } };
  } catch (error) {
    if (isApiError(error)) return { err: error.status };
    if (codeOf(error) === "decode") return { err: { decode: messageOf(error) } };
    throw error;
  } finally {
    context.store.close();
  }
}

/** The JSON merge patch from one object to another. */
function mergeDiff(before: JsonObject, after: JsonObject): JsonObject {
  const diff = newObject();
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, next]: (Json | undefined)[] = [before[key], after[key]];
    if (next === undefined) diff[key] = null;
    else if (isObject(old) && isObject(next)) {
      const inner = mergeDiff(old, next);
      if (Object.keys(inner).length > 0) diff[key] = inner;
    } else if (!deepEqual(old, next)) diff[key] = next;
  }
  return diff;
}
