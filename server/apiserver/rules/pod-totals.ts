/** What the containers of a pod ask for together. Source: kubernetes v1.37.2, component-helpers/resource. */
import { newObject, type JsonObject } from "@/lib/kube/json";
import { parseQuantity, Quantity } from "@/lib/quantity";
import { objectAt, objectsAt, textAt, textMap } from "@/server/apiserver/access";

export type Totals = ReadonlyMap<string, Quantity>;

/** Containers and sidecars together, or an init container with the sidecars before it where that is more. */
export function containerTotals(spec: JsonObject | undefined, list: "requests" | "limits"): Totals {
  const of = (container: JsonObject): Totals =>
    new Map([...textMap(objectAt(container, "resources"), list)].map(([name, text]) => [name, parseQuantity(text)]));
  let running: Totals = objectsAt(spec, "containers").reduce<Totals>((sum, container) => plus(sum, of(container)), new Map());
  let sidecars: Totals = new Map();
  let starting: Totals = new Map();
  for (const container of objectsAt(spec, "initContainers")) {
    const own = of(container);
    if (textAt(container, "restartPolicy") === "Always") {
      running = plus(running, own);
      sidecars = plus(sidecars, own);
      starting = larger(starting, sidecars);
    } else starting = larger(starting, plus(own, sidecars));
  }
  return larger(running, starting);
}

function plus(a: Totals, b: Totals): Totals {
  const out = new Map(a);
  for (const [name, quantity] of b) out.set(name, (out.get(name) ?? Quantity.zero).add(quantity));
  return out;
}

function larger(a: Totals, b: Totals): Totals {
  const out = new Map(a);
  for (const [name, quantity] of b) {
    const known = out.get(name);
    if (known === undefined || quantity.cmp(known) > 0) out.set(name, quantity);
  }
  return out;
}

/**
 * Pod-level resources, where a client set some: what is missing follows from the containers. Changes `spec`.
 * Source: DefaultPodLevelResources in pkg/api/pod/util.go.
 */
export function defaultPodResources(spec: JsonObject): void {
  const resources = objectAt(spec, "resources");
  if (resources === undefined || textMap(resources, "requests").size + textMap(resources, "limits").size === 0) return;
  const limits = new Map(textMap(resources, "limits"));
  const requests = new Map(textMap(resources, "requests"));
  const limitTotals = containerTotals(spec, "limits");
  for (const [name, quantity] of limitTotals) {
    if (name.startsWith(hugePages) && !requests.has(name) && !limits.has(name)) limits.set(name, quantity.toString());
  }
  for (const [name, quantity] of containerTotals(spec, "requests")) {
    if (isPodLevel(name) && !name.startsWith(hugePages) && !requests.has(name)) requests.set(name, quantity.toString());
  }
  for (const [name, text] of limits) if (isPodLevel(name) && !requests.has(name)) requests.set(name, text);
  for (const [name, text] of requests) {
    const total = limitTotals.get(name);
    if (total === undefined || limits.has(name) || !isPodLevel(name) || !everyContainerLimits(spec, name)) continue;
    const asked = parseQuantity(text);
    limits.set(name, (asked.cmp(total) > 0 ? asked : total).toString());
  }
  if (limits.size > 0) resources["limits"] = newObject([...limits]);
  if (requests.size > 0) resources["requests"] = newObject([...requests]);
}

const hugePages = "hugepages-";

function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith(hugePages);
}

function everyContainerLimits(spec: JsonObject, name: string): boolean {
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((key) => objectsAt(spec, key));
  return containers.every((container) => textMap(objectAt(container, "resources"), "limits").has(name));
}
