/** Rules of a claim's spec, also where it stands in a pod's ephemeral volume. Source: kubernetes v1.37.2, ValidatePersistentVolumeClaimSpec. */
import { deepEqual, newObject, type JsonObject } from "@/lib/kube/json";
import { isDNS1123Label, isDNS1123Subdomain } from "@/lib/names";
import { parseQuantity } from "@/lib/quantity";
import { assign, objectAt, optionalText, textAt, textsAt } from "@/server/apiserver/access";
import { child, forbidden, invalid, keyed, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { labelSelectorErrors } from "./metadata";

export interface ClaimSpecOptions {
  readonly allowInvalidLabelValues?: boolean;
  readonly allowInvalidApiGroup?: boolean;
}

export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"] as const;
export const volumeModes = ["Block", "Filesystem"] as const;

export function claimSpecErrors(spec: JsonObject | undefined, path: string, options: ClaimSpecOptions = {}): FieldError[] {
  return [
    ...accessModeErrors(spec, path, options),
    ...storageErrors(spec, path),
    ...classErrors(spec, path),
    ...sourceErrors(spec, path, options),
    ...attributesClassErrors(spec, path),
  ];
}

function accessModeErrors(spec: JsonObject | undefined, path: string, options: ClaimSpecOptions): FieldError[] {
  const errors: FieldError[] = [];
  const modes = textsAt(spec, "accessModes");
  if (modes.length === 0) errors.push(required(child(path, "accessModes"), "at least 1 access mode is required"));
  errors.push(...labelSelectorErrors(objectAt(spec, "selector"), child(path, "selector"), options.allowInvalidLabelValues));
  for (const mode of modes) if (!isAccessMode(mode)) errors.push(notSupported(child(path, "accessModes"), mode, accessModes));
  if (modes.includes("ReadWriteOncePod") && modes.some((mode) => mode !== "ReadWriteOncePod" && isAccessMode(mode))) {
    errors.push(forbidden(child(path, "accessModes"), "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

export function isAccessMode(mode: string): boolean {
  return accessModes.some((known) => known === mode);
}

function storageErrors(spec: JsonObject | undefined, path: string): FieldError[] {
  const at = keyed(child(path, "resources"), "storage");
  const storage = optionalText(objectAt(spec, "resources", "requests"), "storage");
  if (storage === undefined) return [required(at, "")];
  const quantity = parseQuantity(storage);
  return quantity.sign() <= 0 ? [invalid(at, quantity.toString(), "must be greater than zero")] : [];
}

function classErrors(spec: JsonObject | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const className = textAt(spec, "storageClassName");
  if (className !== "") errors.push(...isDNS1123Subdomain(className).map((message) => invalid(child(path, "storageClassName"), className, message)));
  const mode = optionalText(spec, "volumeMode");
  if (mode !== undefined && !volumeModes.some((known) => known === mode)) errors.push(notSupported(child(path, "volumeMode"), mode, volumeModes));
  return errors;
}

function attributesClassErrors(spec: JsonObject | undefined, path: string): FieldError[] {
  const name = textAt(spec, "volumeAttributesClassName");
  if (name === "") return [];
  return isDNS1123Subdomain(name).map((message) => invalid(child(path, "volumeAttributesClassName"), name, message));
}

function sourceErrors(spec: JsonObject | undefined, path: string, options: ClaimSpecOptions): FieldError[] {
  const errors: FieldError[] = [];
  const source = objectAt(spec, "dataSource");
  const reference = objectAt(spec, "dataSourceRef");
  if (source !== undefined) errors.push(...oneSourceErrors(source, child(path, "dataSource"), options));
  if (reference !== undefined) {
    errors.push(...oneSourceErrors(reference, child(path, "dataSourceRef"), options));
    const namespace = textAt(reference, "namespace");
    if (namespace !== "") errors.push(...isDNS1123Label(namespace).map((message) => invalid(child(path, "dataSourceRef", "namespace"), namespace, message)));
  }
  if (source === undefined || reference === undefined) return errors;
  // The value shown is the path of the other field: the real server passes a path where a value belongs.
  const shown = newObject();
  if (textAt(reference, "namespace") !== "") errors.push(invalid(path, shown, "may not be specified when dataSourceRef.namespace is specified"));
  else if (!sameSource(source, reference)) errors.push(invalid(path, shown, "must match dataSourceRef"));
  return errors;
}

function sameSource(source: JsonObject, reference: JsonObject): boolean {
  return ["apiGroup", "kind", "name"].every((key) => deepEqual(source[key] ?? null, reference[key] ?? null));
}

function oneSourceErrors(source: JsonObject, path: string, options: ClaimSpecOptions): FieldError[] {
  const errors: FieldError[] = [];
  const kind = textAt(source, "kind");
  const group = textAt(source, "apiGroup");
  if (textAt(source, "name") === "") errors.push(required(`${path}.name`, ""));
  if (kind === "") errors.push(required(`${path}.kind`, ""));
  if (group === "" && kind !== "PersistentVolumeClaim") {
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (group !== "" && options.allowInvalidApiGroup !== true) {
    errors.push(...isDNS1123Subdomain(group).map((message) => invalid(`${path}.apiGroup`, group, message)));
  }
  return errors;
}

// What is dropped or copied before validation (pkg/api/persistentvolumeclaim/util.go).

/** A source in another namespace is behind a gate that is off: dropped, unless the stored claim has one already. */
export function dropDisabledClaimFields(spec: JsonObject, old: JsonObject | undefined): void {
  if (textAt(objectAt(spec, "dataSourceRef"), "namespace") !== "" && objectAt(old, "dataSourceRef") === undefined) delete spec["dataSourceRef"];
}

/** `dataSource` alone may only name a claim or a snapshot; anything else is dropped without a word. */
export function dropForeignSource(spec: JsonObject, old: JsonObject | undefined): void {
  if (objectAt(old, "dataSource") !== undefined || objectAt(old, "dataSourceRef") !== undefined) return;
  if (objectAt(spec, "dataSourceRef") !== undefined) return;
  const source = objectAt(spec, "dataSource");
  const group = textAt(source, "apiGroup");
  const kind = textAt(source, "kind");
  const kept = (kind === "PersistentVolumeClaim" && group === "") || (kind === "VolumeSnapshot" && group === "snapshot.storage.k8s.io");
  if (!kept) delete spec["dataSource"];
}

/** The older and the newer field say the same where only one was given. */
export function alignSources(spec: JsonObject): void {
  const source = objectAt(spec, "dataSource");
  const reference = objectAt(spec, "dataSourceRef");
  if (source !== undefined && reference === undefined) spec["dataSourceRef"] = sourceCopy(source);
  else if (reference !== undefined && source === undefined && textAt(reference, "namespace") === "") spec["dataSource"] = sourceCopy(reference);
}

function sourceCopy(from: JsonObject): JsonObject {
  const copy = newObject();
  for (const key of ["apiGroup", "kind", "name"]) assign(copy, key, from[key]);
  return copy;
}
