/** A refusal of the API server, or the failure to reach it, as AppError: the server's own words, and what may be done next. */
import { AppError, isAppError, type ErrorCode } from "@/lib/errors";
import type { Status } from "@/lib/kube/meta";

export interface ApiErrorFacts {
  /** 0 where no answer came. */
  readonly httpStatus: number;
  /** The Status' reason (`Conflict`, `Invalid`, `Expired` ...), "" without one. */
  readonly reason: string;
  readonly retryAfterMs?: number;
  /** The body, when it was a Status. */
  readonly status?: Status;
}

export class ApiError extends AppError implements ApiErrorFacts {
  readonly httpStatus: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly status: Status | undefined;

  constructor(code: ErrorCode, message: string, facts: ApiErrorFacts & { detail?: string; cause?: unknown }) {
    super(code, message, facts);
    this.httpStatus = facts.httpStatus;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs;
    this.status = facts.status;
  }
}

export function isApiError(error: unknown): error is ApiError {
  return isAppError(error) && "httpStatus" in error;
}

/** The HTTP status of an error of the API client; 0 for anything else. */
export function httpStatusOf(error: unknown): number {
  return isApiError(error) ? error.httpStatus : 0;
}

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  400: "invalid",
  401: "forbidden",
  403: "forbidden",
  404: "not-found",
  405: "unsupported",
  406: "unsupported",
  409: "conflict",
  410: "transient",
  412: "precondition",
  413: "invalid",
  415: "unsupported",
  422: "invalid",
  429: "transient",
};

interface Refusal {
  readonly httpStatus: number;
  readonly statusText: string;
  readonly mutating: boolean;
  readonly contentType: string;
  readonly body: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
}

/** The error of an answer with a code other than 2xx. Retry-After is read in seconds, as API servers send it. */
export function refusalOf(refusal: Refusal): ApiError {
  const { httpStatus, mutating } = refusal;
  const status = parseStatus(refusal.body);
  const retryAfterMs = secondsToMs(refusal.retryAfter) ?? secondsToMs(status?.details?.retryAfterSeconds);
  const facts = { httpStatus, reason: status?.reason ?? "", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (httpStatus >= 300 && httpStatus < 400) {
    const to = refusal.location === undefined ? "" : ` to ${refusal.location}`;
    return new ApiError("unsupported", `the API server answered ${httpStatus} with a redirect${to}, which is not followed`, facts);
  }
  const code = codeByStatus[httpStatus] ?? serverFault({ httpStatus, mutating, fromApiServer: status !== undefined });
  if (status) return new ApiError(code, status.message || `${httpStatus} ${status.reason ?? ""}`.trim(), { ...facts, status });
  return new ApiError(code, withoutStatus(refusal), { ...facts, detail: refusal.body.slice(0, 500) });
}

/** After a write, an answer that did not come from the API server itself does not say whether the write happened. */
function serverFault(fault: { httpStatus: number; mutating: boolean; fromApiServer: boolean }): ErrorCode {
  if (!fault.mutating) return "transient";
  return fault.httpStatus === 503 && fault.fromApiServer ? "transient" : "uncertain";
}

function withoutStatus(refusal: Refusal): string {
  const answer = `${refusal.httpStatus} ${refusal.statusText}`.trim();
  if (isHtml(refusal.contentType, refusal.body)) return `the API server's address answered ${answer} with a web page, not with the Kubernetes API`;
  const text = refusal.body.trim();
  return text === "" ? `the API server answered ${answer}` : `the API server answered ${answer}: ${text.slice(0, 300)}`;
}

function isHtml(contentType: string, body: string): boolean {
  return contentType.includes("html") || /^\s*<(!doctype|html)/i.test(body.slice(0, 200));
}

/** An answer of 2xx whose body is not the JSON that was asked for. */
export function notJson(answer: { httpStatus: number; contentType: string; body: string; mutating: boolean }, cause?: unknown): ApiError {
  const what = isHtml(answer.contentType, answer.body) ? "a web page" : `${answer.contentType || "an untyped body"} that is not JSON`;
  return new ApiError(
    answer.mutating ? "uncertain" : "transient",
    `the API server's address answered ${answer.httpStatus} with ${what}, not with the Kubernetes API`,
    { httpStatus: answer.httpStatus, reason: "", detail: answer.body.slice(0, 500), cause },
  );
}

function parseStatus(body: string): Status | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** A metav1.Status by its kind, with the two fields that are read as texts of the right type. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "Status") return false;
  const text = (field: unknown) => field === undefined || typeof field === "string";
  return text(Reflect.get(value, "message")) && text(Reflect.get(value, "reason"));
}

function secondsToMs(value: string | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
