/**
 * PUT, and what PATCH has in common with it: versions, the rules of the kind, admission, the removal of an object whose last
 * finalizer goes. Source: k8s.io/apiserver/pkg/registry/rest/update.go and .../generic/registry/store.go.
 */
import { deepCopy, deepEqual, type JsonObject } from "@/lib/kube/json";
import { assign, metadataOf, numberAt, objectAt, textAt, textsAt } from "./access";
import { complete } from "./codec";
import { createObject, dropManagedFields, keyOf, matchNamespace, type Write } from "./create";
import type { ServerContext } from "./context";
import type { Kind } from "./kinds";
import { isDryRun } from "./options";
import { rulesOf, type UpdateRules } from "./rules";
import { parseUint } from "./resource-version";
import { badRequest, conflict, invalidError, notFoundError, optimisticLockText, unknownError } from "./status";
import { invalid, type FieldError } from "./field";
import { metadataErrors, metadataUpdateErrors, pathSegmentName } from "./rules/metadata";
import type { Warnings } from "./warnings";
import type { Stored } from "./store";

export interface Updated {
  readonly object: JsonObject;
  readonly created: boolean;
}

/** Stores a whole object over the existing one (PUT). Throws ApiError 400, 403, 404, 409, 422 or 500. */
export function putObject(write: Write, object: JsonObject): Updated {
  const { context, target } = write;
  const metadata = metadataOf(object);
  matchNamespace(metadata, target);
  checkName(metadata, target.name);
  const stored = context.store.get(keyOf(target.kind, metadata));
  if (stored === undefined) {
    const rules = rulesOf(target.kind);
    if (rules.createsOnUpdate !== true || target.subresource !== "") throw notFoundError(target.kind, target.name);
    return { object: createObject(write, object), created: true };
  }
  checkUid(target.kind, stored, textAt(metadata, "uid"));
  return { object: replace(write, stored, object), created: false };
}

/** The name in the object must be the one in the path. */
export function checkName(metadata: JsonObject, name: string): void {
  const given = textAt(metadata, "name");
  if (given === "") throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name) throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

function checkUid(kind: Kind, stored: Stored, uid: string): void {
  const known = textAt(metadataOf(stored.object), "uid");
  if (uid === "" || uid === known) return;
  const { namespace, name } = stored.key;
  const place = `/registry/${kind.resource}/${namespace === "" ? "" : `${namespace}/`}${name}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${known}`;
  throw conflict(kind, name, why);
}

/** Asks the rules of the kind over the stored and the new object and stores the result. */
export function replace(write: Write, stored: Stored, next: JsonObject): JsonObject {
  const { context, target, warnings } = write;
  checkVersion(target.kind, stored, metadataOf(next));
  const rules = updateRules(write);
  const ready = applyUpdateRules({ context, kind: target.kind, rules, warnings }, deepCopy(stored.object), next);
  return store(write, stored, ready);
}

export interface RulesOver {
  readonly context: ServerContext;
  readonly kind: Kind;
  readonly rules: UpdateRules;
  readonly warnings: Warnings;
}

/** BeforeUpdate and admission: the object as it stands afterwards. Both arguments may be changed. Throws ApiError 400, 403 or 422. */
export function applyUpdateRules({ context, kind, rules, warnings }: RulesOver, old: JsonObject, next: JsonObject): JsonObject {
  const metadata = metadataOf(next);
  matchNamespace(metadata, { kind, namespace: textAt(metadataOf(old), "namespace"), name: "", subresource: "" });
  dropManagedFields(metadata);
  assign(metadata, "generation", metadataOf(old)["generation"]);
  rules.prepare(next, old, context);
  keepSystemFields(metadataOf(next), metadataOf(old));
  const ready = complete(kind, next, { keepEmpty: true });
  const errors = [...commonErrors(kind, ready, old), ...rules.validate(ready, old, context)];
  if (errors.length > 0) throw invalidError(kind, textAt(metadataOf(next), "name"), withoutRepeats(errors));
  warnings.addAll(rules.warnings?.(ready, old) ?? []);
  rules.admit?.(ready, old, context);
  return complete(kind, ready);
}

/** Metadata is checked for every kind before the kind's own rules see it. */
function commonErrors(kind: Kind, next: JsonObject, old: JsonObject): FieldError[] {
  const rules = { namespaced: kind.namespaced, name: pathSegmentName, anyFinalizer: true };
  return [...metadataErrors(objectAt(next, "metadata"), rules), ...metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata"), true)];
}

/** The same refusal of the same field is told once. */
function withoutRepeats(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ type, field, body }) => {
    const id = `${type} ${field} ${body}`;
    return !seen.has(id) && seen.add(id) !== undefined;
  });
}

function updateRules({ target }: Write): UpdateRules {
  const rules = rulesOf(target.kind);
  if (target.subresource === "") return rules.update;
  const sub = rules.subresources?.[target.subresource];
  if (sub === undefined) throw notFoundError(target.kind, target.name);
  return sub;
}

function store({ context, options }: Write, stored: Stored, ready: JsonObject): JsonObject {
  const metadata = metadataOf(ready);
  assign(metadata, "resourceVersion", metadataOf(stored.object)["resourceVersion"]);
  if (deepEqual(ready, stored.object)) return stored.object;
  if (isDryRun(options)) return ready;
  const written = context.store.put(stored.key, ready);
  if (!goesNow(metadata, metadataOf(stored.object))) return written.object;
  context.store.remove(stored.key);
  return written.object;
}

/** An object that waits for nothing but its finalizers goes with the last of them. */
function goesNow(metadata: JsonObject, old: JsonObject): boolean {
  if (textsAt(metadata, "finalizers").length > 0 || textAt(old, "deletionTimestamp") === "") return false;
  return (numberAt(old, "deletionGracePeriodSeconds") ?? 0) === 0;
}

function checkVersion(kind: Kind, stored: Stored, metadata: JsonObject): void {
  const text = textAt(metadata, "resourceVersion");
  const version = text === "" ? 0n : parseUint(text);
  if (typeof version === "string") throw unknownError(version);
  if (version === 0n) {
    if (rulesOf(kind).needsResourceVersion !== true) {
      assign(metadata, "resourceVersion", metadataOf(stored.object)["resourceVersion"]);
      return;
    }
    const error = invalid("metadata.resourceVersion", 0, "must be specified for an update");
    throw invalidError({ group: kind.group, kind: kind.resource }, stored.key.name, [error]);
  }
  if (version !== BigInt(stored.revision)) throw conflict(kind, stored.key.name, optimisticLockText);
}

/** What no update can change is put back before it is compared. */
function keepSystemFields(metadata: JsonObject, old: JsonObject): void {
  if (textAt(metadata, "uid") === "") assign(metadata, "uid", old["uid"]);
  if (textAt(old, "creationTimestamp") !== "") metadata["creationTimestamp"] = old["creationTimestamp"];
  if (textAt(old, "deletionTimestamp") !== "") metadata["deletionTimestamp"] = old["deletionTimestamp"];
  if (metadata["deletionGracePeriodSeconds"] === undefined) assign(metadata, "deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"]);
}
