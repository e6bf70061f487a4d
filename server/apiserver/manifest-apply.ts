/**
 * One object of a manifest into the store, as `kubectl apply` would bring it there: created where it is new; changed by a three-way
 * merge of what the file last said, what it says now, and what is stored, so that what others wrote stays.
 */
import { messageOf } from "@/lib/errors";
import { deepEqual, isObject, newObject, parseJson, stringifyJson, type Json, type JsonObject } from "@/lib/kube/json";
import { applyMergePatch } from "@/lib/kube/merge-patch";
import { createThreeWayPatch } from "@/lib/kube/strategic-diff";
import { applyStrategicMergePatch } from "@/lib/kube/strategic-merge";
import { decodeInto } from "@/lib/kube/go-decode";
import { deepCopy } from "@/lib/kube/json";
import { metadataOf, objectAt, textAt, textMap } from "./access";
import { complete } from "./codec";
import type { ServerContext } from "./context";
import { createObject, keyOf, type Write } from "./create";
import { apiVersionOf, type Kind } from "./kinds";
import { ensureNamespace } from "./namespaces";
import { badRequest, statusError, type ApiError } from "./status";
import { objectId, type ObjectKey } from "./store";
import { replace } from "./update";
import { strictText, Warnings } from "./warnings";
import { isDNS1123Label, isDNS1123Subdomain } from "@/lib/names";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** What the store remembers of an applied object. */
export interface Applied {
  readonly key: ObjectKey;
  readonly apiVersion: string;
  readonly kind: string;
  readonly file: string;
  readonly object: JsonObject;
}

export function factOf(key: ObjectKey): string {
  return `applied/${key.group}/${key.resource}/${objectId(key)}`;
}

/** The kind of a manifest's object; one that is new to the server is learned and remembered. Throws ApiError 400. */
export function kindOfManifest(context: ServerContext, object: JsonObject): Kind {
  const apiVersion = textAt(object, "apiVersion");
  const kind = textAt(object, "kind");
  const known = context.kinds.byKind(apiVersion, kind);
  if (known !== undefined) return known;
  const parts = apiVersion.split("/");
  const valid = parts.length <= 2 && parts.every((part) => isDNS1123Subdomain(part).length === 0) && isDNS1123Label(kind.toLowerCase()).length === 0;
  if (!valid) throw badRequest(`no kind can be called ${kind} of ${apiVersion}`);
  const namespaced = textAt(objectAt(object, "metadata"), "namespace") !== "";
  const learned = context.kinds.learn(apiVersion, kind, namespaced);
  context.store.writeFact(`kind/${apiVersionOf(learned)}/${kind}`, JSON.stringify({ apiVersion, kind, namespaced }));
  return learned;
}

/** The object with its namespace filled in, and its key. Throws ApiError 400 where it has no name. */
export function placed(kind: Kind, object: JsonObject): { object: JsonObject; key: ObjectKey } {
  const copy = deepCopy(object);
  const metadata = metadataOf(copy);
  if (textAt(metadata, "name") === "") throw badRequest("metadata.name is missing");
  if (kind.namespaced && textAt(metadata, "namespace") === "") metadata["namespace"] = "default";
  if (!kind.namespaced) delete metadata["namespace"];
  return { object: copy, key: keyOf(kind, metadata) };
}

/** Applies one object. Returns true where something changed. Throws ApiError with the real server's words. */
export function applyObject(context: ServerContext, kind: Kind, from: { object: JsonObject; key: ObjectKey; file: string }): boolean {
  const { object, key, file } = from;
  checkStrictly(kind, object);
  const before = readApplied(context, key);
  if (before !== undefined && deepEqual(before.object, object)) {
    if (before.file !== file) remember(context, { key, apiVersion: apiVersionOf(kind), kind: kind.kind, file, object });
    return false;
  }
  if (kind.namespaced) ensureNamespace(context, key.namespace);
  const stored = context.store.get(key);
  if (context.readOnly) storeAsRecorded(context, kind, { object, key });
  else if (stored === undefined) createObject(writeTo(context, kind, key), complete(kind, object, { keepEmpty: true }));
  else {
    const next = merged(kind, { original: before?.object ?? annotated(stored.object), modified: object, current: stored.object });
    replace(writeTo(context, kind, key), stored, complete(kind, next, { keepEmpty: true }));
  }
  remember(context, { key, apiVersion: apiVersionOf(kind), kind: kind.kind, file, object });
  return true;
}

