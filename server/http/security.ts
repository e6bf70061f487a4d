/**
 * Who may talk to this process. One pure decision per request, made in a fixed order before anything is looked up:
 * Host (421), Origin (403), token (401), method (405), content type (415), size (413), number of batched calls (400).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export const maxBodyBytes = 1_000_000;
export const maxBatchedCalls = 20;

export interface SecurityPolicy {
  /** Values of Host that are ours, lower case, with port. */
  readonly hosts: ReadonlySet<string>;
  readonly token: string;
}

export interface RequestFacts {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Refusal {
  readonly status: 400 | 401 | 403 | 405 | 413 | 415 | 421;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const tooLarge: Refusal = { status: 413, message: `A request may hold at most ${maxBodyBytes} bytes` };

export const apiPrefix = "/trpc";

export function isApiPath(path: string): boolean {
  return path === apiPrefix || path.startsWith(`${apiPrefix}/`);
}

/** undefined when the request may go on, to the reading of its body and to `refuseBatch`. */
export function refuseRequest(policy: SecurityPolicy, request: RequestFacts): Refusal | undefined {
  return (
    refuseHost(policy, request.headers) ??
    refuseOrigin(policy, request.headers) ??
    (isApiPath(request.path) ? refuseApi(policy, request) : refusePage(request))
  );
}

/** The checks of a socket's upgrade; its token comes later, with the connection parameters. */
export function refuseUpgrade(policy: SecurityPolicy, request: RequestFacts): Refusal | undefined {
  return refuseHost(policy, request.headers) ?? refuseOrigin(policy, request.headers);
}

function refuseHost(policy: SecurityPolicy, headers: IncomingHttpHeaders): Refusal | undefined {
  const host = headers.host?.toLowerCase();
  if (host !== undefined && policy.hosts.has(host)) return undefined;
  return { status: 421, message: "This address does not serve that host" };
}

function refuseOrigin(policy: SecurityPolicy, headers: IncomingHttpHeaders): Refusal | undefined {
  const { origin } = headers;
  if (origin === undefined) return undefined;
  if ([...policy.hosts].some((host) => origin === `http://${host}`)) return undefined;
  return { status: 403, message: "Requests from that origin are refused" };
}

function refusePage(request: RequestFacts): Refusal | undefined {
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  return methodRefusal("GET, HEAD");
}

function refuseApi(policy: SecurityPolicy, request: RequestFacts): Refusal | undefined {
  if (!hasToken(policy.token, request.headers.authorization)) {
    return {
      status: 401,
      message: "A token is needed: open the URL that Voldeck printed at its start",
      headers: { "www-authenticate": 'Bearer realm="voldeck"' },
    };
  }
  if (request.method !== "GET" && request.method !== "POST") return methodRefusal("GET, POST");
  if (request.method === "POST") {
    const refusal = refuseBody(request.headers);
    if (refusal) return refusal;
  }
  return undefined;
}

function refuseBody(headers: IncomingHttpHeaders): Refusal | undefined {
  const mediaType = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (mediaType !== "application/json") return { status: 415, message: "Only application/json is accepted" };
  const lengthBytes = Number(headers["content-length"] ?? 0);
  if (lengthBytes > maxBodyBytes) return tooLarge;
  return undefined;
}

/** Asked after the body was read: one that is too large is told first, whether its length was announced or not. */
export function refuseBatch(path: string): Refusal | undefined {
  const calls = decodedCalls(path);
  if (calls <= maxBatchedCalls) return undefined;
  return { status: 400, message: `A batch may hold at most ${maxBatchedCalls} calls, this one holds ${calls}` };
}

/** A comma may come percent-encoded; one that does not decode is left to the router, which knows no such procedure. */
function decodedCalls(path: string): number {
  return path.replace(/%2c/gi, ",").split(",").length;
}

function methodRefusal(allow: string): Refusal {
  return { status: 405, message: `Only ${allow} is accepted here`, headers: { allow } };
}

export function hasToken(token: string, authorization: string | undefined): boolean {
  const match = /^Bearer ([A-Za-z0-9_-]+)$/i.exec(authorization ?? "");
  return match?.[1] !== undefined && sameSecret(match[1], token);
}

/** Compares in constant time whatever the lengths. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Headers of every answer. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** The content security policy of one page; `nonce` is fresh per request. Development needs eval for its reloading. */
export function contentSecurityPolicy(nonce: string, development: boolean): string {
  const scripts = `'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ""}`;
  // A nonce makes 'unsafe-inline' void, and development's tools bring styles without one.
  const styles = development ? "'unsafe-inline'" : `'nonce-${nonce}'`;
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src 'self' ${styles}`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
