/** The rows of nodes, namespaces, events, settings and accounts. Source: kubernetes v1.37.2, pkg/printers/internalversion. */
import type { Json, JsonObject } from "@/lib/kube/json";
import { flagAt, numberAt, objectAt, objectsAt, textAt, textMap } from "@/server/apiserver/access";
import { ageOf, nameOf, since, type Printer } from "./printer";

const rolePrefix = "node-role.kubernetes.io/";

function rolesOf(node: JsonObject): string {
  const roles = new Set<string>();
  for (const [key, value] of textMap(objectAt(node, "metadata"), "labels")) {
    if (key.startsWith(rolePrefix)) roles.add(key.slice(rolePrefix.length));
    else if (key === "kubernetes.io/role") roles.add(value);
  }
  roles.delete("");
  return [...roles].sort().join(",") || "<none>";
}

function statusOf(node: JsonObject): string {
  const ready = objectsAt(objectAt(node, "status"), "conditions").findLast((condition) => textAt(condition, "type") === "Ready");
  const word = ready === undefined ? "Unknown" : textAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return flagAt(objectAt(node, "spec"), "unschedulable") ? `${word},SchedulingDisabled` : word;
}

function addressOf(node: JsonObject, type: string): string {
  const found = objectsAt(objectAt(node, "status"), "addresses").find((address) => textAt(address, "type") === type);
  return found === undefined ? "<none>" : textAt(found, "address");
}

export const nodePrinter: Printer = {
  cells(node, around): Json[] {
    const info = objectAt(node, "status", "nodeInfo");
    const machine = textAt(info, "architecture");
    return [
      nameOf(node),
      statusOf(node),
      rolesOf(node),
      ageOf(node, around),
      textAt(info, "kubeletVersion"),
      addressOf(node, "InternalIP"),
      addressOf(node, "ExternalIP"),
      textAt(info, "osImage") || "<unknown>",
      (textAt(info, "kernelVersion") || "<unknown>") + (machine === "" ? "" : ` (${machine})`),
      textAt(info, "containerRuntimeVersion") || "<unknown>",
    ];
  },
};

export const eventPrinter: Printer = {
  cells(event, around): Json[] {
    const series = objectAt(event, "series");
    const first = since(textAt(event, "firstTimestamp") || textAt(event, "eventTime"), around);
    const single = textAt(event, "lastTimestamp") === "" ? first : since(textAt(event, "lastTimestamp"), around);
    const about = objectAt(event, "involvedObject");
    const [kind, name] = [textAt(about, "kind").toLowerCase(), textAt(about, "name")];
    return [
      series === undefined ? single : since(textAt(series, "lastObservedTime"), around),
      textAt(event, "type"),
      textAt(event, "reason"),
      name === "" ? kind : `${kind}/${name}`,
      textAt(about, "fieldPath"),
      sourceOf(event),
      textAt(event, "message").trim(),
      first,
      series === undefined ? numberAt(event, "count") || 1 : (numberAt(series, "count") ?? 0),
      nameOf(event),
    ];
  },
};

function sourceOf(event: JsonObject): string {
  const source = objectAt(event, "source");
  const component = textAt(source, "component") || textAt(event, "reportingComponent");
  const instance = textAt(source, "host") || textAt(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}

export const namespacePrinter: Printer = {
  cells: (object, around) => [nameOf(object), textAt(objectAt(object, "status"), "phase"), ageOf(object, around)],
};

export const secretPrinter: Printer = {
  cells: (object, around) => [nameOf(object), textAt(object, "type"), sizeOf(object, "data"), ageOf(object, around)],
};

export const configMapPrinter: Printer = {
  cells: (object, around) => [nameOf(object), sizeOf(object, "data") + sizeOf(object, "binaryData"), ageOf(object, around)],
};

function sizeOf(object: JsonObject, key: string): number {
  return Object.keys(objectAt(object, key) ?? {}).length;
}

export const accountPrinter: Printer = { cells: (object, around) => [nameOf(object), ageOf(object, around)] };
