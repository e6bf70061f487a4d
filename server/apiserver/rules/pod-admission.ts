/** The plugins ServiceAccount, NodeDeclaredFeatureValidator and PodResizeValidator. Source: kubernetes v1.37.2, plugin/pkg/admission. */
import { newObject, type JsonObject } from "@/lib/kube/json";
import { parseQuantity, Quantity } from "@/lib/quantity";
import { ensureObject, metadataOf, numberAt, objectAt, objectsAt, optionalText, textAt, textMap, textsAt } from "@/server/apiserver/access";
import type { ServerContext } from "@/server/apiserver/context";
import { semanticEqual } from "@/server/apiserver/equal";
import { forbiddenError, type ApiError } from "@/server/apiserver/status";
import { isSidecar } from "./pod-spec";
import { containerTotals } from "./pod-totals";

function refusal(pod: JsonObject, why: string): ApiError {
  return forbiddenError({ group: "", resource: "pods" }, textAt(metadataOf(pod), "name"), why);
}

/** The name alone: there are no accounts here, and the kubelet's half of a mirror pod has none. */
export function fillServiceAccount(pod: JsonObject, context: ServerContext): void {
  if (!context.defaultServiceAccount || textMap(objectAt(pod, "metadata"), "annotations").has("kubernetes.io/config.mirror")) return;
  const spec = ensureObject(pod, "spec");
  if (textAt(spec, "serviceAccountName") !== "") return;
  spec["serviceAccountName"] = "default";
  spec["serviceAccount"] = "default";
}

/** A pod that is bound, and whose spec changed. */
function isConcerned(next: JsonObject, old: JsonObject): boolean {
  return textAt(objectAt(next, "spec"), "nodeName") !== "" && numberAt(metadataOf(next), "generation") !== numberAt(metadataOf(old), "generation");
}

/** A change that needs a feature goes through only where the node declares it. Throws ApiError 403. */
export function checkDeclaredFeatures(next: JsonObject, old: JsonObject, context: ServerContext): void {
  if (!isConcerned(next, old)) return;
  const needed = neededFeatures(objectAt(next, "spec"), objectAt(old, "spec"));
  if (needed.length === 0) return;
  const name = textAt(objectAt(next, "spec"), "nodeName");
  const node = context.findNode(name);
  if (node === undefined) throw refusal(next, `node "${name}" not found`);
  const declared = textsAt(objectAt(node, "status"), "declaredFeatures");
  const lacking = needed.filter((feature) => !declared.includes(feature));
  if (lacking.length > 0) throw refusal(next, `pod update requires features ${lacking.join(", ")} which are not available on node "${name}"`);
}

function neededFeatures(next: JsonObject | undefined, old: JsonObject | undefined): string[] {
  const needed: string[] = [];
  if (plainInitContainerChanged(next, old)) needed.push("InPlacePodVerticalScalingInitContainers");
  const hasOwn = objectAt(next, "resources") !== undefined || objectAt(old, "resources") !== undefined;
  if (hasOwn && !semanticEqual("core/v1.ResourceRequirements", next?.["resources"], old?.["resources"])) needed.push("InPlacePodLevelResourcesVerticalScaling");
  if (memoryVolumeChanged(next, old)) needed.push("InPlacePodVerticalScalingMemoryBackedVolumes");
  return needed.sort();
}

function plainInitContainerChanged(next: JsonObject | undefined, old: JsonObject | undefined): boolean {
  const now = objectsAt(next, "initContainers");
  return objectsAt(old, "initContainers").some(
    (container, index) => !isSidecar(container) && !semanticEqual("core/v1.ResourceRequirements", container["resources"], now[index]?.["resources"]),
  );
}

function memoryVolumeChanged(next: JsonObject | undefined, old: JsonObject | undefined): boolean {
  const [now, before] = [objectsAt(next, "volumes"), objectsAt(old, "volumes")];
  if (now.length !== before.length) return false;
  return now.some((volume, index) => {
    const dir = objectAt(volume, "emptyDir");
    const limit = optionalText(dir, "sizeLimit");
    const oldLimit = optionalText(objectAt(before[index], "emptyDir"), "sizeLimit");
    if (textAt(volume, "name") !== textAt(before[index], "name") || textAt(dir, "medium") !== "Memory") return false;
    return limit !== undefined && oldLimit !== undefined && parseQuantity(limit).cmp(parseQuantity(oldLimit)) !== 0;
  });
}

/** The node must be Linux and large enough for the whole pod. Throws ApiError 403. */
export function checkNodeCapacity(next: JsonObject, old: JsonObject, context: ServerContext): void {
  if (!isConcerned(next, old)) return;
  const name = textAt(objectAt(next, "spec"), "nodeName");
  const node = context.findNode(name);
  if (node === undefined) throw refusal(next, `node "${name}" not found`);
  const system = textMap(objectAt(node, "metadata"), "labels").get("kubernetes.io/os");
  if (system !== undefined && system !== "linux") {
    throw withCause(refusal(next, `pod resize is only supported on linux nodes, node "${name}" is "${system}"`), "UnsupportedPlatform");
  }
  const allocatable = objectAt(node, "status", "allocatable") ?? newObject();
  const parts = [
    ...lack("cpu", podRequest(next, "cpu"), quantityAt(allocatable, "cpu")),
    ...lack("memory", podRequest(next, "memory"), quantityAt(allocatable, "memory")),
  ];
  if (parts.length > 0) throw withCause(refusal(next, `node didn't have enough allocatable resources: ${parts.join("; ")}`), "NodeCapacity");
}

function lack(name: "cpu" | "memory", requested: Quantity, allocatable: Quantity): string[] {
  if (requested.cmp(allocatable) <= 0) return [];
  const value = (quantity: Quantity): bigint => (name === "cpu" ? quantity.milliValue() : quantity.value());
  return [`${name}, requested: ${value(requested)}, allocatable: ${value(allocatable)}`];
}

function withCause(error: ApiError, reason: string): ApiError {
  error.status.details = { ...error.status.details, causes: [{ reason }] };
  return error;
}

function quantityAt(list: JsonObject | undefined, name: string): Quantity {
  const text = optionalText(list, name);
  return text === undefined ? Quantity.zero : parseQuantity(text);
}

/** What the pod asks for: pod-level requests win over those of its containers; overhead on top. */
function podRequest(pod: JsonObject, name: string): Quantity {
  const spec = objectAt(pod, "spec");
  const own = optionalText(objectAt(spec, "resources", "requests"), name);
  const asked = own === undefined ? (containerTotals(spec, "requests").get(name) ?? Quantity.zero) : parseQuantity(own);
  return asked.add(quantityAt(objectAt(spec, "overhead"), name));
}
