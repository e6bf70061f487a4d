/** What a golden asks of a create: the object with its defaults, or the refusal. */
import type { Answer } from "@/e2e/goldens/adapter";
import { goldenContext, kindOf, plain, toObject } from "@/e2e/goldens/api-context";
import { codeOf, messageOf } from "@/lib/errors";
import { metadataOf, textAt } from "@/server/apiserver/access";
import { complete } from "@/server/apiserver/codec";
import { matchNamespace } from "@/server/apiserver/create";
import { rulesOf } from "@/server/apiserver/rules";
import { invalidError, isApiError } from "@/server/apiserver/status";

/** The rules alone: no uid, no creation time. */
export function createAnswer(value: unknown): Answer {
  const context = goldenContext({});
  try {
    const kind = kindOf(context.kinds, toObject(value));
    const object = complete(kind, toObject(value), { keepEmpty: true });
    const namespace = kind.namespaced ? textAt(metadataOf(object), "namespace") || "default" : "";
    matchNamespace(metadataOf(object), { kind, namespace, name: "", subresource: "" });
    const rules = rulesOf(kind);
    rules.prepareForCreate(object, context);
    const ready = complete(kind, object, { keepEmpty: true });
    const errors = rules.validateCreate(ready, context);
    if (errors.length > 0) throw invalidError(kind, textAt(metadataOf(ready), "name"), errors);
    const warnings = [...new Set(rules.warningsOnCreate?.(ready) ?? [])];
    const answer = plain(complete(kind, ready));
    return { out: { object: answer, ...(warnings.length > 0 ? { warnings } : {}) } };
  } catch (error) {
    if (isApiError(error)) return { err: error.status };
    if (codeOf(error) === "decode") return { err: { decode: messageOf(error) } };
    throw error;
  } finally {
    context.store.close();
  }
}
