/**
 * The bodies of refusals, exactly as a real API server words them.
 * Source: k8s.io/apimachinery/pkg/api/errors and k8s.io/apiserver/pkg/registry/generic (v0.37.2).
 */
import type { Status } from "@/lib/kube/meta";
import { goQuote } from "@/lib/go-text";
import { aggregate, type FieldError } from "./field";

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A refusal on its way to the client. `warnings` go out as headers with it. */
export class ApiError extends Error {
  readonly code = "api-status";

  constructor(
    readonly status: Status,
    /** Where the real server answers with plain text instead of a Status. */
    readonly plainText?: string,
  ) {
    super(status.message ?? "");
    this.name = "ApiError";
  }
}

export function isApiError(error: unknown): error is ApiError {
  return typeof error === "object" && error !== null && "code" in error && error.code === "api-status" && "status" in error;
}

type Details = NonNullable<Status["details"]>;

export function statusError(code: number, reason: string, message: string, details?: Details): ApiError {
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" };
  if (message !== "") status.message = message;
  if (reason !== "") status.reason = reason;
  if (details !== undefined) status.details = withoutEmpty(details);
  status.code = code;
  return new ApiError(status);
}

function withoutEmpty(details: Details): Details {
  const out: Details = {};
  if (details.name) out.name = details.name;
  if (details.group) out.group = details.group;
  if (details.kind) out.kind = details.kind;
  if (details.uid) out.uid = details.uid;
  if (details.causes !== undefined && details.causes.length > 0) out.causes = details.causes.map(cause);
  if (details.retryAfterSeconds) out.retryAfterSeconds = details.retryAfterSeconds;
  return out;
}

function cause(from: NonNullable<Details["causes"]>[number]): NonNullable<Details["causes"]>[number] {
  return {
    ...(from.reason ? { reason: from.reason } : {}),
    ...(from.message ? { message: from.message } : {}),
    ...(from.field ? { field: from.field } : {}),
  };
}

