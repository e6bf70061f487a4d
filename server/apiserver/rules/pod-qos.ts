/** The quality of service class of a pod. Source: kubernetes v1.37.2, pkg/apis/core/helper/qos. */
import type { JsonObject } from "@/lib/kube/json";
import { parseQuantity, Quantity } from "@/lib/quantity";
import { objectAt, objectsAt, textAt, textMap } from "@/server/apiserver/access";

type Qos = "BestEffort" | "Burstable" | "Guaranteed";

/** The class that the status has already, else the computed one. */
export function qosOf(pod: JsonObject): string {
  return textAt(objectAt(pod, "status"), "qosClass") || computeQos(pod);
}

export function computeQos(pod: JsonObject): Qos {
  const spec = objectAt(pod, "spec");
  const own = objectAt(spec, "resources");
  if (textMap(own, "requests").size + textMap(own, "limits").size > 0) return requirementsQos(own);
  const classes = new Set([...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")].map((container) => requirementsQos(objectAt(container, "resources"))));
  const [first = "BestEffort"] = classes;
  return classes.size > 1 ? "Burstable" : first;
}

function requirementsQos(resources: JsonObject | undefined): Qos {
  const requests = textMap(resources, "requests");
  const limits = textMap(resources, "limits");
  if (requests.size + limits.size === 0) return "BestEffort";
  const classes = new Set(["cpu", "memory"].map((name) => resourceQos(requests.get(name), limits.get(name))));
  const [first = "BestEffort"] = classes;
  return classes.size > 1 ? "Burstable" : first;
}

function resourceQos(request: string | undefined, limit: string | undefined): Qos {
  const asked = request === undefined ? Quantity.zero : parseQuantity(request);
  const bound = limit === undefined ? Quantity.zero : parseQuantity(limit);
  if (asked.cmp(bound) !== 0) return "Burstable";
  return asked.isZero() ? "BestEffort" : "Guaranteed";
}
