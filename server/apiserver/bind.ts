/**
 * POST pods/NAME/binding: what a scheduler sends. Sets the node, merges the annotations of the binding and says PodScheduled.
 * Source: pkg/registry/core/pod/storage/storage.go (BindingREST, setPodNodeAndMetadata).
 */
import { deepCopy, isObject, newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { ensureObject, metadataOf, objectAt, objectsAt, textAt } from "./access";
import { parseBody } from "./codec";
import { nowText } from "./context";
import { keyOf, type Write } from "./create";
import { required } from "./field";
import { isDryRun } from "./options";
import type { ApiRequest } from "./request";
import { badRequest, conflict, invalidError, notFoundError } from "./status";

const bindingOfPods = { group: "", resource: "pods/binding" };

/** The Status of success. Throws ApiError 400, 404, 409 or 422. */
export function bindPod(write: Write, request: ApiRequest): JsonObject {
  const { context, target } = write;
  const binding = parseBody(request).value;
  if (!isObject(binding)) throw badRequest("the object provided is not a Binding");
  const nodeName = textAt(objectAt(binding, "target"), "name");
  if (nodeName === "") throw invalidError({ group: "", kind: "Binding" }, target.name, [required("target.name", "")]);
  const stored = context.store.get(keyOf(target.kind, { namespace: target.namespace, name: target.name }));
  if (!stored) throw notFoundError(target.kind, target.name);
  const pod = deepCopy(stored.object);
  refuse(pod, target.name, textAt(metadataOf(binding), "uid"));
  ensureObject(pod, "spec")["nodeName"] = nodeName;
  mergeAnnotations(pod, binding);
  sayScheduled(pod, nowText(context));
  if (!isDryRun(write.options)) context.store.put(stored.key, pod);
  return { kind: "Status", apiVersion: "v1", metadata: newObject(), status: "Success", code: 201 };
}

function refuse(pod: JsonObject, name: string, uid: string): void {
  const metadata = metadataOf(pod);
  if (uid !== "" && uid !== textAt(metadata, "uid")) {
    throw conflict(bindingOfPods, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${textAt(metadata, "uid")}`);
  }
  if (textAt(metadata, "deletionTimestamp") !== "") {
    throw conflict(bindingOfPods, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const bound = textAt(objectAt(pod, "spec"), "nodeName");
  if (bound !== "") throw conflict(bindingOfPods, name, `pod ${name} is already assigned to node ${JSON.stringify(bound)}`);
}

function mergeAnnotations(pod: JsonObject, binding: JsonObject): void {
  const given = objectAt(metadataOf(binding), "annotations");
  if (!given || Object.keys(given).length === 0) return;
  const annotations = ensureObject(metadataOf(pod), "annotations");
  for (const [key, value] of Object.entries(given)) annotations[key] = value;
}

function sayScheduled(pod: JsonObject, now: string): void {
  const status = ensureObject(pod, "status");
  const others: Json[] = objectsAt(status, "conditions").filter((condition) => textAt(condition, "type") !== "PodScheduled");
  const generation = metadataOf(pod)["generation"];
  const scheduled: JsonObject = { lastProbeTime: null, lastTransitionTime: now, status: "True", type: "PodScheduled" };
  if (generation !== undefined) scheduled["observedGeneration"] = generation;
  status["conditions"] = [...others, scheduled];
}
