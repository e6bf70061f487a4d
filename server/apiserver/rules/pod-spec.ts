/**
 * Rules of a pod's metadata and spec, as far as volumes, containers and resources go; probes, security contexts, affinity and other parts
 * that no volume depends on are kept as they come. Source: kubernetes v1.37.2, validatePodMetadataAndSpec.
 */
import type { JsonObject } from "@/lib/kube/json";
import { isDNS1123Subdomain, isQualifiedName } from "@/lib/names";
import { parseQuantity } from "@/lib/quantity";
import { ensureObject, flagAt, numberAt, objectAt, objectsAt, textAt, textMap } from "@/server/apiserver/access";
import { child, duplicate, forbidden, invalid, keyed, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { labelErrors, metadataErrors, subdomainName } from "./metadata";
import { inclusiveRange, labelErrorsAt } from "./paths";
import { deviceErrors, mountErrors, podVolumeErrors } from "./pod-volumes";
import { isExtendedResource, isHugePages, isIntegerResource, isNativeResource, isOvercommitAllowed } from "./resource-names";

const maxInt32 = 2147483647;

export interface PodOptions {
  /** Containers may be privileged. */
  readonly allowPrivileged: boolean;
  /** The stored pod. */
  readonly old?: JsonObject;
}

export function podErrors(pod: JsonObject, options: PodOptions): FieldError[] {
  const metadata = objectAt(pod, "metadata");
  const spec = ensureObject(pod, "spec");
  return [
    ...metadataErrors(metadata, { namespaced: true, name: subdomainName }),
    ...specErrors(spec, textAt(metadata, "name"), options),
    ...tokenErrors(spec),
    ...graceErrors(spec),
  ];
}

function specErrors(spec: JsonObject, podName: string, options: PodOptions): FieldError[] {
  const { errors, valid } = podVolumeErrors(objectsAt(spec, "volumes"), podName, "spec.volumes");
  const around = { spec, volumes: valid, options };
  errors.push(...containerErrors(around), ...initErrors(around), ...podResourceErrors(spec));
  errors.push(...enumErrors(spec), ...labelErrors(spec, "nodeSelector", "spec.nodeSelector"));
  for (const key of ["serviceAccountName", "nodeName"]) {
    const name = textAt(spec, key);
    if (name !== "") errors.push(...isDNS1123Subdomain(name).map((message) => invalid(`spec.${key}`, name, message)));
  }
  const deadline = numberAt(spec, "activeDeadlineSeconds");
  if (deadline !== undefined && (deadline < 1 || deadline > maxInt32)) {
    errors.push(invalid("spec.activeDeadlineSeconds", deadline, inclusiveRange(1, maxInt32)));
  }
  for (const key of ["hostname", "subdomain"]) {
    const name = textAt(spec, key);
    if (name !== "") errors.push(...labelErrorsAt(name, `spec.${key}`));
  }
  return errors;
}

function enumErrors(spec: JsonObject): FieldError[] {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["restartPolicy", ["Always", "OnFailure", "Never"]],
    ["dnsPolicy", ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]],
  ];
  return rows.flatMap(([key, known]) => (known.includes(textAt(spec, key)) ? [] : [notSupported(`spec.${key}`, textAt(spec, key), known)]));
}

function tokenErrors(spec: JsonObject): FieldError[] {
  if (textAt(spec, "serviceAccountName") !== "") return [];
  return objectsAt(spec, "volumes").flatMap((volume, i) =>
    objectsAt(objectAt(volume, "projected"), "sources").flatMap((source, j) => {
      if (objectAt(source, "serviceAccountToken") === undefined) return [];
      const at = child("spec", "volumes", i, "projected", "sources", j, "serviceAccountToken");
      return [forbidden(at, "must not be specified when serviceAccountName is not set")];
    }),
  );
}

function graceErrors(spec: JsonObject): FieldError[] {
  const grace = numberAt(spec, "terminationGracePeriodSeconds");
  return grace !== undefined && grace < 0 ? [invalid("spec.terminationGracePeriodSeconds", grace, "must be greater than or equal to 0")] : [];
}

