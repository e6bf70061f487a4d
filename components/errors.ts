/** What went wrong, read from whatever a query threw. */
import { errorCodes, type ErrorCode } from "@/lib/errors";

/** The code that the server gave, or undefined when no answer of ours came. */
export function errorCodeOf(error: unknown): ErrorCode | undefined {
  const code = appDataOf(error)?.code;
  return errorCodes.find((known) => known === code);
}

/** Problems of the input by field path. */
export function fieldProblems(error: unknown): ReadonlyMap<string, string> {
  const fields = appDataOf(error)?.fields ?? [];
  return new Map(fields.map((field) => [field.path, field.message]));
}

interface AppData {
  readonly code?: unknown;
  readonly fields?: readonly { readonly path: string; readonly message: string }[];
}

function appDataOf(error: unknown): AppData | undefined {
  const data = isClientError(error) ? error.data : undefined;
  return typeof data === "object" && data !== null && "app" in data ? (data.app as AppData) : undefined;
}

/** The parts of TRPCClientError that we read; told by name, never by class. */
function isClientError(error: unknown): error is Error & { data?: unknown; meta?: Record<string, unknown> } {
  return error instanceof Error && error.name === "TRPCClientError";
}

/** The HTTP status of the answer, where there was one. */
function statusOf(error: unknown): number | undefined {
  if (!isClientError(error)) return undefined;
  const response = error.meta?.["response"];
  return typeof response === "object" && response !== null && "status" in response && typeof response.status === "number"
    ? response.status
    : undefined;
}

export function isTokenRefused(error: unknown): boolean {
  return statusOf(error) === 401;
}

/** Worth asking again by itself: no answer at all, or one that says "later". */
export function mayRetry(error: unknown): boolean {
  const code = errorCodeOf(error);
  if (code === undefined) return statusOf(error) === undefined;
  return code === "transient" || code === "uncertain";
}
