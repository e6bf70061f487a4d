/** The one list of what a whole cluster writes into objects and Voldeck's API server, which has no such part, does not. */

type Plain = Record<string, unknown>;

export interface Omission {
  readonly what: string;
  readonly reason: string;
  /** Takes it out of an object, in place. */
  drop(object: Plain, kind: string): void;
}

function at(object: Plain, ...path: readonly string[]): Plain | undefined {
  let value: unknown = object;
  for (const key of path) value = typeof value === "object" && value !== null ? (value as Plain)[key] : undefined;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Plain) : undefined;
}

function without(parent: Plain | undefined, ...keys: readonly string[]): void {
  for (const key of keys) delete parent?.[key];
}

const notReady = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

export const omissions: readonly Omission[] = [
  {
    what: "metadata.managedFields",
    reason: "field ownership is not kept",
    drop: (object) => without(at(object, "metadata"), "managedFields"),
  },
  {
    what: "a pod's priority and preemption policy",
    reason: "admission plugin Priority: there is no scheduler",
    drop(object, kind) {
      const spec = kind === "Pod" ? at(object, "spec") : undefined;
      if (spec?.["priority"] === 0) without(spec, "priority", "preemptionPolicy");
    },
  },
  {
    what: "tolerations of nodes that are not ready",
    reason: "admission plugin DefaultTolerationSeconds: nothing evicts pods",
    drop(object, kind) {
      const spec = kind === "Pod" ? at(object, "spec") : undefined;
      if (spec === undefined || !Array.isArray(spec["tolerations"])) return;
      const kept = spec["tolerations"].filter((one: unknown) => !notReady.includes(String((one as Plain)["key"])));
      if (kept.length === 0) without(spec, "tolerations");
      else spec["tolerations"] = kept;
    },
  },
  {
    what: "the taint not-ready of a new node",
    reason: "admission plugin TaintNodesByCondition: no controller would take it off",
    drop(object, kind) {
      const spec = kind === "Node" ? at(object, "spec") : undefined;
      if (spec === undefined || !Array.isArray(spec["taints"])) return;
      const kept = spec["taints"].filter((one: unknown) => !notReady.includes(String((one as Plain)["key"])));
      if (kept.length === 0) without(spec, "taints");
      else spec["taints"] = kept;
    },
  },
  {
    what: "the finalizers pvc-protection and pv-protection",
    reason: "admission plugin StorageObjectInUseProtection: no controller would take them off",
    drop(object) {
      const metadata = at(object, "metadata");
      if (metadata === undefined || !Array.isArray(metadata["finalizers"])) return;
      const kept = metadata["finalizers"].filter((one: unknown) => !/^kubernetes\.io\/pvc?-protection$/u.test(String(one)));
      if (kept.length === 0) without(metadata, "finalizers");
      else metadata["finalizers"] = kept;
    },
  },
  {
    what: "the condition PodScheduled and a pod's nominated node",
    reason: "the scheduler: pods are bound by whoever writes them",
    drop(object, kind) {
      const status = kind === "Pod" ? at(object, "status") : undefined;
      if (status === undefined || !Array.isArray(status["conditions"])) return;
      const kept = status["conditions"].filter((one: unknown) => (one as Plain)["type"] !== "PodScheduled");
      if (kept.length === 0) without(status, "conditions");
      else status["conditions"] = kept;
    },
  },
  {
    what: "the phase of a PersistentVolume",
    reason: "the volume controller moves it from Pending to Available at once",
    drop(object, kind) {
      if (kind === "PersistentVolume") without(at(object, "status"), "phase", "lastPhaseTransitionTime");
    },
  },
];
