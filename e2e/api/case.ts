/** One request of the comparison, and short ways to write it. */
import type { Sent } from "./client";

/** Bodies remembered by name, one memory per server. */
export type Memory = Map<string, unknown>;

export interface Case {
  readonly title: string;
  readonly request: Sent | ((memory: Memory) => Sent);
  /** Keeps the body under this name. */
  readonly remember?: string;
}

export const label = { "voldeck-api-test": "1" };
export const labelled = "labelSelector=voldeck-api-test%3D1";

export const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
export const metadataOnly = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json" };
export const metadataList = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json" };

export const merge = { "content-type": "application/merge-patch+json" };
export const strategic = { "content-type": "application/strategic-merge-patch+json" };
export const json = { "content-type": "application/json-patch+json" };

export function get(title: string, path: string, headers: Record<string, string> = {}): Case {
  return { title, request: { method: "GET", path, headers } };
}

export function post(title: string, path: string, body: unknown, headers: Record<string, string> = {}): Case {
  return { title, request: { method: "POST", path, body, headers } };
}

export function put(title: string, path: string, body: unknown): Case {
  return { title, request: { method: "PUT", path, body } };
}

export function patch(title: string, path: string, headers: Record<string, string>, body: unknown): Case {
  return { title, request: { method: "PATCH", path, headers, body } };
}

export function remove(title: string, path: string, body?: unknown): Case {
  return { title, request: { method: "DELETE", path, body } };
}

/** A value deep in what was remembered. */
export function recalled(memory: Memory, name: string, ...path: readonly string[]): string {
  let value: unknown = memory.get(name);
  for (const key of path) value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return String(value);
}