/** Unknown and repeated fields are refused, as kubectl has them refused. */
function checkStrictly(kind: Kind, object: JsonObject): void {
  if (kind.type === undefined) return;
  let errors: readonly string[];
  try {
    errors = decodeInto(kind.type, { value: object, duplicates: new Map() }).strictErrors;
  } catch (error) {
    throw badField(messageOf(error), fieldOf(error));
  }
  if (errors.length > 0) throw badField(strictText(errors), /"(.*)"$/u.exec(errors[0] ?? "")?.[1] ?? "");
}

function badField(message: string, field: string): ApiError {
  return statusError(400, "BadRequest", message, { causes: [{ message, field }] });
}

function fieldOf(error: unknown): string {
  return typeof error === "object" && error !== null && "field" in error && typeof error.field === "string" ? error.field : "";
}

function writeTo(context: ServerContext, kind: Kind, key: ObjectKey): Write {
  return {
    context,
    target: { kind, namespace: key.namespace, name: key.name, subresource: "" },
    options: { dryRun: [], fieldManager: "voldeck-manifests", fieldValidation: "Strict", force: undefined },
    warnings: new Warnings(),
  };
}

/** A recorded object keeps its uid, times and status. */
function storeAsRecorded(context: ServerContext, kind: Kind, { object, key }: { object: JsonObject; key: ObjectKey }): void {
  const copy = complete(kind, object);
  const metadata = metadataOf(copy);
  const uid = textAt(metadata, "uid");
  if (uid !== "" && !/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/u.test(uid)) throw badRequest(`metadata.uid: ${JSON.stringify(uid)} is no uid`);
  const messages = [...isDNS1123Subdomain(key.name), ...(kind.namespaced ? isDNS1123Label(key.namespace) : [])];
  if (messages[0] !== undefined) throw badRequest(`metadata: ${messages[0]}`);
  if (uid === "") metadata["uid"] = context.newUid();
  context.store.put(key, complete(kind, copy));
}

interface Three {
  readonly original: JsonObject;
  readonly modified: JsonObject;
  readonly current: JsonObject;
}

function merged(kind: Kind, three: Three): JsonObject {
  if (kind.type !== undefined) return applyStrategicMergePatch(kind.type, three.current, createThreeWayPatch(kind.type, three));
  return applyMergePatch(three.current, threeWayMerge(three));
}

/** For kinds without merge keys: fields that the file dropped are removed, its own are set, lists are replaced. */
function threeWayMerge({ original, modified, current }: Three): JsonObject {
  const patch = newObject();
  for (const key of Object.keys(original)) if (original[key] !== undefined && modified[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(modified)) {
    if (value === undefined) continue;
    const known = current[key];
    if (isObject(value) && isObject(known)) {
      const before = original[key];
      const inner = threeWayMerge({ original: isObject(before) ? before : newObject(), modified: value, current: known });
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (!deepEqual(known, value)) patch[key] = value;
  }
  return patch;
}

/** What kubectl noted in the object as last applied. */
function annotated(object: JsonObject): JsonObject {
  const text = textMap(objectAt(object, "metadata"), "annotations").get(lastApplied);
  if (text === undefined) return newObject();
  try {
    const { value } = parseJson(text);
    return isObject(value) ? value : newObject();
  } catch {
    return newObject();
  }
}

export function readApplied(context: ServerContext, key: ObjectKey): Applied | undefined {
  const text = context.store.readFact(factOf(key));
  return text === undefined ? undefined : toApplied(text);
}

/** Everything that files have brought and not yet taken away. */
export function allApplied(context: ServerContext): Applied[] {
  return context.store.listFacts("applied/").flatMap((text) => toApplied(text) ?? []);
}

export function forget(context: ServerContext, key: ObjectKey): void {
  context.store.writeFact(factOf(key), undefined);
}

function remember(context: ServerContext, applied: Applied): void {
  const key = newObject(Object.entries(applied.key));
  const fact = newObject([["key", key], ["apiVersion", applied.apiVersion], ["kind", applied.kind], ["file", applied.file], ["object", applied.object]]);
  context.store.writeFact(factOf(applied.key), stringifyJson(fact));
}

function toApplied(text: string): Applied | undefined {
  const value: Json = parseJson(text).value;
  if (!isObject(value)) return undefined;
  const key = objectAt(value, "key");
  const object = objectAt(value, "object");
  if (key === undefined || object === undefined) return undefined;
  return {
    key: { group: textAt(key, "group"), resource: textAt(key, "resource"), namespace: textAt(key, "namespace"), name: textAt(key, "name") },
    apiVersion: textAt(value, "apiVersion"),
    kind: textAt(value, "kind"),
    file: textAt(value, "file"),
    object,
  };
}
