/**
 * Errors of the volume framework. A Go error becomes a thrown VolumeError with the same text; what Go tells by type or
 * sentinel (pkg/volume/util/types/types.go, ErrNoPluginMatched) is told by `code`.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goAggregate } from "@/lib/go-text";

export type VolumeErrorCode =
  | "volume-error"
  | "no-plugin-matched"
  | "transient"
  | "uncertain"
  | "failed-precondition"
  | "infeasible"
  | "operation-not-supported"
  | "nil-dereference"
  | "refused"
  | "metrics-not-supported"
  | "metrics-no-path"
  | "metrics-fs-info-failed"
  | "command-not-supported"
  | "timeout";

export class VolumeError extends Error {
  readonly code: VolumeErrorCode;

  constructor(message: string, code: VolumeErrorCode = "volume-error", cause?: unknown) {
    super(message, { cause });
    this.name = "VolumeError";
    this.code = code;
  }
}

/** volume.ErrNoPluginMatched of the seed. */
export function noPluginMatched(): VolumeError {
  return new VolumeError("no volume plugin matched", "no-plugin-matched");
}

export function isNoPluginMatched(error: unknown): boolean {
  return codeOf(error) === "no-plugin-matched";
}

/** Where Go dereferences nil and crashes, ours says what was missing. */
export function nilDereference(what: string): VolumeError {
  return new VolumeError(`${what} is nil`, "nil-dereference");
}

/** Go's `fmt.Errorf("...%w", err)`: a new text that keeps the kind of the wrapped error. */
export function wrap(text: string, cause: unknown): VolumeError {
  const code = codeOf(cause);
  return new VolumeError(text, isVolumeErrorCode(code) ? code : "volume-error", cause);
}

/**
 * utilerrors.NewAggregate: one text for several errors, each text once, `[a, b]` when more than one.
 * Source: apimachinery/pkg/util/errors/errors.go (aggregate.Error).
 */
export function aggregate(errors: readonly unknown[]): AggregatedError | undefined {
  return errors.length === 0 ? undefined : new AggregatedError(errors);
}

export class AggregatedError extends Error {
  readonly code = "aggregate";
  readonly errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super(goAggregate(errors.map(messageOf)));
    this.name = "AggregatedError";
    this.errors = errors;
  }
}

const volumeErrorCodes: Readonly<Record<VolumeErrorCode, true>> = {
  "volume-error": true,
  "no-plugin-matched": true,
  transient: true,
  uncertain: true,
  "failed-precondition": true,
  infeasible: true,
  "operation-not-supported": true,
  "nil-dereference": true,
  refused: true,
  "metrics-not-supported": true,
  "metrics-no-path": true,
  "metrics-fs-info-failed": true,
  "command-not-supported": true,
  timeout: true,
};

function isVolumeErrorCode(code: string | undefined): code is VolumeErrorCode {
  return code !== undefined && Object.hasOwn(volumeErrorCodes, code);
}
