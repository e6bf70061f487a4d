/**
 * Errors of Voldeck, told apart by `code` and never by class: several module graphs live in one process.
 * Two texts: `message` is for the person, `detail` for the log. The cause is never dropped.
 */

export const errorCodes = [
  "not-found",
  "forbidden",
  "invalid",
  "conflict",
  "unsupported",
  "precondition",
  "infeasible",
  "transient",
  "uncertain",
  "internal",
] as const;

/** What the caller may do next; server/api maps each code to a transport code in one table. */
export type ErrorCode = (typeof errorCodes)[number];

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;

  constructor(code: ErrorCode, message: string, options: { detail?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.detail = options.detail;
  }
}

/** The `code` of anything thrown, or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** True for an error whose class, in whichever module graph, gave it this name. */
export function isErrorNamed(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name === name;
}

export function isAppError(error: unknown): error is AppError {
  return isErrorNamed(error, "AppError") && isErrorCode(codeOf(error));
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return errorCodes.some((known) => known === code);
}

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const deepestCause = 10;

/** The text of anything thrown, and in brackets those of its causes that it does not repeat: for a person who must find out why. */
export function messageWithCauses(error: unknown): string {
  let text = messageOf(error);
  let cause: unknown = error;
  for (let depth = 0; depth < deepestCause && cause instanceof Error && cause.cause !== undefined; depth += 1) {
    cause = cause.cause;
    const said = messageOf(cause);
    if (said !== "" && !text.includes(said)) text = `${text} (${said})`;
  }
  return text;
}
