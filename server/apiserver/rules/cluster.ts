/** Rules of Namespace, Node and Event. Source: kubernetes v1.37.2, pkg/apis/core/validation and pkg/registry/core/{namespace,node,event}. */
import { deepEqual, type JsonObject } from "@/lib/kube/json";
import { isQualifiedName } from "@/lib/names";
import { parseQuantity } from "@/lib/quantity";
import { assign, ensureObject, objectAt, objectsAt, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { child, duplicate, forbidden, invalid, keyed, notSupported, required, type FieldError } from "@/server/apiserver/field";
import { labelName, metadataErrors, metadataUpdateErrors, pathSegmentName, subdomainName } from "./metadata";
import { isIntegerResource } from "./resource-names";
import type { Rules } from "./rules";

function updateMetadata(next: JsonObject, old: JsonObject): FieldError[] {
  return metadataUpdateErrors(objectAt(next, "metadata"), objectAt(old, "metadata"));
}

// Namespace

const kept = "kubernetes";

export const namespaceRules: Rules = {
  prepareForCreate(namespace) {
    namespace["status"] = Object.assign(ensureObject(namespace, "status"), { phase: "Active" });
    const spec = ensureObject(namespace, "spec");
    const finalizers = textsAt(spec, "finalizers");
    if (!finalizers.includes(kept)) spec["finalizers"] = [...finalizers, kept];
  },
  validateCreate(namespace) {
    const named = textsAt(objectAt(namespace, "spec"), "finalizers").flatMap((name) => isQualifiedName(name).map((message) => invalid("spec.finalizers", name, message)));
    return [...metadataErrors(objectAt(namespace, "metadata"), { namespaced: false, name: labelName }), ...named];
  },
  update: {
    prepare(next, old) {
      assign(ensureObject(next, "spec"), "finalizers", objectAt(old, "spec")?.["finalizers"]);
      assign(next, "status", old["status"]);
    },
    validate: updateMetadata,
  },
  subresources: {
    status: {
      prepare: (next, old) => assign(next, "spec", old["spec"]),
      validate(next, old) {
        const phase = textAt(objectAt(next, "status"), "phase");
        const isDeleted = textAt(objectAt(next, "metadata"), "deletionTimestamp") !== "";
        const wanted = isDeleted ? "Terminating" : "Active";
        const detail = `may only be '${wanted}' if \`deletionTimestamp\` is ${isDeleted ? "not " : ""}empty`;
        return [...updateMetadata(next, old), ...(phase === wanted ? [] : [invalid("status.Phase", phase, detail)])];
      },
    },
    finalize: { prepare: (next, old) => assign(next, "status", old["status"]), validate: updateMetadata },
  },
};

// Node

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function nodeErrors(node: JsonObject): FieldError[] {
  return [...taintErrors(objectsAt(objectAt(node, "spec"), "taints")), ...resourceErrors(objectAt(node, "status"))];
}

function taintErrors(taints: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = child("metadata", "taints", index);
    const [key, effect] = [textAt(taint, "key"), textAt(taint, "effect")];
    const errors = isQualifiedName(key).map((message) => invalid(`${at}.key`, key, message));
    if (effect === "") errors.push(required(`${at}.effect`, ""));
    else if (!effects.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, effects));
    if (seen.has(`${effect} ${key}`)) errors.push(duplicate(at, taint));
    seen.add(`${effect} ${key}`);
    return errors;
  });
}

function resourceErrors(status: JsonObject | undefined): FieldError[] {
  return ["capacity", "allocatable"].flatMap((list) =>
    [...textMap(status, list)].flatMap(([name, text]) => {
      const at = keyed(`status.${list}`, name);
      const quantity = parseQuantity(text);
      if (quantity.sign() < 0) return [invalid(at, quantity.toString(), "must be greater than or equal to 0")];
      return isIntegerResource(name) && quantity.milliValue() % 1000n !== 0n ? [invalid(at, quantity.toString(), "must be an integer")] : [];
    }),
  );
}

function nodeUpdateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const errors = [...updateMetadata(next, old), ...resourceErrors(objectAt(next, "status"))];
  const addresses = objectsAt(objectAt(next, "status"), "addresses");
  addresses.forEach((address, index) => {
    if (addresses.slice(0, index).some((other) => deepEqual(other, address))) errors.push(duplicate(child("status", "addresses", index), address));
  });
  const [spec, before] = [objectAt(next, "spec"), objectAt(old, "spec")];
  const ranges = textsAt(before, "podCIDRs");
  if (ranges.length > 0 && ranges.join() !== textsAt(spec, "podCIDRs").join()) {
    errors.push(forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  const [provider, known] = [textAt(spec, "providerID"), textAt(before, "providerID")];
  if (known !== "" && provider !== known) {
    errors.push(invalid("spec.providerID", null, `field cannot be ${provider === "" ? "cleared" : "modified"} once set`));
  }
  return [...errors, ...taintErrors(objectsAt(spec, "taints"))];
}

export const nodeRules: Rules = {
  prepareForCreate: () => undefined,
  validateCreate: (node) => [...metadataErrors(objectAt(node, "metadata"), { namespaced: false, name: subdomainName }), ...nodeErrors(node)],
  update: { prepare: (next, old) => assign(next, "status", old["status"]), validate: nodeUpdateErrors },
  subresources: { status: { prepare: (next, old) => assign(next, "spec", old["spec"]), validate: nodeUpdateErrors } },
};

// Event

const eventLimits = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

/** Events of the first kind need to agree with their object's namespace; those with an eventTime need a reporter too. */
function eventErrors(event: JsonObject): FieldError[] {
  const namespace = textAt(objectAt(event, "metadata"), "namespace");
  const about = textAt(objectAt(event, "involvedObject"), "namespace");
  const mismatch = [invalid("involvedObject.namespace", about, "does not match event.namespace")];
  if (textAt(event, "eventTime") === "") {
    const agrees = about === "" ? namespace === "" || namespace === "default" : namespace === about;
    return agrees ? [] : mismatch;
  }
  const errors = about === "" && !["default", "kube-system"].includes(namespace) ? mismatch : [];
  const controller = textAt(event, "reportingComponent");
  if (controller === "") errors.push(required("reportingComponent", ""));
  errors.push(...isQualifiedName(controller).map((message) => invalid("reportingComponent", controller, message)));
  for (const [key, limit] of Object.entries(eventLimits)) {
    const text = textAt(event, key);
    if (text === "" && key !== "message") errors.push(required(key, ""));
    if (Buffer.byteLength(text) > limit) errors.push(invalid(key, "", `can have at most ${limit} characters`));
  }
  return errors;
}

export const eventRules: Rules = {
  prepareForCreate: () => undefined,
  validateCreate: (event) => [...namedErrors(event), ...eventErrors(event)],
  update: { prepare: () => undefined, validate: (next) => eventErrors(next) },
  createsOnUpdate: true,
};

function namedErrors(event: JsonObject): FieldError[] {
  const name = textAt(objectAt(event, "metadata"), "name");
  return pathSegmentName(name, false).map((message) => invalid("metadata.name", name, message));
}
