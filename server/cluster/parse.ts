/**
 * The edge: what came over the wire becomes an object of a watched kind, checked for the fields that everything relies on and
 * cut down to what is read. Times stay texts, resource versions stay opaque.
 */
import type { ObjectMeta } from "@/lib/kube/meta";
import type { Container, Pod } from "@/lib/kube/pods";
import type { WatchedKind, WatchedKinds } from "@/server/cluster/snapshot";

/** Fields that an object of the kind must have as objects, beside metadata. */
const requiredObjects: Readonly<Record<WatchedKind, readonly string[]>> = {
  pods: ["spec"],
  persistentvolumeclaims: ["spec"],
  persistentvolumes: ["spec"],
  storageclasses: [],
  csidrivers: ["spec"],
  csinodes: ["spec"],
  volumeattachments: ["spec"],
  nodes: [],
  namespaces: [],
  events: ["involvedObject"],
};

export type ObjectParser<K extends WatchedKind> = (raw: unknown) => WatchedKinds[K] | undefined;

/** undefined for what is no object of the kind: it is counted and left out, never half read. */
export function objectParser<K extends WatchedKind>(kind: K, options: { readonly whole?: boolean } = {}): ObjectParser<K> {
  return (raw) => {
    if (!isObjectOf(kind, raw)) return undefined;
    delete raw.metadata.managedFields;
    return options.whole ? raw : trim(kind, raw);
  };
}

function isObjectOf<K extends WatchedKind>(kind: K, raw: unknown): raw is WatchedKinds[K] {
  if (!isRecord(raw) || !isRecord(raw["metadata"])) return false;
  const { name, namespace, uid, resourceVersion } = raw["metadata"];
  if (typeof name !== "string" || name.includes("/") || typeof uid !== "string" || typeof resourceVersion !== "string") return false;
  if (namespace !== undefined && typeof namespace !== "string") return false;
  if (!requiredObjects[kind].every((field) => isRecord(raw[field]))) return false;
  return kind !== "pods" || podLists.every((field) => isListOfObjects(Reflect.get(Object(raw["spec"]), field)));
}

/** Joined with other objects later, where one of a wrong shape would stop all the others. */
const podLists = ["volumes", "containers", "initContainers", "ephemeralContainers"];

function isListOfObjects(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every(isRecord));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function trim<K extends WatchedKind>(kind: K, object: WatchedKinds[K]): WatchedKinds[K] {
  trimMeta(object.metadata);
  if (kind === "pods") trimPod(object as Pod);
  if (kind === "nodes") Reflect.deleteProperty((object as WatchedKinds["nodes"]).status ?? {}, "images");
  return object;
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** The annotation repeats the object as it was applied, with values that must not be shown. */
function trimMeta(metadata: ObjectMeta): void {
  if (metadata.annotations) Reflect.deleteProperty(metadata.annotations, lastApplied);
}

const podSpecFields = [
  "volumes", "restartPolicy", "activeDeadlineSeconds", "serviceAccountName", "nodeName", "nodeSelector", "affinity", "tolerations",
  "securityContext", "schedulerName", "resources", "terminationGracePeriodSeconds",
] as const;

const containerFields = [
  "name", "image", "resources", "volumeMounts", "volumeDevices", "securityContext", "restartPolicy",
] as const;

const podStatusFields = [
  "phase", "conditions", "reason", "message", "hostIP", "hostIPs", "podIP", "podIPs", "startTime", "observedGeneration", "qosClass",
  "containerStatuses", "initContainerStatuses",
] as const;

function trimPod(pod: Pod): void {
  const { spec, status } = pod;
  pod.spec = { ...pick(spec, podSpecFields), containers: trimContainers(spec.containers) };
  if (spec.initContainers) pod.spec.initContainers = trimContainers(spec.initContainers);
  if (spec.ephemeralContainers) pod.spec.ephemeralContainers = trimContainers(spec.ephemeralContainers);
  if (spec.affinity) pod.spec.affinity = pick(spec.affinity, ["nodeAffinity"]);
  if (status) pod.status = pick(status, podStatusFields);
}

function trimContainers(containers: Container[] | null | undefined): Container[] {
  return Array.isArray(containers) ? containers.map((container) => pick(container, containerFields)) : [];
}

function pick<T extends object, K extends keyof T>(object: T, fields: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const field of fields) if (object[field] !== undefined) picked[field] = object[field];
  return picked as Pick<T, K>;
}
