/** DELETE of one object and of collections. Source: k8s.io/apiserver/pkg/registry/rest/delete.go and .../generic/registry/store.go. */
import { canonical, decodeInto } from "@/lib/kube/go-decode";
import { deepCopy, isObject, jsonKind, newObject, type JsonObject } from "@/lib/kube/json";
import { messageOf } from "@/lib/errors";
import { assign, metadataOf, numberAt, objectAt, optionalText, textAt, textsAt } from "./access";
import { notRegistered, parseBody } from "./codec";
import { nowText, type ServerContext } from "./context";
import { existing } from "./get";
import type { Kind } from "./kinds";
import { checkDeleteOptions, isDryRun, readDeleteOptions, type DeleteOptions } from "./options";
import { checkMayEnd, isNamespace, markEnding } from "./namespace-end";
import type { ApiRequest, Target } from "./request";
import { rulesOf } from "./rules";
import { badRequest, conflict, isApiError } from "./status";
import type { Stored } from "./store";

/** Options from the body where there is one, else from the query. Throws ApiError 400, 415 or 422. */
export function deleteOptionsOf(request: ApiRequest): DeleteOptions {
  const options = request.body.length > 0 ? bodyOptions(request) : readDeleteOptions(request.query);
  checkDeleteOptions(options);
  return options;
}

function bodyOptions(request: ApiRequest): DeleteOptions {
  const decoded = decodeOptions(request);
  const preconditions = objectAt(decoded, "preconditions");
  return {
    gracePeriodSeconds: numberAt(decoded, "gracePeriodSeconds"),
    preconditions:
      preconditions === undefined
        ? undefined
        : { uid: optionalText(preconditions, "uid"), resourceVersion: optionalText(preconditions, "resourceVersion") },
    orphanDependents: typeof decoded["orphanDependents"] === "boolean" ? decoded["orphanDependents"] : undefined,
    propagationPolicy: optionalText(decoded, "propagationPolicy"),
    dryRun: textsAt(decoded, "dryRun"),
  };
}

