/** Rules of the storage.k8s.io kinds. Source: kubernetes v1.37.2, pkg/apis/storage/validation and pkg/registry/storage/<kind>/strategy.go. */
import { newObject, type JsonObject } from "@/lib/kube/json";
import { toInternal } from "@/lib/kube/go-internal";
import { isDNS1123Subdomain, isQualifiedName, utf8Length } from "@/lib/names";
import { assign, ensureObject, metadataOf, numberAt, objectAt, objectsAt, optionalFlag, optionalText, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { semanticEqual } from "@/server/apiserver/equal";
import { child, duplicate, invalid, notSupported, required, tooLong, forbidden, type FieldError } from "@/server/apiserver/field";
import { metadataErrors, metadataUpdateErrors, subdomainName } from "./metadata";
import { deprecatedLabel, topologyErrors } from "./node-selector";
import { csiDriverNameErrors, inclusiveRange } from "./paths";
import type { Rules } from "./rules";
import { volumeSpecErrors } from "./volume";

const cluster = { namespaced: false, name: subdomainName };

function metadata(object: JsonObject): FieldError[] {
  return metadataErrors(objectAt(object, "metadata"), cluster);
}

function metadataUpdate(next: JsonObject, old: JsonObject): FieldError[] {
  return metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata"));
}

// StorageClass

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

function classErrors(object: JsonObject): FieldError[] {
  const errors = metadata(object);
  const provisioner = textAt(object, "provisioner");
  if (provisioner === "") errors.push(required("provisioner", ""));
  else errors.push(...isQualifiedName(provisioner.toLowerCase()).map((message) => invalid("provisioner", provisioner.toLowerCase(), message)));
  errors.push(...parameterErrors(textMap(object, "parameters")));
  const policy = optionalText(object, "reclaimPolicy");
  if (policy !== undefined && policy !== "" && !["Delete", "Retain"].includes(policy)) errors.push(notSupported("reclaimPolicy", policy, ["Delete", "Retain"]));
  const mode = optionalText(object, "volumeBindingMode");
  const modes = ["Immediate", "WaitForFirstConsumer"];
  if (mode === undefined) errors.push(required("volumeBindingMode", ""));
  else if (!modes.includes(mode)) errors.push(notSupported("volumeBindingMode", mode, modes));
  return [...errors, ...topologyErrors(objectsAt(object, "allowedTopologies"), "allowedTopologies")];
}

function parameterErrors(parameters: ReadonlyMap<string, string>): FieldError[] {
  if (parameters.size > maxParameters) return [tooLong("parameters", maxParameters)];
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of parameters) {
    if (key === "") errors.push(invalid("parameters", key, "field can not be empty."));
    bytes += utf8Length(key) + utf8Length(value);
  }
  return bytes > maxParameterBytes ? [...errors, tooLong("parameters", maxParameterBytes)] : errors;
}

function classUpdateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const only = (object: JsonObject, key: string): JsonObject => newObject([[key, object[key]]]);
  const changed = ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"].filter(
    (key) => !semanticEqual("storage/v1.StorageClass", only(next, key), only(old, key)),
  );
  return [...classErrors(next), ...metadataUpdate(next, old), ...changed.map(fixed)];
}

/** A field declared immutable: such a refusal does not show the value, and follows all others. */
function fixed(path: string): FieldError {
  return invalid(path, null, "field is immutable");
}

function classWarnings(object: JsonObject): string[] {
  return objectsAt(object, "allowedTopologies").flatMap((term, i) =>
    objectsAt(term, "matchLabelExpressions").flatMap((expression, j) => {
      const message = deprecatedLabel(textAt(expression, "key"));
      return message === undefined ? [] : [`${child("allowedTopologies", i, "matchLabelExpressions", j, "key")}: ${message}`];
    }),
  );
}

export const storageClassRules: Rules = {
  prepareForCreate: () => undefined,
  validateCreate: classErrors,
  warningsOnCreate: classWarnings,
  update: { prepare: () => undefined, validate: classUpdateErrors, warnings: classWarnings },
};

// CSIDriver

const groupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];
const driverSpecType = "storage/v1.CSIDriverSpec";
const tokenAdvice =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

function driverSpecErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const needed: readonly (readonly [string, string])[] = [["attachRequired", "attachedRequired"], ["podInfoOnMount", "podInfoOnMount"], ["storageCapacity", "storageCapacity"]];
  for (const [key, path] of needed) if (optionalFlag(spec, key) === undefined) errors.push(required(`spec.${path}`, ""));
  const policy = optionalText(spec, "fsGroupPolicy");
  if (policy !== undefined && !groupPolicies.includes(policy)) errors.push(notSupported("spec.fsGroupPolicy", policy, groupPolicies));
  errors.push(...tokenErrors(spec));
  for (const mode of textsAt(spec, "volumeLifecycleModes")) {
    if (!["Persistent", "Ephemeral"].includes(mode)) errors.push(notSupported("spec.volumeLifecycleModes", mode, ["Persistent", "Ephemeral"]));
  }
  if (optionalFlag(spec, "seLinuxMount") === undefined) errors.push(required("spec.seLinuxMount", ""));
  const period = numberAt(spec, "nodeAllocatableUpdatePeriodSeconds");
  if (period !== undefined && period < 10) errors.push(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, "must be greater than or equal to 10 seconds"));
  const inSecrets = optionalFlag(spec, "serviceAccountTokenInSecrets");
  if (inSecrets !== undefined && objectsAt(spec, "tokenRequests").length === 0) {
    errors.push(invalid("spec.serviceAccountTokenInSecrets", inSecrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified"));
  }
  return errors;
}

function tokenErrors(spec: JsonObject): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(spec, "tokenRequests").flatMap((request, index) => {
    const path = child("spec", "tokenRequests", index);
    const audience = textAt(request, "audience");
    if (seen.has(audience)) return [duplicate(`${path}.audience`, audience)];
    seen.add(audience);
    const seconds = numberAt(request, "expirationSeconds");
    if (seconds === undefined) return [];
    if (seconds < 600) return [invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes")];
    return seconds > 2 ** 32 ? [invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration larger than 2^32 seconds")] : [];
  });
}

function driverUpdateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [ensureObject(next, "spec"), ensureObject(old, "spec")];
  const errors = [...metadataUpdate(next, old), ...driverSpecErrors(spec)];
  if (optionalFlag(spec, "attachRequired") !== optionalFlag(before, "attachRequired")) {
    errors.push(invalid("spec.attachedRequired", spec["attachRequired"] ?? null, "field is immutable"));
  }
  if (textsAt(spec, "volumeLifecycleModes").join() !== textsAt(before, "volumeLifecycleModes").join()) {
    errors.push(invalid("spec.volumeLifecycleModes", spec["volumeLifecycleModes"] ?? null, "field is immutable"));
  }
  return errors;
}

function adviceFor(spec: JsonObject): string[] {
  return objectsAt(spec, "tokenRequests").length > 0 && optionalFlag(spec, "serviceAccountTokenInSecrets") === undefined ? [tokenAdvice] : [];
}

export const csiDriverRules: Rules = {
  prepareForCreate: () => undefined,
  validateCreate: (object) => [...metadata(object), ...driverSpecErrors(ensureObject(object, "spec"))],
  warningsOnCreate: (object) => adviceFor(ensureObject(object, "spec")),
  needsResourceVersion: true,
  update: {
    prepare(next, old) {
      const [spec, before] = [ensureObject(next, "spec"), ensureObject(old, "spec")];
      if (!semanticEqual(driverSpecType, spec, before)) metadataOf(next)["generation"] = (numberAt(metadataOf(old), "generation") ?? 0) + 1;
    },
    validate: driverUpdateErrors,
    warnings(next, old) {
      const [spec, before] = [ensureObject(next, "spec"), ensureObject(old, "spec")];
      const same = JSON.stringify(spec["tokenRequests"] ?? []) === JSON.stringify(before["tokenRequests"] ?? []);
      return same ? [] : adviceFor(spec);
    },
  },
};

// CSINode

const maxNodeIdBytes = 256;

function nodeErrors(object: JsonObject): FieldError[] {
  const drivers = objectsAt(objectAt(object, "spec"), "drivers");
  return [...metadata(object), ...drivers.flatMap((driver, index) => nodeDriverErrors(driver, { at: child("spec", "drivers", index), earlier: drivers.slice(0, index) }))];
}

function nodeDriverErrors(driver: JsonObject, { at, earlier }: { at: string; earlier: readonly JsonObject[] }): FieldError[] {
  const name = textAt(driver, "name");
  const nodeId = textAt(driver, "nodeID");
  const errors = csiDriverNameErrors(name, `${at}.name`);
  if (nodeId === "") errors.push(required(`${at}.nodeID`, ""));
  if (utf8Length(nodeId) > maxNodeIdBytes) errors.push(invalid(`${at}.nodeID`, nodeId, `must be ${maxNodeIdBytes} characters or less`));
  const count = numberAt(objectAt(driver, "allocatable"), "count");
  if (count !== undefined && count < 0) errors.push(invalid(`${at}.allocatable.count`, count, "must be greater than or equal to 0"));
  if (earlier.some((other) => textAt(other, "name") === name)) errors.push(duplicate(`${at}.name`, name));
  const keys = textsAt(driver, "topologyKeys");
  keys.forEach((key, index) => {
    if (key === "") errors.push(required(at, ""));
    if (keys.indexOf(key) < index) errors.push(duplicate(at, key));
    errors.push(...isQualifiedName(key).map((message) => invalid(at, key, message)));
  });
  return errors;
}

/** What is known of a driver is fixed, but for how many volumes it takes. */
function nodeUpdateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const errors = nodeErrors(next);
  const without = (driver: JsonObject): JsonObject => newObject(Object.entries(driver).filter(([key]) => key !== "allocatable"));
  for (const before of objectsAt(objectAt(old, "spec"), "drivers")) {
    for (const driver of objectsAt(objectAt(next, "spec"), "drivers")) {
      if (textAt(driver, "name") !== textAt(before, "name")) continue;
      if (semanticEqual("storage/v1.CSINodeDriver", without(driver), without(before))) continue;
      const shown = toInternal("storage/v1.CSINodeDriver", "storage.CSINodeDriver", without(driver));
      errors.push(invalid("spec.drivers", shown, "field is immutable"));
    }
  }
  return errors;
}

