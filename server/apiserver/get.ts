/** GET of one object. */
import type { ServerContext } from "./context";
import type { Stored } from "./store";
import type { Target } from "./request";
import { parseUint } from "./resource-version";
import { badRequest, notFoundError, tooLargeResourceVersion } from "./status";

/** Throws ApiError 400, 404 or 504 (a revision that is not reached yet). */
export function getObject(context: ServerContext, target: Target, query: URLSearchParams): Stored {
  const asked = query.get("resourceVersion") ?? "";
  if (asked !== "" && asked !== "0") {
    const revision = parseUint(asked);
    if (typeof revision === "string") throw badRequest(`invalid resource version: resourceVersion: Invalid value: "${asked}": ${revision}`);
    checkReached(context, revision);
  }
  return existing(context, target);
}

export function checkReached(context: ServerContext, revision: bigint): void {
  const current = BigInt(context.store.revision);
  if (revision > current) throw tooLargeResourceVersion(revision, current, context.retryTooLargeSeconds);
}

export function existing(context: ServerContext, { kind, namespace, name }: Target): Stored {
  const stored = context.store.get({ group: kind.group, resource: kind.resource, namespace, name });
  if (stored === undefined) throw notFoundError(kind, name);
  return stored;
}

