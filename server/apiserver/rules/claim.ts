/**
 * Rules of PersistentVolumeClaim and its status. Source: kubernetes v1.37.2, pkg/registry/core/persistentvolumeclaim/strategy.go,
 * ValidatePersistentVolumeClaimUpdate and ...StatusUpdate of pkg/apis/core/validation, plugin PersistentVolumeClaimResize.
 */
import { canonical } from "@/lib/kube/go-decode";
import { goDiff, toInternal } from "@/lib/kube/go-internal";
import { deepCopy, newObject, type JsonObject } from "@/lib/kube/json";
import { isQualifiedName } from "@/lib/names";
import { parseQuantity, Quantity } from "@/lib/quantity";
import { assign, ensureObject, objectAt, optionalText, textAt, textMap, textsAt } from "@/server/apiserver/access";
import type { ServerContext } from "@/server/apiserver/context";
import { semanticEqual } from "@/server/apiserver/equal";
import { forbidden, invalid, keyed, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { forbiddenError } from "@/server/apiserver/status";
import { alignSources, claimSpecErrors, dropDisabledClaimFields, dropForeignSource, type ClaimSpecOptions } from "./claim-spec";
import { immutableAnnotationErrors, labelSelectorErrors, metadataErrors, metadataUpdateErrors, subdomainName } from "./metadata";
import type { Rules, UpdateRules } from "./rules";
import { isNativeResource } from "./resource-names";

const specType = "core/v1.PersistentVolumeClaimSpec";
const betaClass = "volume.beta.kubernetes.io/storage-class";

function claimErrors(claim: JsonObject, options: ClaimSpecOptions): FieldError[] {
  const metadata = metadataErrors(objectAt(claim, "metadata"), { namespaced: true, name: subdomainName });
  return [...metadata, ...claimSpecErrors(objectAt(claim, "spec"), "spec", options)];
}

/** Values that an old object holds already stay allowed. */
function optionsFor(old: JsonObject): ClaimSpecOptions {
  const spec = objectAt(old, "spec");
  const hasGroup = [objectAt(spec, "dataSource"), objectAt(spec, "dataSourceRef")].some((source) => optionalText(source, "apiGroup") !== undefined);
  return { allowInvalidApiGroup: hasGroup, allowInvalidLabelValues: labelSelectorErrors(objectAt(spec, "selector"), "").length > 0 };
}

function storage(object: JsonObject, ...path: readonly string[]): Quantity {
  const text = optionalText(objectAt(object, ...path), "storage");
  return text === undefined ? Quantity.zero : parseQuantity(text);
}

function updateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const errors = [...metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata")), ...claimErrors(next, optionsFor(old))];
  const nextSpec = deepCopy(ensureObject(next, "spec"));
  const oldSpec = deepCopy(ensureObject(old, "spec"));
  if (textAt(oldSpec, "volumeName") === "") assign(oldSpec, "volumeName", nextSpec["volumeName"]);
  errors.push(...classChangeErrors({ next, old }, { nextSpec, oldSpec }));
  if (textAt(objectAt(next, "status"), "phase") === "Bound") allowBoundChanges(nextSpec, oldSpec);
  if (!semanticEqual(specType, nextSpec, oldSpec)) {
    const diff = goDiff(internalSpec(oldSpec), internalSpec(nextSpec));
    errors.push(forbidden("spec", `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${diff}`));
  }
  return [...errors, ...sizeErrors(next, old), ...modeErrors(next, old), ...attributesClassErrors(next, old)];
}

function internalSpec(spec: JsonObject): JsonObject {
  return toInternal(specType, "core.PersistentVolumeClaimSpec", canonical(specType, spec, { keepEmpty: true }));
}

/** Of a bound claim the requested size and the attributes class may change. */
function allowBoundChanges(nextSpec: JsonObject, oldSpec: JsonObject): void {
  const requests = objectAt(nextSpec, "resources", "requests");
  const old = objectAt(oldSpec, "resources", "requests")?.["storage"];
  if (requests !== undefined) requests["storage"] = old ?? "0";
  assign(oldSpec, "volumeAttributesClassName", nextSpec["volumeAttributesClassName"]);
}

/** The class may move from the old annotation to the field, and be set once where none was; else it is fixed. */
function classChangeErrors(whole: { next: JsonObject; old: JsonObject }, specs: { nextSpec: JsonObject; oldSpec: JsonObject }): FieldError[] {
  const oldAnnotation = textMap(objectAt(whole.old, "metadata"), "annotations").get(betaClass);
  const nextAnnotation = textMap(objectAt(whole.next, "metadata"), "annotations").get(betaClass);
  const oldClass = optionalText(specs.oldSpec, "storageClassName");
  const nextClass = optionalText(specs.nextSpec, "storageClassName");
  const setAnew = nextClass !== undefined && oldClass === undefined;
  const fromAnnotation = setAnew && oldAnnotation !== undefined && nextClass === oldAnnotation && (nextAnnotation ?? oldAnnotation) === oldAnnotation;
  if (fromAnnotation) {
    delete specs.nextSpec["storageClassName"];
    return [];
  }
  if (setAnew && (oldAnnotation === undefined || nextClass === oldAnnotation)) delete specs.nextSpec["storageClassName"];
  return immutableAnnotationErrors(whole.next, whole.old, betaClass);
}

function sizeErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const size = storage(next, "spec", "resources", "requests");
  if (size.cmp(storage(old, "spec", "resources", "requests")) >= 0) return [];
  if (size.cmp(storage(old, "status", "capacity")) > 0) return [];
  return [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")];
}

function modeErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const mode = optionalText(objectAt(next, "spec"), "volumeMode");
  return mode === optionalText(objectAt(old, "spec"), "volumeMode") ? [] : [invalid("volumeMode", mode, "field is immutable")];
}

function attributesClassErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const name = optionalText(objectAt(next, "spec"), "volumeAttributesClassName");
  if (name === optionalText(objectAt(old, "spec"), "volumeAttributesClassName")) return [];
  if (optionalText(objectAt(old, "status"), "currentVolumeAttributesClassName") === undefined) return [];
  const what = name === undefined ? "nil" : name === "" ? "empty string" : undefined;
  if (what === undefined) return [];
  return [forbidden("spec.volumeAttributesClassName", `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`)];
}

function claimWarnings(claim: JsonObject): string[] {
  const warnings: string[] = [];
  if (textMap(objectAt(claim, "metadata"), "annotations").has(betaClass)) {
    warnings.push(`metadata.annotations[${betaClass}]: deprecated since v1.8; use "storageClassName" attribute instead`);
  }
  return [...warnings, ...fractionWarnings(objectAt(claim, "spec"), "spec")];
}

/** Sizes that are no whole bytes. */
export function fractionWarnings(spec: JsonObject | undefined, path: string): string[] {
  return ["requests", "limits"].flatMap((list) => {
    const text = optionalText(objectAt(spec, "resources", list), "storage");
    if (text === undefined || parseQuantity(text).milliValue() % 1000n === 0n) return [];
    return [`${path}.resources.${list}[storage]: fractional byte value "${parseQuantity(text).toString()}" is invalid, must be an integer`];
  });
}

function prepareSpec(spec: JsonObject, old: JsonObject | undefined): void {
  dropDisabledClaimFields(spec, old);
  dropForeignSource(spec, old);
  alignSources(spec);
}

/** The plugin PersistentVolumeClaimResize: throws an ApiError 403. */
export function admitResize(next: JsonObject, old: JsonObject, context: ServerContext): void {
  const grows = storage(next, "spec", "resources", "requests").cmp(storage(old, "spec", "resources", "requests")) > 0;
  if (!grows) return;
  const refuse = (why: string): never => {
    throw forbiddenError({ group: "", resource: "persistentvolumeclaims" }, textAt(objectAt(next, "metadata"), "name"), why);
  };
  if (textAt(objectAt(old, "status"), "phase") !== "Bound") refuse("Only bound persistent volume claims can be expanded");
  const name = classOf(next);
  const storageClass = name === "" || name !== classOf(old) ? undefined : context.store.get({ group: "storage.k8s.io", resource: "storageclasses", namespace: "", name });
  if (storageClass?.object["allowVolumeExpansion"] === true) return;
  refuse("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize");
}

function classOf(claim: JsonObject): string {
  return textMap(objectAt(claim, "metadata"), "annotations").get(betaClass) ?? textAt(objectAt(claim, "spec"), "storageClassName");
}

const resizeStatuses = ["ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"];

function statusErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const errors = metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata"));
  if (textAt(objectAt(next, "metadata"), "resourceVersion") === "") errors.push(required("resourceVersion", ""));
  if (textsAt(objectAt(next, "spec"), "accessModes").length === 0) errors.push(required("Spec.accessModes", ""));
  const status = objectAt(next, "status");
  for (const [name, text] of textMap(status, "capacity")) errors.push(...basicErrors(text, keyed("status.capacity", name)));
  for (const [name, value] of textMap(status, "allocatedResourceStatuses")) {
    errors.push(...resourceKeyErrors(name, "status.allocatedResourceStatuses"));
    if (!resizeStatuses.includes(value)) errors.push(notSupported("status.allocatedResourceStatuses", name, resizeStatuses));
  }
  for (const [name, text] of textMap(status, "allocatedResources")) errors.push(...allocatedErrors(name, text));
  return errors;
}

function allocatedErrors(name: string, text: string): FieldError[] {
  const keyErrors = resourceKeyErrors(name, "status.allocatedResources");
  return keyErrors.length > 0 ? keyErrors : basicErrors(text, keyed("status.allocatedResources", name), true);
}

function basicErrors(text: string, path: string, nonNegative = false): FieldError[] {
  const quantity = parseQuantity(text);
  if (quantity.value() < 0n) return [invalid(path, quantity.value(), "must be a valid resource quantity")];
  if (nonNegative && quantity.sign() < 0) return [invalid(path, quantity.toString(), "must be greater than or equal to 0")];
  return [];
}

function resourceKeyErrors(name: string, path: string): FieldError[] {
  const errors = isQualifiedName(name).map((message) => invalid(path, name, message));
  if (errors.length > 0) return errors;
  return isNativeResource(name) && name !== "storage" ? [notSupported(path, name, ["storage"])] : [];
}

const status: UpdateRules = {
  prepare(next, old) {
    assign(next, "spec", old["spec"]);
    // Behind the alpha gate CSIVolumeHealth, which is off.
    if (objectAt(old, "status", "healthStatus") === undefined) delete ensureObject(next, "status")["healthStatus"];
  },
  validate: (next, old) => statusErrors(next, old),
};

export const claimRules: Rules = {
  prepareForCreate(claim) {
    claim["status"] = newObject([["phase", "Pending"]]);
    prepareSpec(ensureObject(claim, "spec"), undefined);
  },
  validateCreate: (claim) => claimErrors(claim, {}),
  warningsOnCreate: claimWarnings,
  update: {
    prepare(next, old) {
      assign(next, "status", old["status"]);
      prepareSpec(ensureObject(next, "spec"), objectAt(old, "spec"));
      alignSources(ensureObject(old, "spec"));
    },
    validate: (next, old) => updateErrors(next, old),
    warnings: claimWarnings,
    admit: admitResize,
  },
  subresources: { status },
};
