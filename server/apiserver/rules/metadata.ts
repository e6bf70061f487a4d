/** Rules of metadata. Source: k8s.io/apimachinery v0.37.2, pkg/api/validation/objectmeta.go and pkg/apis/meta/v1/validation. */
import { goQuote } from "@/lib/go-text";
import { deepEqual, type JsonObject } from "@/lib/kube/json";
import { isDNS1123Label, isDNS1123Subdomain, isLabelValue, isPathSegmentName, isQualifiedName, utf8Length } from "@/lib/names";
import { flagAt, numberAt, objectAt, objectsAt, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { child, forbidden, invalid, required, tooLong, type FieldError } from "@/server/apiserver/field";

export type NameRule = (name: string, prefix: boolean) => readonly string[];

/** A prefix may end in a dash: the generated part follows. */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

export const subdomainName: NameRule = (name, prefix) => isDNS1123Subdomain(prefix ? maskTrailingDash(name) : name);
export const labelName: NameRule = (name, prefix) => isDNS1123Label(prefix ? maskTrailingDash(name) : name);

/** Any name that is one segment of a path: all that a kind kept as it came must fulfil. */
export const pathSegmentName: NameRule = isPathSegmentName;

const annotationBytes = 256 * 1024;

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly name: NameRule;
  /** A finalizer without a domain is taken whatever its name. */
  readonly anyFinalizer?: boolean;
}

/** ValidateObjectMeta. */
export function metadataErrors(metadata: JsonObject | undefined, rules: MetadataRules): FieldError[] {
  const errors: FieldError[] = [];
  const generateName = textAt(metadata, "generateName");
  const name = textAt(metadata, "name");
  if (generateName !== "") for (const message of rules.name(generateName, true)) errors.push(invalid("metadata.generateName", generateName, message));
  if (name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else for (const message of rules.name(name, false)) errors.push(invalid("metadata.name", name, message));
  return [...errors, ...namespaceErrors(metadata, rules.namespaced), ...generationErrors(metadata), ...commonErrors(metadata), ...finalizerErrors(metadata, rules.anyFinalizer)];
}

function namespaceErrors(metadata: JsonObject | undefined, namespaced: boolean): FieldError[] {
  const namespace = textAt(metadata, "namespace");
  if (!namespaced) return namespace === "" ? [] : [forbidden("metadata.namespace", "not allowed on this type")];
  if (namespace === "") return [required("metadata.namespace", "")];
  return isDNS1123Label(namespace).map((message) => invalid("metadata.namespace", namespace, message));
}

function generationErrors(metadata: JsonObject | undefined): FieldError[] {
  const generation = numberAt(metadata, "generation") ?? 0;
  return generation < 0 ? [invalid("metadata.generation", generation, "must be greater than or equal to 0")] : [];
}

function commonErrors(metadata: JsonObject | undefined): FieldError[] {
  return [...labelErrors(metadata, "labels", "metadata.labels"), ...annotationErrors(metadata, "metadata.annotations"), ...ownerErrors(metadata)];
}

/** ValidateLabels of the map at `key`. */
export function labelErrors(object: JsonObject | undefined, key: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, value] of textMap(object, key)) {
    errors.push(...isQualifiedName(name).map((message) => invalid(path, name, message)));
    errors.push(...isLabelValue(value).map((message) => invalid(path, value, message)));
  }
  return errors;
}

export function annotationErrors(metadata: JsonObject | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [name, value] of textMap(metadata, "annotations")) {
    errors.push(...isQualifiedName(name.toLowerCase()).map((message) => invalid(path, name, message)));
    bytes += utf8Length(name) + utf8Length(value);
  }
  if (bytes > annotationBytes) errors.push(tooLong(path, annotationBytes));
  return errors;
}

function ownerErrors(metadata: JsonObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const owners = objectsAt(metadata, "ownerReferences");
  let controller = "";
  owners.forEach((owner, index) => {
    errors.push(...oneOwnerErrors(owner, child("metadata", "ownerReferences", index)));
    if (!flagAt(owner, "controller")) return;
    const current = `${textAt(owner, "kind")}/${textAt(owner, "name")}`;
    if (controller === "") controller = current;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(invalid("metadata.ownerReferences", owners, detail));
    }
  });
  return errors;
}

