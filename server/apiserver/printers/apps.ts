/** The rows of the workloads that manifests may hold; nothing runs them here. Source: kubernetes v1.37.2, pkg/printers/internalversion. */
import { formatLabelSelector } from "@/lib/kube/selectors";
import type { Json, JsonObject } from "@/lib/kube/json";
import { numberAt, objectAt, objectsAt, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { ageOf, nameOf, type Printer } from "./printer";

function count(object: JsonObject, part: "spec" | "status", key: string): number {
  return numberAt(objectAt(object, part), key) ?? 0;
}

/** Names and images of the template's containers. */
function templateOf(object: JsonObject): [string, string] {
  const containers = objectsAt(objectAt(object, "spec", "template", "spec"), "containers");
  return [containers.map((container) => textAt(container, "name")).join(","), containers.map((container) => textAt(container, "image")).join(",")];
}

function selectorOf(object: JsonObject): string {
  const selector = objectAt(object, "spec", "selector");
  if (selector === undefined) return "<none>";
  const matchExpressions = objectsAt(selector, "matchExpressions").map((one) => ({ key: textAt(one, "key"), operator: textAt(one, "operator"), values: textsAt(one, "values") }));
  return formatLabelSelector({ matchLabels: Object.fromEntries(textMap(selector, "matchLabels")), matchExpressions });
}

export const statefulSetPrinter: Printer = {
  cells: (set, around) => [nameOf(set), `${count(set, "status", "readyReplicas")}/${count(set, "spec", "replicas")}`, ageOf(set, around), ...templateOf(set)],
};

export const deploymentPrinter: Printer = {
  cells: (object, around): Json[] => [
    nameOf(object),
    `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`,
    count(object, "status", "updatedReplicas"),
    count(object, "status", "availableReplicas"),
    ageOf(object, around),
    ...templateOf(object),
    selectorOf(object).replace(/^<none>$/u, "").replace(/^<error>$/u, "<invalid>"),
  ],
};

export const daemonSetPrinter: Printer = {
  cells(set, around): Json[] {
    const keys = ["desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"];
    const nodes = [...textMap(objectAt(set, "spec", "template", "spec"), "nodeSelector")].map(([key, value]) => `${key}=${value}`);
    return [nameOf(set), ...keys.map((key) => count(set, "status", key)), nodes.sort().join(",") || "<none>", ageOf(set, around), ...templateOf(set), selectorOf(set)];
  },
};

export const replicaSetPrinter: Printer = {
  cells: (set, around): Json[] => [
    nameOf(set),
    count(set, "spec", "replicas"),
    count(set, "status", "replicas"),
    count(set, "status", "readyReplicas"),
    ageOf(set, around),
    ...templateOf(set),
    selectorOf(set),
  ],
};
