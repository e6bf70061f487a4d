/**
 * Rules of volume sources, those of pods and those of persistent volumes, one function per source. The real server's slips in paths
 * (`persistentDisk`, `downwarAPI`) are kept: they are what a client sees.
 * Source: kubernetes v1.37.2, pkg/apis/core/validation/validation.go.
 */
import type { JsonObject } from "@/lib/kube/json";
import { isDNS1123Label, isDNS1123Subdomain, utf8Length } from "@/lib/names";
import { flagAt, numberAt, objectAt, optionalText, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { invalid, keyed, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { backstepErrors, csiDriverNameErrors, descendingErrors, inclusiveRange, labelErrorsAt, requiredTexts } from "./paths";

export type SourceRule = (source: JsonObject, at: string) => FieldError[];

export interface SourceRow {
  /** The JSON name. */
  readonly key: string;
  /** The path of "more than one type" and of the source's own errors, where they differ from the name. */
  readonly extraKey?: string;
  readonly path?: string;
  readonly rule: SourceRule;
}

const hostPathTypes = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

export const hostPath: SourceRule = (source, at) => {
  const path = textAt(source, "path");
  if (path === "") return [required(`${at}.path`, "")];
  const type = optionalText(source, "type");
  const wrongType = type !== undefined && !hostPathTypes.includes(type) ? [notSupported(`${at}.type`, type, hostPathTypes)] : [];
  return [...backstepErrors(path, `${at}.path`), ...wrongType];
};

const partition: (key: string) => SourceRule = (key) => (source, at) => {
  const number = numberAt(source, "partition") ?? 0;
  const wrong = number < 0 || number > 255 ? [invalid(`${at}.partition`, number, inclusiveRange(1, 255))] : [];
  return [...requiredTexts(source, [key], at), ...wrong];
};

const texts =
  (...keys: readonly string[]): SourceRule =>
  (source, at) =>
    requiredTexts(source, keys, at);

export const gitRepo: SourceRule = (source, at) => [
  ...requiredTexts(source, ["repository"], at),
  ...descendingErrors(textAt(source, "directory"), `${at}.directory`),
];

export const nfs: SourceRule = (source, at) => {
  const path = textAt(source, "path");
  const relative = path.startsWith("/") ? [] : [invalid(`${at}.path`, path, "must be an absolute path")];
  return [...requiredTexts(source, ["server", "path"], at), ...relative];
};

const initiatorShapes: readonly (readonly [string, RegExp])[] = [
  ["iqn", /iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$/u],
  ["eui", /^eui.[A-Za-z0-9]{16}$/u],
  ["naa", /^naa.[A-Za-z0-9]{32}$/u],
];

function initiatorErrors(name: string, at: string, whenUnknown: string): FieldError[] {
  const shape = initiatorShapes.find(([prefix]) => name.startsWith(prefix));
  if (shape === undefined) return [invalid(at, name, whenUnknown)];
  return shape[1].test(name) ? [] : [invalid(at, name, "must be valid format")];
}

/** `volumeName` is given for persistent volumes alone. */
export function iscsiErrors(source: JsonObject, at: string, volumeName?: string): FieldError[] {
  const unknown = volumeName === undefined ? "must be valid format starting with iqn, eui, or naa" : "must be valid format";
  const errors = requiredTexts(source, ["targetPortal"], at);
  const portal = textAt(source, "targetPortal");
  const initiator = optionalText(source, "initiatorName");
  if (volumeName !== undefined && initiator !== undefined && utf8Length(`${volumeName}:${portal}`) > 64) {
    const detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
    errors.push(invalid(`${at}.targetportal`, portal, detail));
  }
  const iqn = textAt(source, "iqn");
  errors.push(...(iqn === "" ? [required(`${at}.iqn`, "")] : initiatorErrors(iqn, `${at}.iqn`, unknown)));
  const lun = numberAt(source, "lun") ?? 0;
  if (lun < 0 || lun > 255) errors.push(invalid(`${at}.lun`, lun, inclusiveRange(0, 255)));
  const secret = objectAt(source, "secretRef");
  if ((flagAt(source, "chapAuthDiscovery") || flagAt(source, "chapAuthSession")) && secret === undefined) errors.push(required(`${at}.secretRef`, ""));
  if (volumeName !== undefined && secret !== undefined) errors.push(...requiredTexts(secret, ["name"], `${at}.secretRef`));
  if (initiator !== undefined) errors.push(...initiatorErrors(initiator, `${at}.initiatorname`, unknown));
  return errors;
}

export const fc: SourceRule = (source, at) => {
  const names = textsAt(source, "targetWWNs");
  const ids = textsAt(source, "wwids");
  const errors: FieldError[] = [];
  if (names.length === 0 && ids.length === 0) errors.push(required(`${at}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  if (names.length > 0 && ids.length > 0) {
    errors.push(invalid(`${at}.targetWWNs`, names, "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (names.length === 0) return errors;
  const lun = numberAt(source, "lun");
  if (lun === undefined) errors.push(required(`${at}.lun`, "lun is required if targetWWNs is specified"));
  else if (lun < 0 || lun > 255) errors.push(invalid(`${at}.lun`, lun, inclusiveRange(0, 255)));
  return errors;
};

const quobyte: SourceRule = (source, at) => {
  const pairs = "must be a host:port pair or multiple pairs separated by commas";
  const registry = textAt(source, "registry");
  const errors: FieldError[] = [];
  if (registry === "") errors.push(required(`${at}.registry`, pairs));
  else if (utf8Length(textAt(source, "tenant")) >= 65) errors.push(required(`${at}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  else for (const pair of registry.split(",")) if (!isHostPort(pair)) errors.push(invalid(`${at}.registry`, registry, pairs));
  return [...errors, ...requiredTexts(source, ["volume"], at)];
};

/** Go's net.SplitHostPort takes it. */
function isHostPort(text: string): boolean {
  return /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/u.test(text);
}

const glusterfs: SourceRule = (source, at) => {
  const namespace = optionalText(source, "endpointsNamespace");
  const errors = requiredTexts(source, ["endpoints", "path"], at);
  if (namespace === undefined) return errors;
  if (namespace === "") return [...errors, invalid(`${at}.endpointsNamespace`, "", "if the endpointnamespace is set, it must be a valid namespace name")];
  return [...errors, ...isDNS1123Label(namespace).map((message) => invalid(`${at}.endpointsNamespace`, namespace, message))];
};

const flocker: SourceRule = (source, at) => {
  const name = textAt(source, "datasetName");
  const uuid = textAt(source, "datasetUUID");
  const errors: FieldError[] = [];
  if (name === "" && uuid === "") errors.push(required(at, "one of datasetName and datasetUUID is required"));
  if (name !== "" && uuid !== "") errors.push(invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  if (name.includes("/")) errors.push(invalid(`${at}.datasetName`, name, "must not contain '/'"));
  return errors;
};

const monitors =
  (...keys: readonly string[]): SourceRule =>
  (source, at) => [...(textsAt(source, "monitors").length === 0 ? [required(`${at}.monitors`, "")] : []), ...requiredTexts(source, keys, at)];

/** A source whose secret must be named: with its namespace on persistent volumes. */
const withSecret =
  (keys: readonly string[], secretKeys: readonly string[]): SourceRule =>
  (source, at) => {
    const secret = objectAt(source, "secretRef");
    return [...requiredTexts(source, keys, at), ...(secret === undefined ? [] : requiredTexts(secret, secretKeys, `${at}.secretRef`))];
  };

export const flexVolume: SourceRule = (source, at) => {
  const reserved = [...textMap(source, "options").keys()].filter((key) => {
    const domain = `.${(key.includes("/") ? (key.split("/")[0] ?? "") : key).toLowerCase()}`;
    return domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io");
  });
  const errors = reserved.map((key) => invalid(keyed(`${at}.options`, key), key, "kubernetes.io and k8s.io namespaces are reserved"));
  return [...requiredTexts(source, ["driver"], at), ...errors];
};

const azureFilePersistent: SourceRule = (source, at) => {
  const empty = optionalText(source, "secretNamespace") === "" ? [required(`${at}.secretNamespace`, "")] : [];
  return [...requiredTexts(source, ["secretName", "shareName"], at), ...empty];
};

const azureDisk: SourceRule = (source, at) => {
  const errors = requiredTexts(source, ["diskName", "diskURI"], at);
  const caching = optionalText(source, "cachingMode");
  const kind = optionalText(source, "kind");
  const uri = textAt(source, "diskURI");
  const cachings = ["None", "ReadOnly", "ReadWrite"];
  const kinds = ["Dedicated", "Managed", "Shared"];
  if (caching !== undefined && !cachings.includes(caching)) errors.push(notSupported(`${at}.cachingMode`, caching, cachings));
  if (kind !== undefined && !kinds.includes(kind)) errors.push(notSupported(`${at}.kind`, kind, kinds));
  if (kind === "Managed" && !uri.startsWith("/subscriptions/")) {
    errors.push(notSupported(`${at}.diskURI`, uri, ["/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"]));
  }
  if (kind !== undefined && kind !== "Managed" && !uri.startsWith("https://")) {
    errors.push(notSupported(`${at}.diskURI`, uri, ["https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"]));
  }
  return errors;
};

const storageOs =
  (secretKeys: readonly string[]): SourceRule =>
  (source, at) => {
    const name = textAt(source, "volumeName");
    const namespace = textAt(source, "volumeNamespace");
    const secret = objectAt(source, "secretRef");
    return [
      ...(name === "" ? [required(`${at}.volumeName`, "")] : labelErrorsAt(name, `${at}.volumeName`)),
      ...(namespace === "" ? [] : labelErrorsAt(namespace, `${at}.volumeNamespace`)),
      ...(secret === undefined ? [] : requiredTexts(secret, secretKeys, `${at}.secretRef`)),
    ];
  };

export const csiInline: SourceRule = (source, at) => {
  const errors = csiDriverNameErrors(textAt(source, "driver"), `${at}.driver`);
  const secret = objectAt(source, "nodePublishSecretRef");
  if (secret === undefined) return errors;
  const name = textAt(secret, "name");
  if (name === "") return [...errors, required(`${at}.nodePublishSecretRef.name`, "")];
  return [...errors, ...isDNS1123Subdomain(name).map((message) => invalid(`${at}.name`, name, message))];
};

const csiPersistent: SourceRule = (source, at) => {
  const errors = [...csiDriverNameErrors(textAt(source, "driver"), `${at}.driver`), ...requiredTexts(source, ["volumeHandle"], at)];
  for (const key of ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"]) {
    const secret = objectAt(source, key);
    if (secret !== undefined) errors.push(...secretErrors(secret, `${at}.${key}`));
  }
  return errors;
};

function secretErrors(secret: JsonObject, at: string): FieldError[] {
  const name = textAt(secret, "name");
  const namespace = textAt(secret, "namespace");
  return [
    ...(name === "" ? [required(`${at}.name`, "")] : isDNS1123Subdomain(name).map((message) => invalid(`${at}.name`, name, message))),
    ...(namespace === "" ? [required(`${at}.namespace`, "")] : labelErrorsAt(namespace, `${at}.namespace`)),
  ];
}

const local: SourceRule = (source, at) => {
  const path = textAt(source, "path");
  return path === "" ? [required(`${at}.path`, "")] : backstepErrors(path, `${at}.path`);
};

const shared = {
  gcePersistentDisk: { key: "gcePersistentDisk", path: "persistentDisk", rule: partition("pdName") },
  awsElasticBlockStore: { key: "awsElasticBlockStore", rule: partition("volumeID") },
  flocker: { key: "flocker", rule: flocker },
  nfs: { key: "nfs", rule: nfs },
  quobyte: { key: "quobyte", rule: quobyte },
  cephfs: { key: "cephfs", extraKey: "cephFS", rule: monitors() },
  rbd: { key: "rbd", rule: monitors("image") },
  fc: { key: "fc", rule: fc },
  flexVolume: { key: "flexVolume", rule: flexVolume },
  vsphereVolume: { key: "vsphereVolume", rule: texts("volumePath") },
  photonPersistentDisk: { key: "photonPersistentDisk", rule: texts("pdID") },
  portworxVolume: { key: "portworxVolume", rule: texts("volumeID") },
  azureDisk: { key: "azureDisk", rule: azureDisk },
  scaleIO: { key: "scaleIO", rule: texts("gateway", "system", "volumeName") },
  hostPath: { key: "hostPath", rule: hostPath },
} satisfies Readonly<Record<string, SourceRow>>;

/** In the order in which the real server looks; the iSCSI row needs the volume's name and is made by the caller. */
export function persistentSources(volumeName: string): readonly SourceRow[] {
  return [
    shared.hostPath,
    shared.gcePersistentDisk,
    shared.awsElasticBlockStore,
    { key: "glusterfs", rule: glusterfs },
    shared.flocker,
    shared.nfs,
    shared.rbd,
    shared.quobyte,
    shared.cephfs,
    { key: "iscsi", rule: (source, at) => iscsiErrors(source, at, volumeName) },
    { key: "cinder", rule: withSecret(["volumeID"], ["name", "namespace"]) },
    shared.fc,
    shared.flexVolume,
    { key: "azureFile", rule: azureFilePersistent },
    shared.vsphereVolume,
    shared.photonPersistentDisk,
    shared.portworxVolume,
    shared.azureDisk,
    shared.scaleIO,
    { key: "local", rule: local },
    { key: "storageos", rule: storageOs(["name", "namespace"]) },
    { key: "csi", rule: csiPersistent },
  ];
}

export const podSources = {
  ...shared,
  gitRepo: { key: "gitRepo", rule: gitRepo },
  glusterfs: { key: "glusterfs", rule: texts("endpoints", "path") },
  persistentVolumeClaim: { key: "persistentVolumeClaim", rule: texts("claimName") },
  cinder: { key: "cinder", rule: withSecret(["volumeID"], ["name"]) },
  azureFile: { key: "azureFile", rule: texts("secretName", "shareName") },
  storageos: { key: "storageos", rule: storageOs(["name"]) },
  csi: { key: "csi", rule: csiInline },
} satisfies Readonly<Record<string, SourceRow>>;