function oneOwnerErrors(owner: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = textAt(owner, "apiVersion");
  if (apiVersion === "") errors.push(required(`${path}.apiVersion`, "must not be empty"));
  else if (apiVersion.split("/").length > 2 || apiVersion.endsWith("/")) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, "must be <group>/<version> or <version>"));
  }
  for (const key of ["kind", "name", "uid"]) if (textAt(owner, key) === "") errors.push(required(`${path}.${key}`, "must not be empty"));
  if (apiVersion === "v1" && textAt(owner, "kind") === "Event") {
    errors.push(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"));
  }
  return errors;
}

const plainFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];

function finalizerErrors(metadata: JsonObject | undefined, anyName = false): FieldError[] {
  const finalizers = textsAt(metadata, "finalizers");
  const errors = finalizers.flatMap((name) => isQualifiedName(name).map((message) => invalid("metadata.finalizers", name, message)));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return anyName ? errors : [...errors, ...plainNameErrors(finalizers)];
}

function plainNameErrors(finalizers: readonly string[]): FieldError[] {
  return finalizers.flatMap((name, index) => {
    if (name.includes("/") || plainFinalizers.includes(name)) return [];
    return [invalid(child("metadata", "finalizers", index), name, "name is neither a standard finalizer name nor is it fully qualified")];
  });
}

/** ValidateObjectMetaUpdate. */
export function metadataUpdateErrors(metadata: JsonObject | undefined, old: JsonObject | undefined, anyFinalizer = false): FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(old, "deletionTimestamp") !== "") errors.push(...newFinalizerErrors(metadata, old));
  const version = textAt(metadata, "resourceVersion");
  if (version === "") errors.push(invalid("metadata.resourceVersion", version, "must be specified for an update"));
  errors.push(...generationErrors(metadata));
  const generation = numberAt(metadata, "generation") ?? 0;
  if (generation < (numberAt(old, "generation") ?? 0)) errors.push(invalid("metadata.generation", generation, "must not be decremented"));
  for (const key of ["name", "namespace", "uid"]) {
    if (textAt(metadata, key) !== textAt(old, key)) errors.push(invalid(`metadata.${key}`, textAt(metadata, key), "field is immutable"));
  }
  for (const key of ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]) {
    if (!deepEqual(metadata?.[key] ?? null, old?.[key] ?? null)) errors.push(invalid(`metadata.${key}`, metadata?.[key], "field is immutable"));
  }
  errors.push(...commonErrors(metadata));
  return anyFinalizer ? errors : [...errors, ...plainNameErrors(textsAt(metadata, "finalizers"))];
}

function newFinalizerErrors(metadata: JsonObject | undefined, old: JsonObject | undefined): FieldError[] {
  const known = new Set(textsAt(old, "finalizers"));
  const extra = [...new Set(textsAt(metadata, "finalizers").filter((name) => !known.has(name)))].sort();
  if (extra.length === 0) return [];
  const listed = `[]string{${extra.map(goQuote).join(", ")}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${listed}`;
  return [forbidden("metadata.finalizers", detail)];
}

/** ValidateLabelSelector. */
export function labelSelectorErrors(selector: JsonObject | undefined, path: string, allowInvalidValues = false): FieldError[] {
  if (selector === undefined) return [];
  const errors = labelErrors(selector, "matchLabels", `${path}.matchLabels`);
  objectsAt(selector, "matchExpressions").forEach((expression, index) => {
    errors.push(...requirementErrors(expression, child(path, "matchExpressions", index), allowInvalidValues));
  });
  return errors;
}

function requirementErrors(expression: JsonObject, path: string, allowInvalidValues: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const operator = textAt(expression, "operator");
  const values = textsAt(expression, "values");
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  const key = textAt(expression, "key");
  errors.push(...isQualifiedName(key).map((message) => invalid(`${path}.key`, key, message)));
  if (allowInvalidValues) return errors;
  values.forEach((value, index) => errors.push(...isLabelValue(value).map((message) => invalid(`${path}.values[${index}]`, value, message))));
  return errors;
}

/** Immutable annotation: the error stands at `metadata.annotations.NAME`. */
export function immutableAnnotationErrors(next: JsonObject, old: JsonObject, annotation: string): FieldError[] {
  const value = textAt(objectAt(next, "metadata", "annotations"), annotation);
  if (value === textAt(objectAt(old, "metadata", "annotations"), annotation)) return [];
  return [invalid(`metadata.annotations.${annotation}`, value, "field is immutable")];
}
