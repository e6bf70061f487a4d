/** What a request asks for: the path taken apart as the real server's RequestInfo does, against the table of kinds. */
import type { Kind, KindTable } from "./kinds";

export interface ApiRequest {
  readonly method: string;
  /** Decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

export interface Target {
  readonly kind: Kind;
  /** Empty: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
}

/** Path and query of a request line as they stand there: a URL would take `..` out of the path. undefined for a path that is badly escaped. */
export function splitRequestTarget(target: string): Pick<ApiRequest, "path" | "query"> | undefined {
  const [, path = "", query = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/su.exec(target) ?? [];
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(query) };
  } catch {
    return undefined;
  }
}

/** The object or collection of a path below /api or /apis, or undefined where a real server has no route. */
export function findTarget(path: string, kinds: KindTable): Target | undefined {
  const parts = path.replace(/\/+$/u, "").split("/").slice(1);
  const [root, ...rest] = parts;
  if (root === "api") return resourceTarget({ group: "", version: rest[0] ?? "" }, rest.slice(1), kinds);
  if (root === "apis") return resourceTarget({ group: rest[0] ?? "", version: rest[1] ?? "" }, rest.slice(2), kinds);
  return undefined;
}

function resourceTarget(of: { group: string; version: string }, parts: readonly string[], kinds: KindTable): Target | undefined {
  const scoped = parts[0] === "namespaces" && parts.length > 2 && !isNamespaceSubresource(of, parts, kinds);
  const namespace = scoped ? (parts[1] ?? "") : "";
  const [resource = "", name = "", ...subresource] = scoped ? parts.slice(2) : parts;
  const kind = kinds.byResource(of.group, of.version, resource);
  if (kind === undefined || (scoped && !kind.namespaced)) return undefined;
  if (!scoped && kind.namespaced && name !== "") return undefined;
  const sub = subresource.join("/");
  if (sub !== "" && !kind.subresources.includes(sub)) return undefined;
  return { kind, namespace, name, subresource: sub };
}

function isNamespaceSubresource(of: { group: string; version: string }, parts: readonly string[], kinds: KindTable): boolean {
  const namespaces = kinds.byResource(of.group, of.version, "namespaces");
  return parts.length === 3 && namespaces?.subresources.includes(parts[2] ?? "") === true;
}

export function bodyText(request: ApiRequest): string {
  return Buffer.from(request.body).toString("utf8");
}
