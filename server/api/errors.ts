/** The one table from what went wrong to what the transport says. */
import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import type { ErrorCode } from "@/lib/errors";

export const transportCodes: Readonly<Record<ErrorCode, TRPC_ERROR_CODE_KEY>> = {
  "not-found": "NOT_FOUND",
  forbidden: "FORBIDDEN",
  invalid: "BAD_REQUEST",
  conflict: "CONFLICT",
  unsupported: "UNPROCESSABLE_CONTENT",
  precondition: "PRECONDITION_FAILED",
  infeasible: "UNPROCESSABLE_CONTENT",
  transient: "SERVICE_UNAVAILABLE",
  uncertain: "GATEWAY_TIMEOUT",
  internal: "INTERNAL_SERVER_ERROR",
};