function containerErrors(around: Surroundings): FieldError[] {
  const containers = objectsAt(around.spec, "containers");
  if (containers.length === 0) return [required("spec.containers", "")];
  return containers.flatMap((container, index) => {
    const at = child("spec", "containers", index);
    const repeated = containers.slice(0, index).some((other) => textAt(other, "name") === textAt(container, "name"));
    return [...commonErrors(container, around, at), ...(repeated ? [duplicate(`${at}.name`, textAt(container, "name"))] : [])];
  });
}

function initErrors(around: Surroundings): FieldError[] {
  const { spec, options } = around;
  const restartsAnyway = options.old !== undefined && restartingInitContainers(options.old);
  const names = new Set(objectsAt(spec, "containers").map((container) => textAt(container, "name")));
  return objectsAt(spec, "initContainers").flatMap((container, index) => {
    const at = child("spec", "initContainers", index);
    const name = textAt(container, "name");
    const errors = commonErrors(container, around, at);
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else if (name !== "") names.add(name);
    return [...errors, ...(isSidecar(container) ? [] : plainInitErrors(container, at, restartsAnyway))];
  });
}

/** A stored pod may have what is refused today. */
function restartingInitContainers(pod: JsonObject): boolean {
  const plain = objectsAt(objectAt(pod, "spec"), "initContainers").filter((container) => !isSidecar(container));
  return plain.some((container) => objectsAt(container, "resizePolicy").some((policy) => textAt(policy, "restartPolicy") === "RestartContainer"));
}

export function isSidecar(container: JsonObject): boolean {
  return textAt(container, "restartPolicy") === "Always";
}

function plainInitErrors(container: JsonObject, at: string, restartsAnyway: boolean): FieldError[] {
  const errors = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]
    .filter((key) => objectAt(container, key) !== undefined)
    .map((key) => forbidden(`${at}.${key}`, "may not be set for init containers without restartPolicy=Always"));
  if (restartsAnyway) return errors;
  objectsAt(container, "resizePolicy").forEach((policy, index) => {
    if (textAt(policy, "restartPolicy") !== "RestartContainer") return;
    errors.push(invalid(`${child(at, "resizePolicy", index)}.restartPolicy`, "RestartContainer", "must not be set to 'RestartContainer' for non-sidecar initContainers"));
  });
  return errors;
}

interface Surroundings {
  readonly options: PodOptions;
  readonly spec: JsonObject;
  readonly volumes: ReadonlyMap<string, JsonObject>;
}

function commonErrors(container: JsonObject, { spec, volumes, options }: Surroundings, at: string): FieldError[] {
  const name = textAt(container, "name");
  const errors = name === "" ? [required(`${at}.name`, "")] : labelErrorsAt(name, `${at}.name`);
  if (textAt(container, "image") === "") errors.push(required(`${at}.image`, ""));
  const policies = ["File", "FallbackToLogsOnError"];
  const messages = textAt(container, "terminationMessagePolicy");
  if (!policies.includes(messages)) errors.push(notSupported(`${at}.terminationMessagePolicy`, messages, policies));
  errors.push(...mountErrors(container, volumes, `${at}.volumeMounts`), ...deviceErrors(container, volumes, `${at}.volumeDevices`));
  const pull = textAt(container, "imagePullPolicy");
  const pulls = ["Always", "IfNotPresent", "Never"];
  if (pull === "") errors.push(required(`${at}.imagePullPolicy`, ""));
  else if (!pulls.includes(pull)) errors.push(notSupported(`${at}.imagePullPolicy`, pull, pulls));
  errors.push(...resourceErrors(objectAt(container, "resources"), `${at}.resources`));
  errors.push(...resizePolicyErrors(container, textAt(spec, "restartPolicy"), `${at}.resizePolicy`));
  if (flagAt(objectAt(container, "securityContext"), "privileged") && !options.allowPrivileged) {
    errors.push(forbidden(`${at}.securityContext.privileged`, "disallowed by cluster policy"));
  }
  return errors;
}

