/** What a golden asks of an update: old object, new object, and the difference to what the server would answer. */
import type { Answer } from "@/e2e/goldens/adapter";
import { goldenContext, kindOf, plain, toObject, type World } from "@/e2e/goldens/api-context";
import { codeOf, messageOf } from "@/lib/errors";
import { deepEqual, isObject, newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { complete } from "@/server/apiserver/codec";
import { isApiError } from "@/server/apiserver/status";
import { rulesOf, type UpdateRules } from "@/server/apiserver/rules";
import { applyUpdateRules } from "@/server/apiserver/update";
import { Warnings } from "@/server/apiserver/warnings";

export interface UpdateCase extends World {
  /** "" is the object itself. */
  readonly subresource: string;
  /** False: strategy and validation alone. */
  readonly admission?: boolean;
}

/** The rules alone, in the order of the server: prepare, validate, admit. */
export function updateAnswer(input: Readonly<Record<string, unknown>>, { subresource, admission = true, ...world }: UpdateCase): Answer {
  const context = goldenContext({ gates: input["gates"], ...world });
  try {
    const kind = kindOf(context.kinds, toObject(input["old"]));
    const all = rulesOf(kind);
    const rules: UpdateRules | undefined = subresource === "" ? all.update : all.subresources?.[subresource];
    if (rules === undefined) throw new Error(`no subresource ${subresource}`);
    const warnings = new Warnings();
    const decode = (value: unknown): JsonObject => complete(kind, toObject(value), { keepEmpty: true });
    const ready = applyUpdateRules({ context, kind, rules: admission ? rules : { ...rules, admit: undefined }, warnings }, decode(input["old"]), decode(input["new"]));
    const diff = plain(mergeDiff(toObject(input["old"]), ready));
    return { out: { diff, ...(warnings.list().length > 0 ? { warnings: warnings.list() } : {}) } };
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
