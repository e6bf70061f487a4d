/**
 * The kinds that the embedded API server knows: one table. `type` names the Go type that gives a kind its behaviour (fields, order,
 * patch strategies); a kind without one is kept, listed and watched as it came. Order within a group as the real server lists it.
 */
import { isStruct } from "@/lib/kube/go-types";

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
  readonly type: string | undefined;
}

/** `resource kind n|- shortNames,.. subresources,.. categories,.. type` */
type Row = readonly [resource: string, kind: string, scope: "namespaced" | "cluster", more?: Partial<Pick<Kind, "shortNames" | "categories" | "subresources" | "type">>];

const groups: readonly (readonly [group: string, version: string, rows: readonly Row[]])[] = [
  [
    "",
    "v1",
    [
      ["configmaps", "ConfigMap", "namespaced", { shortNames: ["cm"] }],
      ["endpoints", "Endpoints", "namespaced", { shortNames: ["ep"] }],
      ["events", "Event", "namespaced", { shortNames: ["ev"] }],
      ["limitranges", "LimitRange", "namespaced", { shortNames: ["limits"] }],
      ["namespaces", "Namespace", "cluster", { shortNames: ["ns"], subresources: ["finalize", "status"] }],
      ["nodes", "Node", "cluster", { shortNames: ["no"], subresources: ["status"] }],
      ["persistentvolumeclaims", "PersistentVolumeClaim", "namespaced", { shortNames: ["pvc"], subresources: ["status"] }],
      ["persistentvolumes", "PersistentVolume", "cluster", { shortNames: ["pv"], subresources: ["status"] }],
      ["pods", "Pod", "namespaced", { shortNames: ["po"], categories: ["all"], subresources: ["binding", "resize", "status"] }],
      ["replicationcontrollers", "ReplicationController", "namespaced", { shortNames: ["rc"], categories: ["all"] }],
      ["resourcequotas", "ResourceQuota", "namespaced", { shortNames: ["quota"] }],
      ["secrets", "Secret", "namespaced"],
      ["serviceaccounts", "ServiceAccount", "namespaced", { shortNames: ["sa"] }],
      ["services", "Service", "namespaced", { shortNames: ["svc"], categories: ["all"] }],
    ],
  ],
  [
    "apps",
    "v1",
    [
      ["controllerrevisions", "ControllerRevision", "namespaced"],
      ["daemonsets", "DaemonSet", "namespaced", { shortNames: ["ds"], categories: ["all"], subresources: ["status"] }],
      ["deployments", "Deployment", "namespaced", { shortNames: ["deploy"], categories: ["all"], subresources: ["status"] }],
      ["replicasets", "ReplicaSet", "namespaced", { shortNames: ["rs"], categories: ["all"], subresources: ["status"] }],
      ["statefulsets", "StatefulSet", "namespaced", { shortNames: ["sts"], categories: ["all"], subresources: ["status"] }],
    ],
  ],
  [
    "batch",
    "v1",
    [
      ["cronjobs", "CronJob", "namespaced", { shortNames: ["cj"], categories: ["all"], subresources: ["status"] }],
      ["jobs", "Job", "namespaced", { categories: ["all"], subresources: ["status"] }],
    ],
  ],
  ["coordination.k8s.io", "v1", [["leases", "Lease", "namespaced"]]],
  ["events.k8s.io", "v1", [["events", "Event", "namespaced", { shortNames: ["ev"], type: "events/v1.Event" }]]],
  [
    "storage.k8s.io",
    "v1",
    [
      ["csidrivers", "CSIDriver", "cluster"],
      ["csinodes", "CSINode", "cluster"],
      ["csistoragecapacities", "CSIStorageCapacity", "namespaced"],
      ["storageclasses", "StorageClass", "cluster", { shortNames: ["sc"] }],
      ["volumeattachments", "VolumeAttachment", "cluster", { subresources: ["status"] }],
      ["volumeattributesclasses", "VolumeAttributesClass", "cluster", { shortNames: ["vac"] }],
    ],
  ],
];

const packages = new Map([
  ["", "core"],
  ["apps", "apps"],
  ["batch", "batch"],
  ["coordination.k8s.io", "coordination"],
  ["storage.k8s.io", "storage"],
]);

function toKind(group: string, version: string, [resource, kind, scope, more = {}]: Row): Kind {
  const type = more.type ?? `${packages.get(group) ?? group}/${version}.${kind}`;
  return {
    group,
    version,
    resource,
    singular: kind.toLowerCase(),
    kind,
    namespaced: scope === "namespaced",
    shortNames: more.shortNames ?? [],
    categories: more.categories ?? [],
    subresources: more.subresources ?? [],
    type: isStruct(type) ? type : undefined,
  };
}

export const builtInKinds: readonly Kind[] = groups.flatMap(([group, version, rows]) => rows.map((row) => toKind(group, version, row)));

/** `v1`, `storage.k8s.io/v1`. */
export function apiVersionOf(kind: Pick<Kind, "group" | "version">): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/**
 * The built-in kinds and those that manifests brought. A kind that came with a manifest alone gets the plural that Kubernetes'
 * own guess gives it (meta.UnsafeGuessKindToResource) and is namespaced when its first object names a namespace.
 */
export class KindTable {
  private readonly kinds: Kind[] = [...builtInKinds];

  /** `learned` is what an earlier run kept of the kinds that it learned. */
  constructor(learned: readonly unknown[] = []) {
    for (const entry of learned) if (isLearned(entry)) this.learn(entry.apiVersion, entry.kind, entry.namespaced);
  }

  all(): readonly Kind[] {
    return this.kinds;
  }

  byResource(group: string, version: string, resource: string): Kind | undefined {
    return this.kinds.find((kind) => kind.group === group && kind.version === version && kind.resource === resource);
  }

  byKind(apiVersion: string, kind: string): Kind | undefined {
    return this.kinds.find((known) => apiVersionOf(known) === apiVersion && known.kind === kind);
  }

  /** Adds a kind of a manifest; returns the known one where it exists. */
  learn(apiVersion: string, kind: string, namespaced: boolean): Kind {
    const known = this.byKind(apiVersion, kind);
    if (known !== undefined) return known;
    const slash = apiVersion.indexOf("/");
    const learned: Kind = {
      group: slash < 0 ? "" : apiVersion.slice(0, slash),
      version: slash < 0 ? apiVersion : apiVersion.slice(slash + 1),
      resource: guessPlural(kind),
      singular: kind.toLowerCase(),
      kind,
      namespaced,
      shortNames: [],
      categories: [],
      subresources: [],
      type: undefined,
    };
    this.kinds.push(learned);
    return learned;
  }
}

function guessPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith("endpoints")) return singular;
  if (singular.endsWith("s")) return `${singular}es`;
  if (singular.endsWith("y")) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

interface Learned {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

function isLearned(value: unknown): value is Learned {
  if (typeof value !== "object" || value === null) return false;
  return "apiVersion" in value && typeof value.apiVersion === "string" && "kind" in value && typeof value.kind === "string" && "namespaced" in value && typeof value.namespaced === "boolean";
}
