/** Rules of `pods/resize`. Source: kubernetes v1.37.2, ValidatePodResize and podResizeStrategy. */
import { deepCopy, newObject, type JsonObject } from "@/lib/kube/json";
import { parseQuantity } from "@/lib/quantity";
import { assign, ensureObject, metadataOf, objectAt, objectsAt, optionalText, textAt, textMap } from "@/server/apiserver/access";
import { semanticEqual } from "@/server/apiserver/equal";
import { child, forbidden, invalid, type FieldError } from "@/server/apiserver/field";
import { metadataUpdateErrors } from "./metadata";
import { isSidecar, podErrors } from "./pod-spec";
import { computeQos, qosOf } from "./pod-qos";

const specType = "core/v1.PodSpec";
const containerType = "core/v1.Container";

export interface ResizeOptions extends ResizeGates {
  readonly allowPrivileged: boolean;
}

export interface ResizeGates {
  /** InPlacePodVerticalScalingMemoryBackedVolumes */
  readonly memoryVolumes: boolean;
  /** InPlacePodLevelResourcesVerticalScaling */
  readonly podLevel: boolean;
}

/** Everything but resources, resize policies and volumes is put back, unless containers came or went: validation then says so. */
export function keepResizeOnly(next: JsonObject, old: JsonObject, gates: ResizeGates): void {
  const [spec, before] = [ensureObject(next, "spec"), ensureObject(old, "spec")];
  const lists = ["containers", "initContainers"];
  if (lists.some((key) => objectsAt(spec, key).length !== objectsAt(before, key).length)) return;
  const kept = deepCopy(before);
  for (const key of lists) if (objectsAt(before, key).length > 0) kept[key] = resizedContainers(objectsAt(spec, key), objectsAt(before, key));
  if (gates.podLevel) assign(kept, "resources", spec["resources"]);
  if (gates.memoryVolumes) assign(kept, "volumes", spec["volumes"]);
  next["spec"] = kept;
  assign(next, "status", old["status"]);
  resetMetadata(next, old);
}

/** ResetObjectMetaForStatus. */
export function resetMetadata(next: JsonObject, old: JsonObject): void {
  for (const key of ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"]) assign(metadataOf(next), key, metadataOf(old)[key]);
}

function resizedContainers(next: readonly JsonObject[], old: readonly JsonObject[]): JsonObject[] {
  if (next.some((container, index) => textAt(container, "name") !== textAt(old[index], "name"))) return [...next];
  return old.map((container, index) => {
    const copy = deepCopy(container);
    assign(copy, "resources", next[index]?.["resources"]);
    assign(copy, "resizePolicy", next[index]?.["resizePolicy"]);
    return copy;
  });
}

export function resizeErrors(next: JsonObject, old: JsonObject, gates: ResizeOptions): FieldError[] {
  const errors = [...metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata")), ...podErrors(next, { allowPrivileged: gates.allowPrivileged, old })];
  if (textMap(objectAt(old, "metadata"), "annotations").has("kubernetes.io/config.mirror")) return [forbidden("[]", "static pods cannot be resized")];
  if (textAt(objectAt(old, "spec", "os"), "name") === "windows") return [forbidden("[]", "windows pods cannot be resized")];
  if (qosOf(old) !== computeQos(next)) errors.push(invalid("spec", textAt(objectAt(next, "status"), "qosClass"), "Pod QOS Class may not change as a result of resizing"));
  if (!supportsResize(old)) errors.push(forbidden("spec", "Pod running on node without support for resize"));
  const [spec, before] = [deepCopy(ensureObject(next, "spec")), ensureObject(old, "spec")];
  if (hasPodResources(spec) || hasPodResources(before)) {
    if (!gates.podLevel) {
      const detail = "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
      return [...errors, forbidden("[]", detail)];
    }
    errors.push(...podLevelErrors(spec, before));
  }
  const order = orderErrors(spec, before);
  if (order.length > 0) return [...errors, ...order];
  errors.push(...removedErrors(spec, before), ...containerErrors(spec, before), ...initErrors(spec, before), ...volumeErrors(spec, before, gates));
  if (errors.length > 0) return errors;
  return semanticEqual(specType, spec, before) ? [] : [forbidden("spec", "only cpu and memory resources are mutable")];
}

/** The first running container tells: a kubelet that resizes reports its resources. */
function supportsResize(pod: JsonObject): boolean {
  const running = objectsAt(objectAt(pod, "status"), "containerStatuses").find((status) => objectAt(status, "state", "running") !== undefined);
  return running === undefined || objectAt(running, "resources") !== undefined;
}

function hasPodResources(spec: JsonObject): boolean {
  const resources = objectAt(spec, "resources");
  return textMap(resources, "requests").size + textMap(resources, "limits").size > 0;
}

/** Changes `spec`: its pod-level cpu and memory become the old ones, for the comparison that follows. */
function podLevelErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  const resources = objectAt(spec, "resources");
  const old = objectAt(before, "resources");
  if (old !== undefined && resources === undefined) return [forbidden("spec.resources", "pod-level resources cannot be removed")];
  const errors: FieldError[] = [];
  for (const list of ["requests", "limits"]) {
    if (old !== undefined && isRemoved(resources, old, list)) errors.push(forbidden(`spec.resources.${list}`, `pod-level resource ${list} cannot be removed`));
  }
  const kept = withOldCpuMemory(resources ?? newObject(), old);
  const empty = old === undefined && textMap(kept, "requests").size + textMap(kept, "limits").size + objectsAt(kept, "claims").length === 0;
  assign(spec, "resources", empty ? undefined : kept);
  if (!semanticEqual("core/v1.ResourceRequirements", spec["resources"], before["resources"])) {
    errors.push(forbidden("spec", "only cpu and memory resources are mutable at pod-level"));
  }
  return errors;
}

function isRemoved(next: JsonObject | undefined, old: JsonObject | undefined, list: string): boolean {
  const now = textMap(next, list);
  return [...textMap(old, list).keys()].some((name) => !now.has(name));
}

function withOldCpuMemory(resources: JsonObject, old: JsonObject | undefined): JsonObject {
  const copy = deepCopy(resources);
  for (const list of ["requests", "limits"]) {
    const now = objectAt(copy, list);
    const before = objectAt(old, list);
    if (now === undefined && before === undefined) continue;
    const kept = now ?? newObject();
    for (const name of ["cpu", "memory"]) assign(kept, name, before?.[name]);
    copy[list] = kept;
  }
  return copy;
}

function orderErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  return ["containers", "initContainers"].flatMap((key) => {
    const [now, old] = [objectsAt(spec, key), objectsAt(before, key)];
    if (now.length !== old.length) return [forbidden(`spec.${key}`, `${key} may not be added or removed on resize`)];
    return old.flatMap((container, index) => {
      if (textAt(now[index], "name") === textAt(container, "name")) return [];
      return [forbidden(`${child("spec", key, index)}.name`, `${key} may not be renamed or reordered on resize`)];
    });
  });
}

function removedErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  return ["initContainers", "containers"].flatMap((key) =>
    objectsAt(before, key).flatMap((container, index) =>
      ["requests", "limits"].flatMap((list) => {
        const removed = isRemoved(objectAt(objectsAt(spec, key)[index], "resources"), objectAt(container, "resources"), list);
        return removed ? [forbidden(`${child("spec", key, index)}.resources.${list}`, `resource ${list} cannot be removed`)] : [];
      }),
    ),
  );
}

/** Changes `spec`: cpu and memory become the old ones. */
function containerErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  return objectsAt(spec, "containers").flatMap((container, index) => {
    const old = objectsAt(before, "containers")[index];
    maskResources(container, old);
    return semanticEqual(containerType, container, old) ? [] : [forbidden("spec", "only cpu and memory resources are mutable")];
  });
}

function maskResources(container: JsonObject, old: JsonObject | undefined): void {
  container["resources"] = withOldCpuMemory(objectAt(container, "resources") ?? newObject(), objectAt(old, "resources"));
}

function initErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  return objectsAt(spec, "initContainers").flatMap((container, index) => {
    const old = objectsAt(before, "initContainers")[index];
    const at = child("spec", "initContainers", index);
    const changed = !semanticEqual(containerType, container, old);
    const errors: FieldError[] = [];
    maskResources(container, old);
    if (!semanticEqual(containerType, container, old)) errors.push(forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"));
    if (!changed || isSidecar(container)) return errors;
    const restarting = objectsAt(container, "resizePolicy").filter((policy) => textAt(policy, "restartPolicy") === "RestartContainer");
    return [...errors, ...restarting.map(() => forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))];
  });
}

/** Changes `spec`: its volumes become the old ones where they may be resized at all. */
function volumeErrors(spec: JsonObject, before: JsonObject, gates: ResizeGates): FieldError[] {
  const [now, old] = [objectsAt(spec, "volumes"), objectsAt(before, "volumes")];
  if (!gates.memoryVolumes) {
    if (semanticEqual(specType, newObject([["volumes", now]]), newObject([["volumes", old]]))) return [];
    const detail = "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled";
    return [forbidden("spec.volumes", detail)];
  }
  const errors =
    now.length === old.length
      ? now.flatMap((volume, index) => oneVolumeErrors(volume, old[index] ?? newObject(), child("spec", "volumes", index)))
      : [forbidden("spec.volumes", "volumes may not be added or removed on resize")];
  assign(spec, "volumes", before["volumes"]);
  return errors;
}

function oneVolumeErrors(volume: JsonObject, old: JsonObject, at: string): FieldError[] {
  if (textAt(volume, "name") !== textAt(old, "name")) return [forbidden(`${at}.name`, "volumes may not be renamed or reordered on resize")];
  const [dir, oldDir] = [objectAt(volume, "emptyDir"), objectAt(old, "emptyDir")];
  const compared = deepCopy(volume);
  if (dir !== undefined && oldDir !== undefined) assign(ensureObject(compared, "emptyDir"), "sizeLimit", oldDir["sizeLimit"]);
  if (!semanticEqual("core/v1.Volume", compared, old)) return [forbidden(at, "only sizeLimit of memory-backed emptyDir volumes is mutable on resize")];
  if (dir === undefined || oldDir === undefined) return [];
  const [limit, oldLimit] = [optionalText(dir, "sizeLimit"), optionalText(oldDir, "sizeLimit")];
  if (isLimit(limit) !== isLimit(oldLimit)) return [forbidden(`${at}.emptyDir.sizeLimit`, "adding or removing sizeLimit on an existing volume is not allowed")];
  if (limit === undefined || oldLimit === undefined || parseQuantity(limit).cmp(parseQuantity(oldLimit)) === 0) return [];
  return textAt(dir, "medium") === "Memory" ? [] : [forbidden(`${at}.emptyDir.sizeLimit`, "sizeLimit is only mutable for memory-backed emptyDir volumes")];
}

/** "0" counts as no limit. */
function isLimit(text: string | undefined): boolean {
  return text !== undefined && !parseQuantity(text).isZero();
}
