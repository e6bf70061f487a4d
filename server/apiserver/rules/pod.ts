/** Rules of Pod: create, update, status and resize. Source: kubernetes v1.37.2, pkg/registry/core/pod/strategy.go, ValidatePodUpdate. */
import { canonical } from "@/lib/kube/go-decode";
import { goDiff, toInternal } from "@/lib/kube/go-internal";
import { deepCopy, deepEqual, newObject, type JsonObject } from "@/lib/kube/json";
import { assign, ensureObject, metadataOf, numberAt, objectAt, objectsAt, textAt } from "@/server/apiserver/access";
import type { ServerContext } from "@/server/apiserver/context";
import { semanticEqual } from "@/server/apiserver/equal";
import { child, forbidden, invalid, required, type FieldError } from "@/server/apiserver/field";
import { metadataUpdateErrors } from "./metadata";
import { inclusiveRange } from "./paths";
import { checkDeclaredFeatures, checkNodeCapacity, fillServiceAccount } from "./pod-admission";
import { computeQos } from "./pod-qos";
import { keepResizeOnly, resizeErrors, type ResizeGates } from "./pod-resize";
import { podErrors } from "./pod-spec";
import { defaultPodResources } from "./pod-totals";
import { podWarnings } from "./pod-warnings";
import type { Rules } from "./rules";

const specType = "core/v1.PodSpec";
const maxInt32 = 2147483647;

const updatable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
];

function gatesOf({ gates }: ServerContext): ResizeGates {
  // The alpha gate is on here: this server's node resizes memory-backed volumes.
  return {
    memoryVolumes: gates.get("InPlacePodVerticalScalingMemoryBackedVolumes") ?? true,
    podLevel: gates.get("InPlacePodLevelResourcesVerticalScaling") ?? true,
  };
}

/** Fields behind alpha gates that are off. */
function dropDisabled(pod: JsonObject): void {
  for (const volume of objectsAt(objectAt(pod, "spec"), "volumes")) {
    const dir = objectAt(volume, "emptyDir");
    if (dir !== undefined) delete dir["mode"];
    for (const key of ["secret", "configMap", "downwardAPI", "projected"]) {
      const source = objectAt(volume, key);
      if (source === undefined) continue;
      delete source["defaultUser"];
      for (const item of objectsAt(source, "items")) delete item["user"];
      for (const one of objectsAt(source, "sources")) dropUsers(one);
    }
  }
}

function dropUsers(source: JsonObject): void {
  for (const key of ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"]) {
    const part = objectAt(source, key);
    if (part === undefined) continue;
    delete part["user"];
    for (const item of objectsAt(part, "items")) delete item["user"];
  }
}

/** A client that does not know pod-level resources does not drop them. */
function keepPodResources(next: JsonObject, old: JsonObject): void {
  const resources = objectAt(old, "spec", "resources");
  if (resources !== undefined && objectAt(next, "spec", "resources") === undefined) ensureObject(next, "spec")["resources"] = deepCopy(resources);
}

function raiseGeneration(next: JsonObject, old: JsonObject): void {
  if (semanticEqual(specType, next["spec"], old["spec"])) return;
  metadataOf(next)["generation"] = (numberAt(metadataOf(old), "generation") ?? 0) + 1;
}