function decodeOptions(request: ApiRequest): JsonObject {
  try {
    const { value } = parseBody(request);
    if (value !== null && !isObject(value)) throw new Error(`json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`);
    const body = isObject(value) ? value : newObject();
    const given = { kind: textAt(body, "kind") || "DeleteOptions", apiVersion: textAt(body, "apiVersion") || "v1" };
    if (given.kind !== "DeleteOptions") throw badRequest(notRegistered(given));
    return decodeInto("meta/v1.DeleteOptions", { value: body, duplicates: new Map() }).value;
  } catch (error) {
    if (isApiError(error)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${messageOf(error)}`);
  }
}

/** Deletes or marks as being deleted; the answer is the object as it then stands, or a Status. Throws ApiError 404 or 409. */
export function deleteObject(context: ServerContext, target: Target, options: DeleteOptions): JsonObject {
  checkMayEnd(target.kind, target.name);
  const stored = existing(context, target);
  checkPreconditions(target.kind, stored, options);
  if (isNamespace(target.kind)) return markEnding(context, stored, isDryRun(options));
  return removeStored(context, target.kind, stored, options);
}

function checkPreconditions(kind: Kind, stored: Stored, { preconditions }: DeleteOptions): void {
  const metadata = metadataOf(stored.object);
  const of = { group: kind.group, resource: kind.kind };
  const uid = textAt(metadata, "uid");
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(of, stored.key.name, why);
  }
  const version = textAt(metadata, "resourceVersion");
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== version) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
    throw conflict(of, stored.key.name, why);
  }
}

export function removeStored(context: ServerContext, kind: Kind, stored: Stored, options: DeleteOptions): JsonObject {
  const dryRun = isDryRun(options);
  const marked = deepCopy(stored.object);
  const metadata = metadataOf(marked);
  const grace = gracePeriod(kind, stored.object, options);
  if (grace === "pending") return answer(kind, stored.object);
  const finalizers = finalizersFor(metadata, options);
  const changed = finalizers.join() !== textsAt(metadata, "finalizers").join();
  if (changed) assign(metadata, "finalizers", finalizers.length === 0 ? undefined : finalizers);
  if (grace === undefined && finalizers.length === 0) {
    if (dryRun) return answer(kind, stored.object);
    return answer(kind, context.store.remove(stored.key)?.object ?? stored.object);
  }
  mark(context, metadata, grace ?? 0);
  const ordered = kind.type === undefined ? marked : canonical(kind.type, marked);
  if (dryRun) return answer(kind, ordered);
  const written = context.store.put(stored.key, ordered);
  if (finalizers.length > 0 || (grace ?? 0) > 0) return written.object;
  return answer(kind, context.store.remove(stored.key)?.object ?? written.object);
}

/** Seconds of grace; undefined where the kind has none; "pending" when the object is on its way out and nothing changes. */
function gracePeriod(kind: Kind, object: JsonObject, options: DeleteOptions): number | undefined | "pending" {
  const rules = rulesOf(kind);
  if (rules.graceSeconds === undefined) return undefined;
  const metadata = metadataOf(object);
  const asked = options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (textAt(metadata, "deletionTimestamp") === "") return rules.graceSeconds(object, asked);
  const running = numberAt(metadata, "deletionGracePeriodSeconds") ?? 0;
  if (running === 0) return undefined;
  return asked !== undefined && asked < running ? asked : "pending";
}

function mark(context: ServerContext, metadata: JsonObject, graceSeconds: number): void {
  const generation = numberAt(metadata, "generation") ?? 0;
  if (textAt(metadata, "deletionTimestamp") === "" && generation > 0) metadata["generation"] = generation + 1;
  const end = new Date(context.clock.nowMs() + graceSeconds * 1000).toISOString().replace(/\.\d{3}Z$/u, "Z");
  const known = textAt(metadata, "deletionTimestamp");
  if (known === "" || known > end) metadata["deletionTimestamp"] = graceSeconds === 0 ? nowText(context) : end;
  metadata["deletionGracePeriodSeconds"] = graceSeconds;
}

const orphan = "orphan";
const foreground = "foregroundDeletion";

/** Finalizers for the garbage collector, as the options ask for them. */
function finalizersFor(metadata: JsonObject, options: DeleteOptions): string[] {
  const known = textsAt(metadata, "finalizers");
  const chosen =
    options.orphanDependents !== undefined
      ? options.orphanDependents ? orphan : ""
      : options.propagationPolicy !== undefined
        ? new Map([["Orphan", orphan], ["Foreground", foreground]]).get(options.propagationPolicy) ?? ""
        : known.find((name) => name === orphan || name === foreground) ?? "";
  const others = known.filter((name) => name !== orphan && name !== foreground);
  return chosen === "" ? others : [...others, chosen];
}

/** Kinds whose deletion answers with the object; the others answer with a Status. */
const answersWithObject = new Set([
  "csidrivers",
  "storageclasses",
  "volumeattachments",
  "csinodes",
  "volumeattributesclasses",
  "resourcequotas",
  "persistentvolumes",
  "serviceaccounts",
  "persistentvolumeclaims",
  "namespaces",
  "pods",
  "services",
  "podtemplates",
]);

function answer(kind: Kind, object: JsonObject): JsonObject {
  if (answersWithObject.has(kind.resource) && kind.type !== undefined) return object;
  const metadata = metadataOf(object);
  const details = newObject([["name", metadata["name"]]]);
  if (kind.group !== "") details["group"] = kind.group;
  details["kind"] = kind.resource;
  details["uid"] = metadata["uid"];
  return newObject([["kind", "Status"], ["apiVersion", "v1"], ["metadata", newObject()], ["status", "Success"], ["details", details]]);
}
