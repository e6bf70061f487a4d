/** A server without network or disk, for tests. */
import type { ApiResponse, ServerContext } from "./context";
import { handleRequest } from "./handle";
import { splitRequestTarget } from "./request";
import { KindTable } from "./kinds";
import { ensureNamespaces } from "./namespaces";
import { Store } from "./store";

export function testContext(windowSize?: number): ServerContext & { now: number } {
  let uid = 0;
  const context = {
    now: Date.parse("2026-06-01T00:00:00Z"),
    store: new Store({ file: ":memory:", ...(windowSize === undefined ? {} : { windowSize }) }),
    kinds: new KindTable(),
    clock: {
      nowMs: (): number => context.now,
      sleep: (_ms: number, signal?: AbortSignal) => new Promise<void>((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true })),
    },
    newUid: () => `uid-${(uid += 1)}`,
    newSuffix: () => "xxxxx",
    findNode: () => undefined,
    gates: new Map<string, boolean>(),
    readOnly: false,
    allowPrivileged: true,
    checkNamespaces: true,
    defaultServiceAccount: true,
    retryTooLargeSeconds: 1,
  };
  ensureNamespaces(context);
  return context;
}

/** A body of PATCH is a merge patch. */
export function ask(context: ServerContext, method: string, target: string, body?: unknown): ApiResponse {
  const asked = splitRequestTarget(target) ?? { path: "", query: new URLSearchParams() };
  return handleRequest(context, {
    method,
    ...asked,
    headers: new Map([["content-type", method === "PATCH" ? "application/merge-patch+json" : "application/json"]]),
    body: Buffer.from(body === undefined ? "" : JSON.stringify(body)),
  });
}
