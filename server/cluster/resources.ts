/** Where each resource lives in the REST API, and the one place where object paths are put together. */
import { AppError } from "@/lib/errors";
import { isPathSegmentName } from "@/lib/names";
import type { WatchedKind } from "@/server/cluster/snapshot";

interface Resource {
  readonly prefix: "/api/v1" | "/apis/storage.k8s.io/v1";
  readonly apiVersion: "v1" | "storage.k8s.io/v1";
  readonly kind: string;
  readonly namespaced: boolean;
}

const core = { prefix: "/api/v1", apiVersion: "v1" } as const;
const storage = { prefix: "/apis/storage.k8s.io/v1", apiVersion: "storage.k8s.io/v1" } as const;

/** ConfigMaps and Secrets are read one by one, never listed or watched: they are no WatchedKind. */
export type ResourceName = WatchedKind | "configmaps" | "secrets";

export const resources: Readonly<Record<ResourceName, Resource>> = {
  pods: { ...core, kind: "Pod", namespaced: true },
  persistentvolumeclaims: { ...core, kind: "PersistentVolumeClaim", namespaced: true },
  persistentvolumes: { ...core, kind: "PersistentVolume", namespaced: false },
  nodes: { ...core, kind: "Node", namespaced: false },
  namespaces: { ...core, kind: "Namespace", namespaced: false },
  events: { ...core, kind: "Event", namespaced: true },
  configmaps: { ...core, kind: "ConfigMap", namespaced: true },
  secrets: { ...core, kind: "Secret", namespaced: true },
  storageclasses: { ...storage, kind: "StorageClass", namespaced: false },
  csidrivers: { ...storage, kind: "CSIDriver", namespaced: false },
  csinodes: { ...storage, kind: "CSINode", namespaced: false },
  volumeattachments: { ...storage, kind: "VolumeAttachment", namespaced: false },
};

export const watchedKinds: readonly WatchedKind[] = [
  "nodes",
  "namespaces",
  "storageclasses",
  "csidrivers",
  "csinodes",
  "persistentvolumes",
  "persistentvolumeclaims",
  "volumeattachments",
  "pods",
  "events",
];

/**
 * The path of a collection (no name) or of one object. Throws AppError `invalid` for a name that would change the path, and
 * for a name without the namespace that its kind needs.
 */
export function resourcePath(
  resource: ResourceName,
  at: { readonly namespace?: string; readonly name?: string; readonly subresource?: "status" | "resize" | "binding" } = {},
): string {
  const { prefix, namespaced } = resources[resource];
  const parts: string[] = [prefix];
  if (namespaced && at.namespace !== undefined) parts.push("namespaces", pathSegment("namespace", at.namespace));
  if (namespaced && at.namespace === undefined && at.name !== undefined) {
    throw new AppError("invalid", `namespace: is required for ${resource} ${at.name}`);
  }
  parts.push(resource);
  if (at.name !== undefined) parts.push(pathSegment("name", at.name));
  if (at.subresource !== undefined) parts.push(at.subresource);
  return parts.join("/");
}

/** One encoded segment of a path. Throws AppError `invalid` for a text that would change the path, or that no path can hold. */
export function pathSegment(field: string, value: string): string {
  if (value === "" || !value.isWellFormed() || isPathSegmentName(value).length > 0) {
    throw new AppError("invalid", `${field}: ${JSON.stringify(value)} can't be part of a path`);
  }
  return encodeURIComponent(value);
}
