/** Rules of a pod's volumes, and of what containers mount. Source: kubernetes v1.37.2, ValidateVolumes, ValidateVolumeMounts, ValidateVolumeDevices. */
import type { JsonObject } from "@/lib/kube/json";
import { isDNS1123Subdomain, utf8Length } from "@/lib/names";
import { parseQuantity } from "@/lib/quantity";
import { flagAt, numberAt, objectAt, objectsAt, optionalText, textAt } from "@/server/apiserver/access";
import { child, duplicate, forbidden, invalid, notFound, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { claimSpecErrors } from "./claim-spec";
import { annotationErrors, labelErrors } from "./metadata";
import { backstepErrors, descendingErrors, labelErrorsAt, requiredTexts } from "./paths";
import { configMapErrors, downwardErrors, projectedErrors, secretErrors } from "./pod-projection";
import { iscsiErrors, podSources, type SourceRow } from "./volume-sources";

const onlyOne = "may not specify more than 1 volume type";

function rows(): readonly SourceRow[] {
  const { hostPath, gitRepo, gcePersistentDisk, awsElasticBlockStore, nfs, glusterfs, flocker, persistentVolumeClaim, rbd, cinder, cephfs, quobyte } = podSources;
  const { fc, flexVolume, azureFile, vsphereVolume, photonPersistentDisk, portworxVolume, azureDisk, storageos, scaleIO, csi } = podSources;
  return [
    { key: "emptyDir", rule: emptyDirErrors },
    hostPath,
    gitRepo,
    gcePersistentDisk,
    awsElasticBlockStore,
    { key: "secret", rule: secretErrors },
    nfs,
    { key: "iscsi", rule: (source, at) => iscsiErrors(source, at) },
    glusterfs,
    flocker,
    persistentVolumeClaim,
    rbd,
    cinder,
    cephfs,
    quobyte,
    { key: "downwardAPI", extraKey: "downwarAPI", rule: downwardErrors },
    fc,
    flexVolume,
    { key: "configMap", rule: configMapErrors },
    azureFile,
    vsphereVolume,
    photonPersistentDisk,
    portworxVolume,
    azureDisk,
    storageos,
    { key: "projected", rule: projectedErrors },
    scaleIO,
    csi,
    { key: "ephemeral", rule: ephemeralErrors },
    { key: "image", rule: imageErrors },
  ];
}

function emptyDirErrors(source: JsonObject, at: string): FieldError[] {
  const limit = optionalText(source, "sizeLimit");
  const mode = numberAt(source, "mode");
  return [
    ...(limit !== undefined && parseQuantity(limit).sign() < 0 ? [forbidden(`${at}.sizeLimit`, "SizeLimit field must be a valid resource quantity")] : []),
    ...(mode !== undefined && (mode < 0 || mode > 0o1777) ? [invalid(`${at}.mode`, mode, "must be a number between 0 and 01777 (octal), both inclusive")] : []),
  ];
}

function imageErrors(source: JsonObject, at: string): FieldError[] {
  const policies = ["Always", "IfNotPresent", "Never"];
  const policy = textAt(source, "pullPolicy");
  const wrong = policy !== "" && !policies.includes(policy) ? [notSupported(`${at}.pullPolicy`, policy, policies)] : [];
  return [...requiredTexts(source, ["reference"], at), ...wrong];
}

const templateMetadata = ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields"];

function ephemeralErrors(source: JsonObject, at: string): FieldError[] {
  const template = objectAt(source, "volumeClaimTemplate");
  const path = `${at}.volumeClaimTemplate`;
  if (template === undefined) return [required(path, "")];
  const metadata = objectAt(template, "metadata");
  const extra = templateMetadata.filter((key) => metadata?.[key] !== undefined && metadata[key] !== null);
  return [
    ...annotationErrors(metadata, `${path}.metadata.annotations`),
    ...labelErrors(metadata, "labels", `${path}.metadata.labels`),
    ...extra.map((key) => forbidden(`${path}.metadata.${key}`, "cannot be set")),
    ...claimSpecErrors(objectAt(template, "spec"), `${path}.spec`),
  ];
}

export interface PodVolumes {
  readonly errors: FieldError[];
  /** The volumes without an error, by name. */
  readonly valid: ReadonlyMap<string, JsonObject>;
}

export function podVolumeErrors(volumes: readonly JsonObject[], podName: string, at: string): PodVolumes {
  const errors: FieldError[] = [];
  const valid = new Map<string, JsonObject>();
  const created = new Set(podName === "" ? [] : volumes.filter((one) => objectAt(one, "ephemeral") !== undefined).map((one) => `${podName}-${textAt(one, "name")}`));
  volumes.forEach((volume, index) => {
    const path = child(at, index);
    const name = textAt(volume, "name");
    const own = [
      ...sourceErrors(volume, { at: path, podName }),
      ...(name === "" ? [required(`${path}.name`, "")] : labelErrorsAt(name, `${path}.name`)),
      ...(valid.has(name) ? [duplicate(`${path}.name`, name)] : []),
    ];
    if (own.length === 0) valid.set(name, volume);
    errors.push(...own);
    const claim = optionalText(objectAt(volume, "persistentVolumeClaim"), "claimName");
    if (claim !== undefined && created.has(claim)) {
      errors.push(invalid(`${path}.persistentVolumeClaim.claimName`, claim, "must not reference a PVC that gets created for an ephemeral volume"));
    }
  });
  return { errors, valid };
}

function sourceErrors(volume: JsonObject, { at, podName }: { at: string; podName: string }): FieldError[] {
  const errors: FieldError[] = [];
  const name = textAt(volume, "name");
  let found = 0;
  for (const { key, extraKey, path, rule } of rows()) {
    const source = objectAt(volume, key);
    if (source === undefined) continue;
    if (found > 0) {
      errors.push(forbidden(`${at}.${extraKey ?? key}`, onlyOne));
      // The length of an iSCSI name is looked at even then.
      if (key !== "iscsi") continue;
    } else {
      found += 1;
      errors.push(...rule(source, `${at}.${path ?? key}`));
    }
    if (key === "iscsi" && optionalText(source, "initiatorName") !== undefined && utf8Length(`${name}:${textAt(source, "targetPortal")}`) > 64) {
      const detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
      errors.push(invalid(`${at}.name`, name, detail));
    }
    if (key === "ephemeral" && podName !== "") errors.push(...claimNameErrors(`${podName}-${name}`, name, `${at}.name`));
  }
  return found === 0 ? [...errors, required(at, "must specify a volume type")] : errors;
}

function claimNameErrors(claim: string, name: string, at: string): FieldError[] {
  return isDNS1123Subdomain(claim).map((message) => invalid(at, name, `PVC name ${JSON.stringify(claim)}: ${message}`));
}

export function mountErrors(container: JsonObject, volumes: ReadonlyMap<string, JsonObject>, at: string): FieldError[] {
  const devices = objectsAt(container, "volumeDevices");
  const seen = new Set<string>();
  return objectsAt(container, "volumeMounts").flatMap((mount, index) => {
    const path = child(at, index);
    const name = textAt(mount, "name");
    const place = textAt(mount, "mountPath");
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${path}.name`, ""));
    if (!volumes.has(name)) errors.push(notFound(`${path}.name`, name));
    if (place === "") errors.push(required(`${path}.mountPath`, ""));
    if (seen.has(place)) errors.push(invalid(`${path}.mountPath`, place, "must be unique"));
    seen.add(place);
    if (devices.some((device) => textAt(device, "name") === name)) errors.push(invalid(`${path}.name`, name, "must not already exist in volumeDevices"));
    if (devices.some((device) => textAt(device, "devicePath") === place)) {
      errors.push(invalid(`${path}.mountPath`, place, "must not already exist as a path in volumeDevices"));
    }
    return [...errors, ...subPathErrors(mount, { at, path }), ...propagationErrors(mount, container, at), ...recursiveErrors(mount, at)];
  });
}

function subPathErrors(mount: JsonObject, { at, path }: { at: string; path: string }): FieldError[] {
  const subPath = textAt(mount, "subPath");
  const expression = textAt(mount, "subPathExpr");
  const errors = subPath === "" ? [] : descendingErrors(subPath, `${at}.subPath`);
  if (expression === "") return errors;
  if (subPath !== "") errors.push(invalid(`${path}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive"));
  return [...errors, ...descendingErrors(expression, `${at}.subPathExpr`)];
}

function propagationErrors(mount: JsonObject, container: JsonObject, at: string): FieldError[] {
  const propagation = optionalText(mount, "mountPropagation");
  if (propagation === undefined) return [];
  const known = ["Bidirectional", "HostToContainer", "None"];
  const errors = known.includes(propagation) ? [] : [notSupported(`${at}.mountPropagation`, propagation, known)];
  if (propagation === "Bidirectional" && !flagAt(objectAt(container, "securityContext"), "privileged")) {
    errors.push(forbidden(`${at}.mountPropagation`, "Bidirectional mount propagation is available only to privileged containers"));
  }
  return errors;
}

function recursiveErrors(mount: JsonObject, at: string): FieldError[] {
  const recursive = optionalText(mount, "recursiveReadOnly");
  const path = `${at}.recursiveReadOnly`;
  if (recursive === undefined || recursive === "Disabled") return [];
  if (recursive !== "Enabled" && recursive !== "IfPossible") return [notSupported(path, recursive, ["Disabled", "Enabled", "IfPossible"])];
  const propagation = optionalText(mount, "mountPropagation");
  return [
    ...(flagAt(mount, "readOnly") ? [] : [forbidden(path, "may only be specified when readOnly is true")]),
    ...(propagation === undefined || propagation === "None" ? [] : [forbidden(path, "may only be specified when mountPropagation is None or not specified")]),
  ];
}

export function deviceErrors(container: JsonObject, volumes: ReadonlyMap<string, JsonObject>, at: string): FieldError[] {
  const mounts = objectsAt(container, "volumeMounts");
  const names = new Set<string>();
  const paths = new Set<string>();
  return objectsAt(container, "volumeDevices").flatMap((device, index) => {
    const path = child(at, index);
    const name = textAt(device, "name");
    const place = textAt(device, "devicePath");
    const volume = volumes.get(name);
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${path}.name`, ""));
    if (names.has(name)) errors.push(invalid(`${path}.name`, name, "must be unique"));
    if (volume === undefined) errors.push(notFound(`${path}.name`, name));
    else if (objectAt(volume, "persistentVolumeClaim") === undefined && objectAt(volume, "ephemeral") === undefined) {
      errors.push(invalid(`${path}.name`, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"));
    }
    if (place === "") errors.push(required(`${path}.devicePath`, ""));
    if (paths.has(place)) errors.push(invalid(`${path}.devicePath`, place, "must be unique"));
    if (place !== "" && backstepErrors(place, "").length > 0) errors.push(invalid(`${path}.devicePath`, place, "can not contain backsteps ('..')"));
    else paths.add(place);
    if (mounts.some((mount) => textAt(mount, "name") === name)) errors.push(invalid(`${path}.name`, name, "must not already exist in volumeMounts"));
    if (mounts.some((mount) => textAt(mount, "mountPath") === place)) {
      errors.push(invalid(`${path}.devicePath`, place, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") names.add(name);
    return errors;
  });
}

