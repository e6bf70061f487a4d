/** Rules of PersistentVolume. Source: kubernetes v1.37.2, ValidatePersistentVolume, pkg/registry/core/persistentvolume/strategy.go. */
import { canonical } from "@/lib/kube/go-decode";
import { declaredFields } from "@/lib/kube/go-types";
import { goDiff, toInternal } from "@/lib/kube/go-internal";
import { deepCopy, newObject, type JsonObject } from "@/lib/kube/json";
import { isDNS1123Subdomain } from "@/lib/names";
import { parseQuantity } from "@/lib/quantity";
import { assign, ensureObject, objectAt, objectsAt, optionalText, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { nowText } from "@/server/apiserver/context";
import { semanticEqual } from "@/server/apiserver/equal";
import { child, forbidden, invalid, keyed, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { accessModes, isAccessMode, volumeModes } from "./claim-spec";
import { metadataErrors, metadataUpdateErrors, subdomainName } from "./metadata";
import { deprecatedLabel, nodeSelectorErrors } from "./node-selector";
import type { Rules } from "./rules";
import { persistentSources } from "./volume-sources";

const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const sourceType = "core/v1.PersistentVolumeSource";
const mountOptionAnnotation = "volume.beta.kubernetes.io/mount-options";

export interface VolumeSpecOptions {
  /** A spec inside a VolumeAttachment. */
  readonly inline?: boolean;
  readonly allowInvalidLabelValues?: boolean;
}

const notInline = "may not be specified in the context of inline volumes";

/** ValidatePersistentVolumeSpec. */
export function volumeSpecErrors(spec: JsonObject, from: { at: string; volumeName: string }, options: VolumeSpecOptions = {}): FieldError[] {
  const { at, volumeName } = from;
  const errors = options.inline === true ? inlineErrors(spec, at) : [];
  errors.push(...modeErrors(spec, at));
  if (options.inline !== true) errors.push(...capacityErrors(spec, at));
  errors.push(...policyErrors(spec, at, options));
  const affinity = affinityErrors(spec, at, options);
  errors.push(...affinity.errors, ...sourceErrors(spec, { at, volumeName }, affinity.given));
  return [...errors, ...restErrors(spec, at, options)];
}

function inlineErrors(spec: JsonObject, at: string): FieldError[] {
  return [
    ...(objectAt(spec, "claimRef") === undefined ? [] : [forbidden(child(at, "claimRef"), notInline)]),
    ...(textMap(spec, "capacity").size === 0 ? [] : [forbidden(child(at, "capacity"), notInline)]),
    ...(objectAt(spec, "csi") === undefined ? [required(child(at, "csi"), "has to be specified in the context of inline volumes")] : []),
  ];
}

function modeErrors(spec: JsonObject, at: string): FieldError[] {
  const modes = textsAt(spec, "accessModes");
  const path = child(at, "accessModes");
  const errors = modes.length === 0 ? [required(path, "")] : [];
  for (const mode of modes) if (!isAccessMode(mode)) errors.push(notSupported(path, mode, accessModes));
  if (modes.includes("ReadWriteOncePod") && modes.some((mode) => mode !== "ReadWriteOncePod" && isAccessMode(mode))) {
    errors.push(forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

function capacityErrors(spec: JsonObject, at: string): FieldError[] {
  const path = child(at, "capacity");
  const capacity = textMap(spec, "capacity");
  const errors = capacity.size === 0 ? [required(path, "")] : [];
  if (!capacity.has("storage") || capacity.size > 1) errors.push(notSupported(path, objectAt(spec, "capacity") ?? null, ["storage"]));
  for (const [name, text] of capacity) {
    const quantity = parseQuantity(text);
    if (quantity.value() < 0n) errors.push(invalid(keyed(path, name), quantity.value(), "must be a valid resource quantity"));
    if (quantity.sign() <= 0) errors.push(invalid(keyed(path, name), quantity.toString(), "must be greater than zero"));
  }
  return errors;
}

function policyErrors(spec: JsonObject, at: string, { inline }: VolumeSpecOptions): FieldError[] {
  const policy = textAt(spec, "persistentVolumeReclaimPolicy");
  const path = child(at, "persistentVolumeReclaimPolicy");
  if (policy === "") return [];
  if (inline === true) return policy === "Retain" ? [] : [forbidden(path, "may only be Retain in the context of inline volumes")];
  return reclaimPolicies.includes(policy) ? [] : [notSupported(path, policy, reclaimPolicies)];
}

function affinityErrors(spec: JsonObject, at: string, options: VolumeSpecOptions): { errors: FieldError[]; given: boolean } {
  const affinity = objectAt(spec, "nodeAffinity");
  const path = child(at, "nodeAffinity");
  if (affinity === undefined) return { errors: [], given: false };
  if (options.inline === true) return { errors: [forbidden(path, notInline)], given: false };
  const needed = objectAt(affinity, "required");
  if (needed === undefined) return { errors: [required(`${path}.required`, "must specify required node constraints")], given: true };
  return { errors: nodeSelectorErrors(needed, `${path}.required`, options.allowInvalidLabelValues), given: true };
}

function sourceErrors(spec: JsonObject, { at, volumeName }: { at: string; volumeName: string }, affinityGiven: boolean): FieldError[] {
  const errors: FieldError[] = [];
  let found = 0;
  for (const { key, extraKey, path, rule } of persistentSources(volumeName)) {
    const source = objectAt(spec, key);
    if (source === undefined) continue;
    // FlexVolume alone is not counted against another source before it.
    if (found > 0 && key !== "flexVolume") {
      errors.push(forbidden(child(at, extraKey ?? key), "may not specify more than 1 volume type"));
      continue;
    }
    found += 1;
    errors.push(...rule(source, child(at, path ?? key)));
    if (key === "local" && !affinityGiven) errors.push(required(child(at, "nodeAffinity"), "Local volume requires node affinity"));
  }
  return found === 0 ? [...errors, required(at, "must specify a volume type")] : errors;
}

function restErrors(spec: JsonObject, at: string, { inline }: VolumeSpecOptions): FieldError[] {
  const errors: FieldError[] = [];
  const hostPath = objectAt(spec, "hostPath");
  if (hostPath !== undefined && isRoot(textAt(hostPath, "path")) && textAt(spec, "persistentVolumeReclaimPolicy") === "Recycle") {
    errors.push(forbidden(child(at, "persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"));
  }
  const className = textAt(spec, "storageClassName");
  if (className !== "") {
    const path = child(at, "storageClassName");
    errors.push(...(inline === true ? [forbidden(path, notInline)] : isDNS1123Subdomain(className).map((message) => invalid(path, className, message))));
  }
  const mode = optionalText(spec, "volumeMode");
  if (mode !== undefined) {
    const path = child(at, "volumeMode");
    if (inline === true) {
      if (mode !== "Filesystem") errors.push(forbidden(path, "may not specify volumeMode other than Filesystem in the context of inline volumes"));
    } else if (!volumeModes.some((known) => known === mode)) errors.push(notSupported(path, mode, volumeModes));
  }
  return [...errors, ...(inline === true ? [] : attributesClassErrors(spec, at))];
}

function isRoot(path: string): boolean {
  return path.startsWith("/") && path.split("/").every((part) => part === "" || part === "." || part === "..");
}

function attributesClassErrors(spec: JsonObject, at: string): FieldError[] {
  const name = optionalText(spec, "volumeAttributesClassName");
  if (name === undefined) return [];
  const path = child(at, "volumeAttributesClassName");
  const errors = name === "" ? [required(path, "an empty string is disallowed")] : isDNS1123Subdomain(name).map((message) => invalid(path, name, message));
  if (objectAt(spec, "csi") === undefined) errors.push(required(child(at, "csi"), "has to be specified when using volumeAttributesClassName"));
  return errors;
}

const withMountOptions = ["gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"];

function volumeErrors(volume: JsonObject, options: VolumeSpecOptions = {}): FieldError[] {
  const spec = ensureObject(volume, "spec");
  const metadata = objectAt(volume, "metadata");
  const errors = metadataErrors(metadata, { namespaced: false, name: subdomainName });
  errors.push(...volumeSpecErrors(spec, { at: "spec", volumeName: textAt(metadata, "name") }, options));
  const hasAnnotation = textMap(metadata, "annotations").has(mountOptionAnnotation);
  if (hasAnnotation && !withMountOptions.some((key) => objectAt(spec, key) !== undefined)) {
    errors.push(forbidden(`metadata.annotations.${mountOptionAnnotation}`, "may not specify mount options for this volume type"));
  }
  return errors;
}

function updateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const affinity = objectAt(old, "spec", "nodeAffinity", "required");
  const allowInvalidLabelValues = affinity !== undefined && nodeSelectorErrors(affinity, "").length > 0;
  const errors = [...metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata")), ...volumeErrors(next, { allowInvalidLabelValues })];
  const nextSpec = deepCopy(ensureObject(next, "spec"));
  const oldSpec = ensureObject(old, "spec");
  const csi = objectAt(nextSpec, "csi");
  if (csi !== undefined && objectAt(oldSpec, "csi") !== undefined && objectAt(oldSpec, "csi", "controllerExpandSecretRef") === undefined) delete csi["controllerExpandSecretRef"];
  const [nextSource, oldSource] = [sourceOf(nextSpec), sourceOf(oldSpec)];
  if (!semanticEqual(sourceType, nextSource, oldSource)) {
    const diff = goDiff(toInternal(sourceType, "core.PersistentVolumeSource", oldSource), toInternal(sourceType, "core.PersistentVolumeSource", nextSource));
    errors.push(forbidden("spec.persistentvolumesource", `spec.persistentvolumesource is immutable after creation\n${diff}`));
  }
  const mode = optionalText(nextSpec, "volumeMode");
  if (mode !== optionalText(oldSpec, "volumeMode")) errors.push(invalid("volumeMode", mode ?? null, "field is immutable"));
  const affinityErrors = nodeAffinityUpdateErrors(nextSpec, oldSpec);
  errors.push(...affinityErrors);
  if (optionalText(oldSpec, "volumeAttributesClassName") !== undefined && optionalText(nextSpec, "volumeAttributesClassName") === undefined) {
    errors.push(forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden"));
  }
  return errors;
}

function sourceOf(spec: JsonObject): JsonObject {
  const keys = new Set((declaredFields(sourceType) ?? []).map(({ jsonName }) => jsonName));
  return canonical(sourceType, newObject(Object.entries(spec).filter(([key]) => keys.has(key))), { keepEmpty: true });
}

const labelMoves = new Map([
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"],
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
]);

/** Node affinity is fixed once it is set, but for labels that move from their beta name to the final one. */
function nodeAffinityUpdateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const before = objectAt(old, "nodeAffinity");
  const after = objectAt(next, "nodeAffinity");
  if (before === undefined) return [];
  const moved = deepCopy(before);
  const oldTerms = objectsAt(objectAt(moved, "required"), "nodeSelectorTerms");
  const nextTerms = objectsAt(objectAt(after, "required"), "nodeSelectorTerms");
  oldTerms.forEach((term, i) =>
    objectsAt(term, "matchExpressions").forEach((expression, j) => {
      const to = labelMoves.get(textAt(expression, "key"));
      const other = objectsAt(nextTerms[i], "matchExpressions")[j];
      if (to !== undefined && other !== undefined && textAt(other, "key") === to) expression["key"] = to;
    }),
  );
  if (semanticEqual("core/v1.VolumeNodeAffinity", after, moved)) return [];
  const shown = after === undefined ? null : toInternal("core/v1.VolumeNodeAffinity", "core.VolumeNodeAffinity", after);
  return [invalid("nodeAffinity", shown, "field is immutable, except for updating from beta label to GA")];
}

function warnings(volume: JsonObject): string[] {
  const spec = ensureObject(volume, "spec");
  const annotations = textMap(objectAt(volume, "metadata"), "annotations");
  const found: string[] = [];
  if (annotations.has("volume.beta.kubernetes.io/storage-class")) {
    found.push('metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead');
  }
  if (annotations.has(mountOptionAnnotation)) {
    found.push(`metadata.annotations[${mountOptionAnnotation}]: deprecated since v1.31; use "mountOptions" attribute instead`);
  }
  if (textAt(spec, "persistentVolumeReclaimPolicy") === "Recycle") {
    found.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.");
  }
  objectsAt(objectAt(spec, "nodeAffinity", "required"), "nodeSelectorTerms").forEach((term, i) =>
    objectsAt(term, "matchExpressions").forEach((expression, j) => {
      const key = textAt(expression, "key");
      const message = deprecatedLabel(key);
      if (message !== undefined) found.push(`${child("spec.nodeAffinity.required.nodeSelectorTerms", i, "matchExpressions", j, "key")}: ${key} is ${message}`);
    }),
  );
  for (const [key, path, since, gone] of deprecatedSources) {
    if (objectAt(spec, key) !== undefined) found.push(`spec.${path}: deprecated in v${since}, non-functional in v${gone}+`);
  }
  return found;
}

const deprecatedSources: readonly (readonly [key: string, path: string, since: string, gone: string])[] = [
  ["cephfs", "cephfs", "1.28", "1.31"],
  ["photonPersistentDisk", "photonPersistentDisk", "1.11", "1.16"],
  ["scaleIO", "scaleIO", "1.16", "1.22"],
  ["storageos", "storageOS", "1.22", "1.25"],
  ["glusterfs", "glusterfs", "1.25", "1.26"],
  ["rbd", "rbd", "1.28", "1.31"],
];

export const volumeRules: Rules = {
  prepareForCreate(volume, context) {
    volume["status"] = newObject([["phase", "Pending"], ["lastPhaseTransitionTime", nowText(context)]]);
  },
  validateCreate: (volume) => volumeErrors(volume),
  warningsOnCreate: warnings,
  update: {
    prepare: (next, old) => assign(next, "status", old["status"]),
    validate: updateErrors,
    warnings,
  },
  subresources: {
    status: {
      prepare(next, old, context) {
        assign(next, "spec", old["spec"]);
        const [status, before] = [ensureObject(next, "status"), ensureObject(old, "status")];
        const time = textAt(status, "lastPhaseTransitionTime");
        const known = textAt(before, "lastPhaseTransitionTime");
        if (textAt(status, "phase") === textAt(before, "phase")) {
          if (time === "") assign(status, "lastPhaseTransitionTime", before["lastPhaseTransitionTime"]);
        } else if (time === "" || time === known) status["lastPhaseTransitionTime"] = nowText(context);
      },
      validate: (next, old) => metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata")),
    },
  },
};
