/**
 * Defaults of v1 objects: one function per Go type, applied wherever that type stands in an object, outer types first.
 * Source: kubernetes v1.37.2, pkg/apis/{core,storage}/v1/defaults.go and the declared defaults of the generated code.
 */
import { canonical } from "@/lib/kube/go-decode";
import { declaredFields, type GoType } from "@/lib/kube/go-types";
import { isObject, newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { parseQuantity } from "@/lib/quantity";
import { assign, ensureObject, flagAt, numberAt, objectAt, objectsAt, textAt } from "./access";

/** Fills in what a client left out; returns the canonical object. */
export function withDefaults(type: string, object: JsonObject, options: { readonly keepEmpty?: boolean } = {}): JsonObject {
  const copy = canonical(type, object, { keepEmpty: true });
  walk({ kind: "struct", name: type }, copy);
  return canonical(type, copy, options);
}

function walk(type: GoType, value: Json | undefined): void {
  if (value === undefined || value === null) return;
  if (type.kind === "pointer") walk(type.elem, value);
  else if (type.kind === "struct" && isObject(value)) walkStruct(type.name, value);
  else if (type.kind === "list" && Array.isArray(value)) for (const item of value) walk(type.elem, item);
  else if (type.kind === "map" && isObject(value)) {
    if (type.name === "core/v1.ResourceList") roundResources(value);
    else for (const item of Object.values(value)) walk(type.elem, item);
  }
}

function walkStruct(name: string, object: JsonObject): void {
  defaulters.get(name)?.(object);
  for (const field of declaredFields(name) ?? []) {
    if (field.embedded) walk(field.type, object);
    else walk(field.type, object[field.jsonName]);
  }
}

/** Anything finer than a thousandth is rounded up. */
function roundResources(list: JsonObject): void {
  for (const [key, value] of Object.entries(list)) {
    if (typeof value === "string") list[key] = parseQuantity(value).roundUp(-3).rounded.toString();
  }
}

function fill(object: JsonObject, values: Readonly<Record<string, Json>>): void {
  for (const [key, value] of Object.entries(values)) {
    const known = object[key];
    if (known === undefined || known === null || known === "") object[key] = value;
  }
}

/** A pointer field: only its absence is filled. */
function fillAbsent(object: JsonObject, key: string, value: Json): void {
  if (object[key] === undefined || object[key] === null) object[key] = value;
}

const defaultMode = 0o644;

function container(object: JsonObject): void {
  fill(object, {
    imagePullPolicy: imageTag(textAt(object, "image")) === "latest" ? "Always" : "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
}

/** The tag of an image reference: "latest" where neither tag nor digest is named. */
function imageTag(image: string): string {
  const at = image.indexOf("@");
  if (at >= 0) return "";
  const name = image.slice(image.lastIndexOf("/") + 1);
  const colon = name.indexOf(":");
  if (image === "" || /[A-Z]/u.test(name.slice(0, colon < 0 ? undefined : colon))) return "";
  return colon < 0 ? "latest" : name.slice(colon + 1);
}

function pod(object: JsonObject): void {
  const spec = ensureObject(object, "spec");
  const grace = numberAt(spec, "terminationGracePeriodSeconds");
  if (grace !== undefined && grace < 0) spec["terminationGracePeriodSeconds"] = 1;
  for (const item of [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")]) requestsFromLimits(item);
  fillAbsent(spec, "enableServiceLinks", true);
  if (!flagAt(spec, "hostNetwork")) return;
  for (const item of [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")]) {
    for (const port of objectsAt(item, "ports")) {
      if ((numberAt(port, "hostPort") ?? 0) === 0) assign(port, "hostPort", port["containerPort"]);
    }
  }
}

function requestsFromLimits(item: JsonObject): void {
  const limits = objectAt(item, "resources", "limits");
  if (limits === undefined) return;
  const requests = ensureObject(ensureObject(item, "resources"), "requests");
  for (const [key, value] of Object.entries(limits)) if (requests[key] === undefined) requests[key] = value;
}

function podSpec(spec: JsonObject): void {
  const account = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  if (account !== "") {
    spec["serviceAccountName"] = account;
    spec["serviceAccount"] = account;
  }
  fill(spec, { dnsPolicy: "ClusterFirst", restartPolicy: "Always", schedulerName: "default-scheduler" });
  fillAbsent(spec, "securityContext", newObject());
  fillAbsent(spec, "terminationGracePeriodSeconds", 30);
}

/** The singular address and the list are kept alike; the singular one wins. */
function podStatus(status: JsonObject): void {
  const ip = textAt(status, "podIP");
  const first = textAt(objectsAt(status, "podIPs")[0], "ip");
  if (ip !== "" && first !== ip) status["podIPs"] = [newObject([["ip", ip]])];
  else if (ip === "" && first !== "") status["podIP"] = first;
}

function volume(object: JsonObject): void {
  if (!Object.keys(object).some((key) => key !== "name" && object[key] !== undefined)) object["emptyDir"] = newObject();
  const image = objectAt(object, "image");
  if (image !== undefined) fill(image, { pullPolicy: imageTag(textAt(image, "reference")) === "latest" ? "Always" : "IfNotPresent" });
}

function namespace(object: JsonObject): void {
  const name = textAt(objectAt(object, "metadata"), "name");
  if (name !== "") ensureObject(ensureObject(object, "metadata"), "labels")["kubernetes.io/metadata.name"] = name;
}

function probe(object: JsonObject): void {
  for (const [key, value] of [["timeoutSeconds", 1], ["periodSeconds", 10], ["successThreshold", 1], ["failureThreshold", 3]] as const) {
    if ((numberAt(object, key) ?? 0) === 0) object[key] = value;
  }
}

function csiDriverSpec(spec: JsonObject): void {
  fillAbsent(spec, "attachRequired", true);
  for (const key of ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount", "preventPodSchedulingIfMissing"]) fillAbsent(spec, key, false);
  fillAbsent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (!Array.isArray(spec["volumeLifecycleModes"]) || spec["volumeLifecycleModes"].length === 0) spec["volumeLifecycleModes"] = ["Persistent"];
}

const mode = (object: JsonObject): void => fillAbsent(object, "defaultMode", defaultMode);

const rbd = (object: JsonObject): void => fill(object, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
const scaleIo = (object: JsonObject): void => fill(object, { storageMode: "ThinProvisioned", fsType: "xfs" });
const iscsi = (object: JsonObject): void => fill(object, { iscsiInterface: "default" });

const defaulters: ReadonlyMap<string, (object: JsonObject) => void> = new Map<string, (object: JsonObject) => void>([
  ["core/v1.Pod", pod],
  ["core/v1.PodSpec", podSpec],
  ["core/v1.PodStatus", podStatus],
  ["core/v1.Container", container],
  ["core/v1.EphemeralContainerCommon", container],
  ["core/v1.ContainerPort", (object) => fill(object, { protocol: "TCP" })],
  ["core/v1.Probe", probe],
  ["core/v1.HTTPGetAction", (object) => fill(object, { path: "/", scheme: "HTTP" })],
  ["core/v1.GRPCAction", (object) => fillAbsent(object, "service", "")],
  ["core/v1.Volume", volume],
  ["core/v1.SecretVolumeSource", mode],
  ["core/v1.ConfigMapVolumeSource", mode],
  ["core/v1.DownwardAPIVolumeSource", mode],
  ["core/v1.ProjectedVolumeSource", mode],
  ["core/v1.ServiceAccountTokenProjection", (object) => fillAbsent(object, "expirationSeconds", 3600)],
  ["core/v1.ObjectFieldSelector", (object) => fill(object, { apiVersion: "v1" })],
  ["core/v1.HostPathVolumeSource", (object) => fillAbsent(object, "type", "")],
  ["core/v1.ISCSIVolumeSource", iscsi],
  ["core/v1.ISCSIPersistentVolumeSource", iscsi],
  ["core/v1.RBDVolumeSource", rbd],
  ["core/v1.RBDPersistentVolumeSource", rbd],
  ["core/v1.ScaleIOVolumeSource", scaleIo],
  ["core/v1.ScaleIOPersistentVolumeSource", scaleIo],
  [
    "core/v1.AzureDiskVolumeSource",
    (object) => {
      for (const [key, value] of Object.entries({ cachingMode: "ReadWrite", kind: "Shared", fsType: "ext4", readOnly: false })) fillAbsent(object, key, value);
    },
  ],
  ["core/v1.PersistentVolumeClaimSpec", (object) => fillAbsent(object, "volumeMode", "Filesystem")],
  ["core/v1.PersistentVolumeClaim", (object) => fill(ensureObject(object, "status"), { phase: "Pending" })],
  [
    "core/v1.PersistentVolume",
    (object) => {
      fill(ensureObject(object, "status"), { phase: "Pending" });
      fill(ensureObject(object, "spec"), { persistentVolumeReclaimPolicy: "Retain" });
      fillAbsent(ensureObject(object, "spec"), "volumeMode", "Filesystem");
    },
  ],
  ["core/v1.Secret", (object) => fill(object, { type: "Opaque" })],
  ["core/v1.Namespace", namespace],
  ["core/v1.NamespaceStatus", (object) => fill(object, { phase: "Active" })],
  ["core/v1.NodeStatus", (object) => objectAt(object, "capacity") !== undefined && fillAbsent(object, "allocatable", object["capacity"] ?? null)],
  [
    "storage/v1.StorageClass",
    (object) => {
      fillAbsent(object, "reclaimPolicy", "Delete");
      fillAbsent(object, "volumeBindingMode", "Immediate");
    },
  ],
  ["storage/v1.CSIDriverSpec", csiDriverSpec],
]);
