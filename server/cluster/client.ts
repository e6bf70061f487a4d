/**
 * The one way to the Kubernetes REST API: raw JSON (nothing a model does not know is lost), explicit patch types, limits on
 * time and size, redirects not followed. Every failure is an ApiError with the server's own words (api-error.ts).
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { codeOf, isAppError, messageOf } from "@/lib/errors";
import type { KubeList } from "@/lib/kube/meta";
import { ApiError, notJson, refusalOf } from "@/server/cluster/api-error";
import type { Connection } from "@/server/cluster/connection";

export const patchTypes = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
} as const;
export type PatchType = keyof typeof patchTypes;

type QueryValue = string | number | boolean | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface CallOptions {
  readonly query?: Query;
  readonly signal?: AbortSignal;
  /** For the whole call, body included. Default 30 s. */
  readonly timeoutMs?: number;
  /** Of the answer's body. Default 128 MiB. */
  readonly maxBytes?: number;
}

export interface WriteOptions extends CallOptions {
  /** The server decides and answers, nothing is stored. */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface Answer<T> {
  readonly httpStatus: number;
  readonly body: T;
  /** Texts of the `Warning` headers. */
  readonly warnings: readonly string[];
}

export interface ApiRequest extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** What a reflector needs: pages of a list, and the bytes of a watch. */
export interface ListWatchClient {
  list<T>(path: string, options?: CallOptions): Promise<KubeList<T>>;
  /** Resolves once the server has accepted. Ends, fails or is aborted like the connection beneath. */
  stream(path: string, options: { readonly query: Query; readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
}

export interface ApiClient extends ListWatchClient {
  request<T>(request: ApiRequest): Promise<Answer<T>>;
  get<T>(path: string, options?: CallOptions): Promise<T>;
  create<T>(path: string, body: unknown, options?: WriteOptions): Promise<T>;
  replace<T>(path: string, body: unknown, options?: WriteOptions): Promise<T>;
  patch<T>(path: string, patch: { readonly type: PatchType; readonly body: unknown }, options?: WriteOptions): Promise<T>;
  delete<T>(path: string, options?: WriteOptions & { readonly body?: unknown }): Promise<T>;
  close(): Promise<void>;
}

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 128 * 1024 * 1024;

export function createApiClient(connection: Connection): ApiClient {
  const request = <T>(call: ApiRequest) => perform<T>(connection, call);
  const body = async <T>(call: ApiRequest) => (await request<T>(call)).body;
  return {
    request,
    get: (path, options) => body({ ...options, method: "GET", path }),
    list: async <T>(path: string, options?: CallOptions) => {
      const list = await body<unknown>({ ...options, method: "GET", path });
      if (!isList<T>(list)) throw new ApiError("transient", `the API server's answer for ${path} is not a list`, { httpStatus: 200, reason: "" });
      return list;
    },
    create: (path, object, options) => body({ ...write(options), method: "POST", path, body: object }),
    replace: (path, object, options) => body({ ...write(options), method: "PUT", path, body: object }),
    patch: (path, patch, options) =>
      body({ ...write(options), method: "PATCH", path, body: patch.body, contentType: patchTypes[patch.type] }),
    delete: (path, options) => body({ ...write(options), method: "DELETE", path, body: options?.body }),
    stream: (path, options) => openStream(connection, { path, ...options }),
    close: () => connection.close(),
  };
}

function write(options: WriteOptions = {}): CallOptions {
  const { dryRun, fieldManager, fieldValidation, query, ...rest } = options;
  return { ...rest, query: { ...query, dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation } };
}

function isList<T>(value: unknown): value is KubeList<T> {
  if (typeof value !== "object" || value === null || !("items" in value) || !("metadata" in value)) return false;
  const hasItems = Array.isArray(value.items) || value.items === null;
  if (value.items === null) Reflect.set(value, "items", []);
  return hasItems && typeof value.metadata === "object" && value.metadata !== null;
}

async function perform<T>(connection: Connection, call: ApiRequest): Promise<Answer<T>> {
  const mutating = call.method !== "GET";
  const limit = withTimeout(call.timeoutMs ?? defaultTimeoutMs, call.signal);
  try {
    const answer = await send(connection, call, limit.signal);
    const text = await readText(answer.body, call.maxBytes ?? defaultMaxBytes);
    if (answer.statusCode < 200 || answer.statusCode > 299) throw refused(answer, text, mutating);
    return { httpStatus: answer.statusCode, body: parseJson<T>(answer, text, mutating), warnings: warningsOf(answer.headers) };
  } catch (error) {
    if (call.signal?.aborted) throw ended(error);
    throw limit.timedOut() ? tookTooLong(call, mutating, error) : unreachable(error, mutating);
  } finally {
    limit.release();
  }
}

async function openStream(
  connection: Connection,
  call: { path: string; query: Query; signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array>> {
  try {
    const answer = await send(connection, { ...call, method: "GET" }, call.signal);
    // Destroyed while nobody reads, the body would raise an error without a listener.
    answer.body.on("error", () => undefined);
    if (answer.statusCode === 200) return answer.body;
    throw refused(answer, await readText(answer.body, 1024 * 1024), false);
  } catch (error) {
    throw call.signal.aborted ? ended(error) : unreachable(error, false);
  }
}

/** The caller's own abort, told like Node's. */
function ended(cause: unknown): Error {
  return Object.assign(new Error("the request was ended", { cause }), { code: "ABORT_ERR" });
}

async function send(connection: Connection, call: ApiRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { origin, basePath, headers, dispatcher } = await connection.authorize();
  const hasBody = call.body !== undefined;
  return dispatcher.request({
    origin,
    path: basePath + call.path + queryText(call.query),
    method: call.method,
    headers: {
      ...headers,
      accept: "application/json",
      "user-agent": "voldeck",
      ...(hasBody ? { "content-type": call.contentType ?? "application/json" } : {}),
    },
    body: hasBody ? JSON.stringify(call.body) : null,
    signal,
  });
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ApiError("unsupported", `the API server's answer is larger than ${maxBytes} bytes`, { httpStatus: 0, reason: "" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson<T>(answer: Dispatcher.ResponseData, text: string, mutating: boolean): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw notJson({ httpStatus: answer.statusCode, contentType: first(answer.headers["content-type"]) ?? "", body: text, mutating }, error);
  }
}

function refused(answer: Dispatcher.ResponseData, body: string, mutating: boolean): ApiError {
  const { headers, statusCode: httpStatus, statusText } = answer;
  return refusalOf({
    httpStatus,
    statusText,
    mutating,
    body,
    contentType: first(headers["content-type"]) ?? "",
    retryAfter: first(headers["retry-after"]),
    location: first(headers["location"]),
  });
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** `299 - "text"`, the text quoted with backslashes. */
function warningsOf(headers: IncomingHttpHeaders): readonly string[] {
  const lines = [headers["warning"] ?? []].flat();
  return lines.flatMap((line) => [...line.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1")));
}

/** Errors before the request was written; after those a write may be sent again. */
const neverSent = new Set([
  "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "ERR_TLS_CERT_ALTNAME_INVALID",
]);

function unreachable(error: unknown, mutating: boolean): unknown {
  if (isAppError(error)) return error;
  const uncertain = mutating && !neverSent.has(codeOf(error) ?? "");
  return new ApiError(uncertain ? "uncertain" : "transient", `can't reach the API server: ${messageOf(error) || codeOf(error)}`, {
    httpStatus: 0,
    reason: "",
    cause: error,
  });
}

function tookTooLong(call: ApiRequest, mutating: boolean, cause: unknown): ApiError {
  const seconds = (call.timeoutMs ?? defaultTimeoutMs) / 1000;
  return new ApiError(mutating ? "uncertain" : "transient", `the API server did not answer within ${seconds} s`, { httpStatus: 0, reason: "", cause });
}

/** One controller per call, its listener taken off again: long-lived signals keep whatever is combined with them. */
function withTimeout(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort();
  }, timeoutMs);
  const follow = () => controller.abort();
  if (outer?.aborted) controller.abort();
  outer?.addEventListener("abort", follow);
  return {
    signal: controller.signal,
    timedOut: () => expired && !outer?.aborted,
    release: () => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", follow);
    },
  };
}
