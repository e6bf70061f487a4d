/** POST, and the creating half of a PUT. Source: k8s.io/apiserver/pkg/endpoints/handlers/create.go and .../registry/rest/create.go. */
import type { JsonObject } from "@/lib/kube/json";
import { metadataOf, textAt } from "./access";
import { complete } from "./codec";
import { nowText, type ServerContext } from "./context";
import type { Kind } from "./kinds";
import { checkNamespaceFor } from "./namespaces";
import { isDryRun, type WriteOptions } from "./options";
import type { Target } from "./request";
import { rulesOf } from "./rules";
import { alreadyExists, badRequest, generateNameConflict, invalidError, unknownError } from "./status";
import type { ObjectKey } from "./store";
import type { Warnings } from "./warnings";

const systemFields = ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

export interface Write {
  readonly context: ServerContext;
  readonly target: Target;
  readonly options: WriteOptions;
  readonly warnings: Warnings;
}

/** Stores a new object and returns it as stored. Throws ApiError 400, 404, 409, 422 or 500. */
export function createObject(write: Write, object: JsonObject): JsonObject {
  const { context, target } = write;
  const metadata = metadataOf(object);
  for (const field of systemFields) delete metadata[field];
  if (target.kind.namespaced && target.namespace === "" && textAt(metadata, "namespace") === "") {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  matchNamespace(metadata, target);
  dropManagedFields(metadata);
  checkNamespaceFor(context, target, textAt(metadata, "name"));
  const generated = textAt(metadata, "name") === "" && textAt(metadata, "generateName") !== "";
  if (generated) metadata["name"] = generateName(context, textAt(metadata, "generateName"));
  rulesOf(target.kind).admitCreate?.(object, context);
  const ready = prepare(write, object);
  const key = keyOf(target.kind, metadataOf(ready));
  if (textAt(metadataOf(ready), "resourceVersion") !== "") throw unknownError("resourceVersion should not be set on objects to be created");
  const known = context.store.get(key);
  if (known !== undefined) throw taken(target.kind, key.name, { generated, deleting: textAt(metadataOf(known.object), "deletionTimestamp") !== "" });
  return isDryRun(write.options) ? ready : context.store.put(key, ready).object;
}

/** Fills in what the server gives, then asks the rules of the kind. */
function prepare({ context, target, warnings }: Write, object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  metadata["creationTimestamp"] = nowText(context);
  metadata["uid"] = context.newUid();
  const rules = rulesOf(target.kind);
  rules.prepareForCreate(object, context);
  const checked = complete(target.kind, object, { keepEmpty: true });
  const errors = rules.validateCreate(checked, context);
  if (errors.length > 0) throw invalidError(target.kind, textAt(metadata, "name"), errors);
  warnings.addAll(rules.warningsOnCreate?.(checked) ?? []);
  return complete(target.kind, checked);
}

function taken(kind: Kind, name: string, { generated, deleting }: { generated: boolean; deleting: boolean }): Error {
  const error = generated ? generateNameConflict(kind, name, 1) : alreadyExists(kind, name);
  if (deleting) error.status.message = `object is being deleted: ${error.status.message ?? ""}`;
  return error;
}

/** Base and suffix are at most 63 characters long. */
export function generateName(context: ServerContext, base: string): string {
  return base.slice(0, 58) + context.newSuffix();
}

/** EnsureObjectNamespaceMatchesRequestNamespace. */
export function matchNamespace(metadata: JsonObject, { kind, namespace }: Target): void {
  const expected = kind.namespaced ? namespace : "";
  const given = textAt(metadata, "namespace");
  if (given === expected) return;
  if (expected === "") delete metadata["namespace"];
  else if (given === "") metadata["namespace"] = expected;
  else throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** Field ownership is not kept: there is no server-side apply. */
export function dropManagedFields(metadata: JsonObject): void {
  delete metadata["managedFields"];
}

export function keyOf(kind: Kind, metadata: JsonObject): ObjectKey {
  return { group: kind.group, resource: kind.resource, namespace: kind.namespaced ? textAt(metadata, "namespace") : "", name: textAt(metadata, "name") };
}

