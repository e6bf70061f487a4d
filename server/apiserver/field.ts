/** Field errors: the path, the kind of refusal and its words. Source: k8s.io/apimachinery/pkg/util/validation/field. */
import { goAggregate, goJsonInOrder, goQuote } from "@/lib/go-text";

export type FieldErrorType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "InternalError";

export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  /** The text after the path: `Required value: name must be provided`. */
  readonly body: string;
  /** The detail alone. */
  readonly detail: string;
  readonly value?: unknown;
}

/** `child(child("spec", "volumes"), 0, "name")` is `spec.volumes[0].name`. */
export function child(path: string, ...parts: readonly (string | number)[]): string {
  let out = path;
  for (const part of parts) {
    if (typeof part === "number") out += `[${part}]`;
    else out += out === "" ? part : `.${part}`;
  }
  return out;
}

/** The path of a map's key: `spec.resources.requests[storage]`. */
export function keyed(path: string, key: string): string {
  return `${path}[${key}]`;
}

export function required(field: string, detail: string): FieldError {
  return make("FieldValueRequired", field, detail, "Required value");
}

export function forbidden(field: string, detail: string): FieldError {
  return make("FieldValueForbidden", field, detail, "Forbidden");
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { ...make("FieldValueInvalid", field, detail, `Invalid value: ${valueText(value)}`), value };
}

export function notFound(field: string, value: unknown): FieldError {
  return { ...make("FieldValueNotFound", field, "", `Not found: ${valueText(value)}`), value };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { ...make("FieldValueDuplicate", field, "", `Duplicate value: ${valueText(value)}`), value };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { ...make("FieldValueTypeInvalid", field, detail, `Invalid value: ${valueText(value)}`), value };
}

export function internal(field: string, detail: string): FieldError {
  return make("InternalError", field, detail, "Internal error");
}

export function tooLong(field: string, maxLength: number): FieldError {
  return make("FieldValueTooLong", field, maxLength < 0 ? "value is too long" : `may not be more than ${maxLength} bytes`, "Too long");
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const detail = max < 0 ? "has too many items" : `must have at most ${max} items`;
  return make("FieldValueTooMany", field, detail, actual < 0 ? "Too many" : `Too many: ${actual}`);
}

/** `supported` in the order in which the caller's list stands; Go's sets are sorted by their callers. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return { ...make("FieldValueNotSupported", field, detail, `Unsupported value: ${valueText(value)}`), value };
}

function make(type: FieldErrorType, field: string, detail: string, start: string): FieldError {
  return { type, field, detail, body: detail === "" ? start : `${start}: ${detail}` };
}

/** How an error shows the bad value: numbers and booleans plain, texts quoted, everything else as JSON. */
function valueText(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "string") return goQuote(value);
  return goJsonInOrder(value);
}

/** One line of an error: the empty path is shown as `[]` in a whole message. */
export function errorText(error: FieldError): string {
  return `${error.field}: ${error.body}`;
}

/** Joins errors as an aggregate does: equal texts once, several in brackets. */
export function aggregate(errors: readonly FieldError[]): string {
  return goAggregate(errors.map(errorText));
}