/** `persistentvolumes`, `storageclasses.storage.k8s.io`. */
export function resourceText({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function details(of: GroupResource, name: string): Details {
  return { group: of.group, kind: of.resource, name };
}

export function notFoundError(of: GroupResource, name: string): ApiError {
  return statusError(404, "NotFound", `${resourceText(of)} ${goQuote(name)} not found`, details(of, name));
}

export function alreadyExists(of: GroupResource, name: string): ApiError {
  return statusError(409, "AlreadyExists", `${resourceText(of)} ${goQuote(name)} already exists`, details(of, name));
}

export function generateNameConflict(of: GroupResource, name: string, retryAfterSeconds: number): ApiError {
  const message = `${resourceText(of)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`;
  return statusError(409, "AlreadyExists", message, { ...details(of, name), retryAfterSeconds });
}

export function unauthorized(reason: string): ApiError {
  return statusError(401, "Unauthorized", reason === "" ? "not authorized" : reason);
}

export function forbiddenError(of: GroupResource, name: string, why: string): ApiError {
  const what = resourceText(of);
  const message =
    of.group === "" && of.resource === "" ? `forbidden: ${why}` : name === "" ? `${what} is forbidden: ${why}` : `${what} ${goQuote(name)} is forbidden: ${why}`;
  return statusError(403, "Forbidden", message, details(of, name));
}

export function conflict(of: GroupResource, name: string, why: string): ApiError {
  return statusError(409, "Conflict", `Operation cannot be fulfilled on ${resourceText(of)} ${goQuote(name)}: ${why}`, details(of, name));
}

export function applyConflict(causes: Details["causes"], message: string): ApiError {
  return statusError(409, "Conflict", message, { causes: causes ?? [] });
}

export function gone(message: string): ApiError {
  return statusError(410, "Gone", message);
}

export function expired(message: string): ApiError {
  return statusError(410, "Expired", message);
}

export const optimisticLockText = "the object has been modified; please apply your changes to the latest version and try again";

/** `kind` is `Pod` or, with its group, `StorageClass.storage.k8s.io`. */
export function invalidError(of: { group: string; kind: string }, name: string, errors: readonly FieldError[]): ApiError {
  const kind = of.group === "" ? of.kind : `${of.kind}.${of.group}`;
  const what = `${kind} ${goQuote(name)} is invalid`;
  const causes = errors.map((error) => ({ reason: error.type, message: error.body, field: error.field }));
  const message = errors.length === 0 ? what : `${what}: ${aggregate(errors)}`;
  return statusError(422, "Invalid", message, { group: of.group, kind: of.kind, name, causes });
}

export function badRequest(reason: string): ApiError {
  return statusError(400, "BadRequest", reason);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return statusError(429, "TooManyRequests", message, { retryAfterSeconds });
}

export function tooManyRequestsError(message: string): ApiError {
  return statusError(429, "TooManyRequests", `Too many requests: ${message}`);
}

export function serviceUnavailable(reason: string): ApiError {
  return statusError(503, "ServiceUnavailable", reason);
}

export function methodNotSupported(of: GroupResource, action: string): ApiError {
  const message = `${action} is not supported on resources of kind ${goQuote(resourceText(of))}`;
  return statusError(405, "MethodNotAllowed", message, { group: of.group, kind: of.resource });
}

export function serverTimeout(of: GroupResource, operation: string, retryAfterSeconds: number): ApiError {
  const message = `The ${operation} operation against ${resourceText(of)} could not be completed at this time, please try again.`;
  return statusError(500, "ServerTimeout", message, { ...details(of, operation), retryAfterSeconds });
}

export function internalError(why: string): ApiError {
  return statusError(500, "InternalError", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}

/** An error that carries no status of its own: the bare text, 500, no reason. */
export function unknownError(message: string): ApiError {
  return statusError(500, "", message);
}

export function timeoutError(message: string, retryAfterSeconds: number): ApiError {
  return statusError(504, "Timeout", `Timeout: ${message}`, { retryAfterSeconds });
}

export function tooLargeResourceVersion(minimum: number | bigint, current: number | bigint, retryAfterSeconds: number): ApiError {
  return statusError(504, "Timeout", `Timeout: Too large resource version: ${minimum}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds,
  });
}

export function entityTooLarge(message: string): ApiError {
  return statusError(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);
}

export function notAcceptable(accepted: readonly string[]): ApiError {
  return statusError(406, "NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`);
}

export function notAcceptableConversion(target: string, accepted: readonly string[]): ApiError {
  return statusError(406, "NotAcceptable", `only the following media types are accepted when converting to ${target}: ${accepted.join(", ")}`);
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return statusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

interface GenericResponse {
  readonly code: number;
  readonly verb: string;
  readonly of: GroupResource;
  readonly name: string;
  readonly serverMessage: string;
  /** What the server said was no Status: it is kept as a cause. */
  readonly unexpected?: boolean;
}

/** NewGenericServerResponse: what a client or a handler says for a bare HTTP code. */
export function genericResponse({ code, verb, of, name, serverMessage, unexpected = false }: GenericResponse): ApiError {
  const [reason, start] = genericReason(code, verb, serverMessage);
  const what = resourceText(of);
  const tail = of.group === "" && of.resource === "" ? "" : ` (${[verb.toLowerCase(), what, ...(name === "" ? [] : [name])].join(" ")})`;
  const causes = unexpected ? [{ reason: "UnexpectedServerResponse", message: serverMessage }] : [];
  return statusError(code, reason, start + tail, { ...details(of, name), causes });
}

const genericTexts = new Map<number, readonly [string, string]>([
  [404, ["NotFound", "the server could not find the requested resource"]],
  [400, ["BadRequest", "the server rejected our request for an unknown reason"]],
  [401, ["Unauthorized", "the server has asked for the client to provide credentials"]],
  [405, ["MethodNotAllowed", "the server does not allow this method on the requested resource"]],
  [422, ["Invalid", "the server rejected our request due to an error in our request"]],
  [503, ["ServiceUnavailable", "the server is currently unable to handle the request"]],
  [504, ["Timeout", "the server was unable to return a response in the time allotted, but may still be processing the request"]],
  [429, ["TooManyRequests", "the server has received too many requests and has asked us to try again later"]],
]);

function genericReason(code: number, verb: string, serverMessage: string): readonly [string, string] {
  const fixed = genericTexts.get(code);
  if (fixed !== undefined) return fixed;
  if (code === 409) return [verb === "POST" ? "AlreadyExists" : "Conflict", "the server reported a conflict"];
  if (code === 403) return ["Forbidden", serverMessage];
  if (code === 415) return ["UnsupportedMediaType", serverMessage];
  if (code === 406) {
    const vague = serverMessage === "" || serverMessage === "unknown";
    return ["NotAcceptable", vague ? "the server was unable to respond with a content type that the client supports" : serverMessage];
  }
  if (code >= 500) return ["InternalError", `an error on the server (${goQuote(serverMessage)}) has prevented the request from succeeding`];
  return ["", `the server responded with the status code ${code} but did not return more information`];
}