export const csiNodeRules: Rules = {
  prepareForCreate: (object) => assign(object, "status", undefined),
  validateCreate: nodeErrors,
  needsResourceVersion: true,
  update: { prepare: (next, old) => assign(next, "status", old["status"]), validate: nodeUpdateErrors },
};

// VolumeAttachment

const maxMetadataBytes = 256 * 1024;
const maxMessageBytes = 1024;

function attachmentErrors(object: JsonObject): FieldError[] {
  const spec = ensureObject(object, "spec");
  const source = objectAt(spec, "source");
  const name = optionalText(source, "persistentVolumeName");
  const errors = [...metadata(object), ...csiDriverNameErrors(textAt(spec, "attacher"), "spec.attacher"), ...attachmentSourceErrors(source)];
  const node = textAt(spec, "nodeName");
  errors.push(...isDNS1123Subdomain(node).map((message) => invalid("spec.nodeName", node, message)));
  errors.push(...attachmentStatusErrors(objectAt(object, "status")));
  if (name !== undefined) errors.push(...isDNS1123Subdomain(name).map((message) => invalid("spec.source.persistentVolumeName", name, message)));
  return errors;
}

/** On create the attacher is checked by a declared format, in words of its own. */
function withCaselessName(errors: readonly FieldError[]): FieldError[] {
  return errors.map((error) => (error.field === "spec.attacher" && error.body.includes("RFC 1123 subdomain") ? invalid(error.field, error.value, caselessName) : error));
}

const caselessName =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function attachmentSourceErrors(source: JsonObject | undefined): FieldError[] {
  const inline = objectAt(source, "inlineVolumeSpec");
  const name = optionalText(source, "persistentVolumeName");
  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inline === undefined && name === undefined) return [required("spec.source", one)];
  if (inline !== undefined && name !== undefined) return [forbidden("spec.source", one)];
  if (inline !== undefined) return volumeSpecErrors(inline, { at: "spec.source.inlineVolumeSpec", volumeName: "" }, { inline: true });
  return name === "" ? [required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")] : [];
}

function attachmentStatusErrors(status: JsonObject | undefined): FieldError[] {
  const bytes = [...textMap(status, "attachmentMetadata")].reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(value), 0);
  const errors = bytes > maxMetadataBytes ? [tooLong("status.attachmentMetadata", maxMetadataBytes)] : [];
  for (const key of ["attachError", "detachError"]) {
    const error = objectAt(status, key);
    if (utf8Length(textAt(error, "message")) > maxMessageBytes) errors.push(tooLong(`status.${key}.message`, maxMessageBytes));
    const code = numberAt(error, "errorCode");
    if (code !== undefined && code < 0) errors.push(invalid(`status.${key}.errorCode`, code, inclusiveRange(0, 2147483647)));
  }
  return errors;
}

function attachmentUpdateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const errors = attachmentErrors(next);
  if (semanticEqual("storage/v1.VolumeAttachmentSpec", next["spec"], old["spec"])) return errors;
  return [...errors, fixed("spec")];
}

export const volumeAttachmentRules: Rules = {
  prepareForCreate: (object) => assign(object, "status", undefined),
  validateCreate: (object) => withCaselessName(attachmentErrors(object)),
  needsResourceVersion: true,
  update: { prepare: (next, old) => assign(next, "status", old["status"]), validate: attachmentUpdateErrors },
  subresources: {
    status: {
      /** Of metadata a status update takes over managed fields alone, which are not kept here. */
      prepare(next, old) {
        assign(next, "spec", old["spec"]);
        const [metadataNow, before] = [metadataOf(next), metadataOf(old)];
        for (const key of ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "ownerReferences", "finalizers"]) assign(metadataNow, key, before[key]);
      },
      validate: attachmentUpdateErrors,
    },
  },
};