function resizePolicyErrors(container: JsonObject, podPolicy: string, at: string): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(container, "resizePolicy").flatMap((policy, index) => {
    const errors: FieldError[] = [];
    const resource = textAt(policy, "resourceName");
    const restart = textAt(policy, "restartPolicy");
    if (seen.has(resource)) errors.push(duplicate(child(at, index), resource));
    seen.add(resource);
    if (resource === "") errors.push(required(at, ""));
    else if (resource !== "cpu" && resource !== "memory") errors.push(notSupported(at, resource, ["cpu", "memory"]));
    if (restart === "") errors.push(required(at, ""));
    else if (restart !== "NotRequired" && restart !== "RestartContainer") errors.push(notSupported(at, restart, ["NotRequired", "RestartContainer"]));
    if (podPolicy === "Never" && restart !== "NotRequired") {
      errors.push(invalid(at, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return errors;
  });
}

// Resources

const containerResources = ["cpu", "memory", "ephemeral-storage"];

export function resourceErrors(resources: JsonObject | undefined, at: string): FieldError[] {
  const limits = textMap(resources, "limits");
  const requests = textMap(resources, "requests");
  const errors: FieldError[] = [];
  for (const [name, text] of limits) errors.push(...valueErrors(name, text, keyed(`${at}.limits`, name)));
  for (const [name, text] of requests) {
    errors.push(...valueErrors(name, text, keyed(`${at}.requests`, name)), ...requestErrors({ name, text, limit: limits.get(name) }, at));
  }
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.some((name) => name === "cpu" || name === "memory")) errors.push(forbidden(at, "HugePages require cpu or memory"));
  return errors;
}

function requestErrors({ name, text, limit }: { name: string; text: string; limit: string | undefined }, at: string): FieldError[] {
  const quantity = parseQuantity(text);
  if (limit === undefined) return isOvercommitAllowed(name) ? [] : [required(`${at}.limits`, "Limit must be set for non overcommitable resources")];
  const bound = parseQuantity(limit);
  if (quantity.cmp(bound) !== 0 && !isOvercommitAllowed(name)) return [invalid(`${at}.requests`, quantity.toString(), `must be equal to ${name} limit of ${bound.toString()}`)];
  if (quantity.cmp(bound) <= 0) return [];
  return [invalid(`${at}.requests`, quantity.toString(), `must be less than or equal to ${name} limit of ${bound.toString()}`)];
}

function valueErrors(name: string, text: string, at: string): FieldError[] {
  const quantity = parseQuantity(text);
  const errors = nameErrors(name, at);
  if (quantity.sign() < 0) errors.push(invalid(at, quantity.toString(), "must be greater than or equal to 0"));
  if (isIntegerResource(name) && quantity.milliValue() % 1000n !== 0n) errors.push(invalid(at, quantity.toString(), "must be an integer"));
  return errors;
}

function nameErrors(name: string, at: string): FieldError[] {
  const errors = isQualifiedName(name).map((message) => invalid(at, name, message));
  const standard = containerResources.includes(name) || isHugePages(name);
  if (!name.includes("/")) {
    if (errors.length === 0 && !standard && !quotaResources.has(name)) errors.push(invalid(at, name, "must be a standard resource type or fully qualified"));
    return standard ? errors : [...errors, invalid(at, name, "must be a standard resource for containers")];
  }
  return isNativeResource(name) || isExtendedResource(name) ? errors : [...errors, invalid(at, name, "doesn't follow extended resource name standard")];
}

const quotaResources = new Set([
  "requests.cpu",
  "requests.memory",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "storage",
  "requests.storage",
  "services.nodeports",
  "services.loadbalancers",
]);

function podResourceErrors(spec: JsonObject): FieldError[] {
  const resources = objectAt(spec, "resources");
  return resources === undefined ? [] : resourceErrors(resources, "spec.resources");
}