function updateErrors(next: JsonObject, old: JsonObject, { allowPrivileged }: ServerContext): FieldError[] {
  const errors = [...metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata")), ...podErrors(next, { allowPrivileged, old })];
  const [spec, before] = [ensureObject(next, "spec"), ensureObject(old, "spec")];
  for (const key of ["containers", "initContainers"]) {
    const found = containerUpdateErrors(objectsAt(spec, key), objectsAt(before, key), `spec.${key}`);
    errors.push(...found.errors);
    if (found.stop) return errors;
  }
  const deadline = deadlineErrors(spec, before);
  errors.push(...deadline.errors);
  if (deadline.stop) return errors;
  errors.push(...tolerationErrors(spec, before));
  return [...errors, ...specChangeErrors(spec, before)];
}

function containerUpdateErrors(next: readonly JsonObject[], old: readonly JsonObject[], at: string): { errors: FieldError[]; stop: boolean } {
  if (next.length !== old.length) return { errors: [forbidden(at, "pod updates may not add or remove containers")], stop: true };
  const errors = next.flatMap((container, index) => {
    const image = textAt(container, "image");
    const path = `${child(at, index)}.image`;
    if (image === "") return [required(path, "")];
    return image.trim() === image ? [] : [invalid(path, image, "must not have leading or trailing whitespace")];
  });
  return { errors, stop: false };
}

function deadlineErrors(spec: JsonObject, before: JsonObject): { errors: FieldError[]; stop: boolean } {
  const at = "spec.activeDeadlineSeconds";
  const [now, old] = [numberAt(spec, "activeDeadlineSeconds"), numberAt(before, "activeDeadlineSeconds")];
  if (now === undefined) {
    return { errors: old === undefined ? [] : [invalid(at, null, "must not update from a positive integer to nil value")], stop: false };
  }
  if (now < 0 || now > maxInt32) return { errors: [invalid(at, now, inclusiveRange(0, maxInt32))], stop: true };
  if (old !== undefined && old < now) return { errors: [invalid(at, now, "must be less than or equal to previous value")], stop: true };
  return { errors: [], stop: false };
}

/** Tolerations may be added; of a known one only the time may change. */
function tolerationErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  const now = objectsAt(spec, "tolerations");
  const without = (one: JsonObject): JsonObject => newObject(Object.entries(one).filter(([key]) => key !== "tolerationSeconds"));
  const missing = objectsAt(before, "tolerations").some((old) => !now.some((one) => deepEqual(without(one), without(old))));
  return missing ? [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")] : [];
}

function specChangeErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  if (semanticEqual(specType, spec, before)) return [];
  const masked = deepCopy(spec);
  for (const key of ["containers", "initContainers"]) {
    objectsAt(masked, key).forEach((container, index) => assign(container, "image", objectsAt(before, key)[index]?.["image"]));
  }
  for (const key of ["activeDeadlineSeconds", "schedulingGates", "tolerations"]) assign(masked, key, before[key]);
  if ((numberAt(before, "terminationGracePeriodSeconds") ?? 0) < 0 && numberAt(masked, "terminationGracePeriodSeconds") === 1) {
    assign(masked, "terminationGracePeriodSeconds", before["terminationGracePeriodSeconds"]);
  }
  if (semanticEqual(specType, masked, before)) return [];
  const internal = (value: JsonObject): JsonObject => toInternal(specType, "core.PodSpec", canonical(specType, value, { keepEmpty: true }));
  return [forbidden("spec", `pod updates may not change fields other than ${updatable.join(",")}\n${goDiff(internal(before), internal(masked))}`)];
}

/** Metadata that a status update may not touch, and what an older kubelet would drop. */
function prepareStatus(next: JsonObject, old: JsonObject): void {
  assign(next, "spec", old["spec"]);
  delete metadataOf(next)["deletionTimestamp"];
  assign(metadataOf(next), "ownerReferences", metadataOf(old)["ownerReferences"]);
  const status = ensureObject(next, "status");
  if (textAt(status, "qosClass") === "") assign(status, "qosClass", objectAt(old, "status")?.["qosClass"]);
}

function statusErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const errors = metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata"));
  const [status, before] = [objectAt(next, "status"), objectAt(old, "status")];
  const [nominated, spec] = [textAt(status, "qosClass"), textAt(before, "qosClass")];
  if (spec !== "" && nominated !== spec) errors.push(invalid("status.qosClass", nominated, "field is immutable"));
  return errors;
}

export const podRules: Rules = {
  admitCreate: fillServiceAccount,
  prepareForCreate(pod) {
    metadataOf(pod)["generation"] = 1;
    defaultPodResources(ensureObject(pod, "spec"));
    dropDisabled(pod);
    pod["status"] = newObject([["phase", "Pending"]]);
    ensureObject(pod, "status")["qosClass"] = computeQos(pod);
  },
  validateCreate: (pod, { allowPrivileged }) => podErrors(pod, { allowPrivileged }),
  warningsOnCreate: podWarnings,
  graceSeconds(pod, asked) {
    const spec = objectAt(pod, "spec");
    if (textAt(spec, "nodeName") === "" || ["Failed", "Succeeded"].includes(textAt(objectAt(pod, "status"), "phase"))) return 0;
    const period = asked ?? numberAt(spec, "terminationGracePeriodSeconds") ?? 0;
    return period < 0 ? 1 : period;
  },
  update: {
    prepare(next, old) {
      assign(next, "status", old["status"]);
      keepPodResources(next, old);
      dropDisabled(next);
      raiseGeneration(next, old);
    },
    validate: updateErrors,
    warnings: (next) => podWarnings(next),
    admit: checkDeclaredFeatures,
  },
  subresources: {
    status: { prepare: prepareStatus, validate: statusErrors },
    resize: {
      prepare(next, old, context) {
        keepResizeOnly(next, old, gatesOf(context));
        keepPodResources(next, old);
        defaultPodResources(ensureObject(next, "spec"));
        dropDisabled(next);
        raiseGeneration(next, old);
      },
      validate: (next, old, context) => resizeErrors(next, old, { ...gatesOf(context), allowPrivileged: context.allowPrivileged }),
      admit(next, old, context) {
        checkDeclaredFeatures(next, old, context);
        checkNodeCapacity(next, old, context);
      },
    },
  },
};
