/**
 * tRPC's set-up: context, error mapping and the base procedure. Routers hold no `try`: what an operation throws is mapped
 * here, also for server-side callers, which never pass the formatter.
 */
import { getTRPCErrorFromUnknown, initTRPC, TRPCError } from "@trpc/server";
import { codeOf, isAppError, messageOf, type ErrorCode } from "@/lib/errors";
import type { ApiContext } from "@/server/api/context";
import { transportCodes } from "@/server/api/errors";

const t = initTRPC.context<ApiContext>().create({
  errorFormatter({ shape, error }) {
    const { stack: _stack, ...data } = shape.data;
    const app = appDataOf(error);
    return { ...shape, message: app.fields ? sentenceOf(app.fields) : error.message, data: { ...data, app } };
  },
});

/** What the browser knows of an error beside its message. */
export interface AppErrorData {
  readonly code: ErrorCode;
  /** Input problems by field path, when the input was refused. */
  readonly fields?: readonly { readonly path: string; readonly message: string }[];
}

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

const mapErrors = t.middleware(async ({ next, ctx, path }) => {
  const result = await next();
  const mapped = (error: TRPCError) => toTransport(error, (inner) => ctx.logInternal(inner, path));
  if (!result.ok) throw mapped(result.error);
  return isStream(result.data) ? { ...result, data: mappedStream(result.data, mapped) } : result;
});

function isStream(data: unknown): data is AsyncIterable<unknown> {
  return typeof data === "object" && data !== null && Symbol.asyncIterator in data;
}

/** What a stream throws after it began passes no middleware any more. */
async function* mappedStream(stream: AsyncIterable<unknown>, mapped: (error: TRPCError) => TRPCError): AsyncGenerator<unknown> {
  try {
    yield* stream;
  } catch (error) {
    throw mapped(getTRPCErrorFromUnknown(error));
  }
}

export const procedure = t.procedure.use(mapErrors);

function toTransport(error: TRPCError, logInternal: (error: unknown) => string): TRPCError {
  const cause = error.cause;
  if (isAppError(cause)) {
    if (cause.code !== "internal") {
      return new TRPCError({ code: transportCodes[cause.code], message: cause.message, cause });
    }
    return internal(logInternal(cause));
  }
  if (error.code !== "INTERNAL_SERVER_ERROR") return error;
  return internal(logInternal(cause ?? error));
}

function internal(reference: string): TRPCError {
  return new TRPCError({
    code: "INTERNAL_SERVER_ERROR",
    message: `Something failed inside Voldeck; its log has the details under reference ${reference}`,
  });
}

function appDataOf(error: TRPCError): AppErrorData {
  const fields = fieldsOf(error.cause);
  if (fields) return { code: "invalid", fields };
  if (isAppError(error.cause)) return { code: error.cause.code };
  return { code: codeByTransport[error.code] ?? "internal" };
}

/** A parser's own message is a list of issues in JSON: no text for a person. */
function sentenceOf(fields: NonNullable<AppErrorData["fields"]>): string {
  return fields.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
}

const codeByTransport: Partial<Record<TRPCError["code"], ErrorCode>> = {
  BAD_REQUEST: "invalid",
  PARSE_ERROR: "invalid",
  NOT_FOUND: "not-found",
  UNAUTHORIZED: "forbidden",
  FORBIDDEN: "forbidden",
  SERVICE_UNAVAILABLE: "transient",
};

/** The issues of a zod error, read by shape: another copy of zod may have made it. */
function fieldsOf(cause: unknown): AppErrorData["fields"] {
  if (typeof cause !== "object" || cause === null || codeOf(cause) !== undefined) return undefined;
  if (!("issues" in cause) || !Array.isArray(cause.issues)) return undefined;
  return cause.issues.map((issue: { path?: PropertyKey[]; message?: string }) => ({
    path: (issue.path ?? []).map(String).join("."),
    message: issue.message ?? messageOf(issue),
  }));
}
