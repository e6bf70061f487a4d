/**
 * The options of requests: read from the query, checked as the real server checks them.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1 (conversion of url.Values), .../v1/validation, .../internalversion/validation.
 */
import { goQuote } from "@/lib/go-text";
import { utf8Length } from "@/lib/names";
import { forbidden, invalid, notSupported, required, tooLong, type FieldError } from "./field";
import { badRequest, invalidError } from "./status";

export interface ListOptions {
  labelSelector: string;
  fieldSelector: string;
  watch: boolean;
  allowWatchBookmarks: boolean;
  resourceVersion: string;
  resourceVersionMatch: string;
  timeoutSeconds: bigint | undefined;
  limit: bigint;
  continue: string;
  sendInitialEvents: boolean | undefined;
}

export interface WriteOptions {
  dryRun: string[];
  fieldManager: string;
  fieldValidation: string;
  force: boolean | undefined;
}

export interface DeleteOptions {
  gracePeriodSeconds: number | undefined;
  preconditions: { uid: string | undefined; resourceVersion: string | undefined } | undefined;
  orphanDependents: boolean | undefined;
  propagationPolicy: string | undefined;
  dryRun: string[];
}

const group = "meta.k8s.io";

/** Reads and checks. Throws ApiError 400 or 422; the selectors are left as texts. */
export function readListOptions(query: URLSearchParams): ListOptions {
  const options: ListOptions = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    watch: readFlag(query, "watch") ?? false,
    allowWatchBookmarks: readFlag(query, "allowWatchBookmarks") ?? false,
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds: readInteger(query, "timeoutSeconds"),
    limit: readInteger(query, "limit") ?? 0n,
    continue: query.get("continue") ?? "",
    sendInitialEvents: readFlag(query, "sendInitialEvents"),
  };
  return options;
}

/** An old-style watch from the beginning is one that sends initial events (SetListOptionsDefaults). */
export function defaultListOptions(options: ListOptions): void {
  const fromStart = options.resourceVersion === "" || options.resourceVersion === "0";
  if (options.watch && fromStart && options.sendInitialEvents === undefined && options.resourceVersionMatch === "") {
    options.sendInitialEvents = true;
    options.resourceVersionMatch = "NotOlderThan";
  }
}

export function checkListOptions(options: ListOptions): void {
  const errors = options.watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalidError({ group, kind: "ListOptions" }, "", errors);
}

const matchField = "resourceVersionMatch";

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch;
  if (match !== "") {
    if (options.resourceVersion === "") errors.push(forbidden(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (options.continue !== "") errors.push(forbidden(matchField, "resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") errors.push(notSupported(matchField, match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && options.resourceVersion === "0") {
      errors.push(forbidden(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch;
  if (options.sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(forbidden(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match === "") return errors;
  if (options.sendInitialEvents === undefined) {
    errors.push(forbidden(matchField, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (match !== "NotOlderThan") errors.push(notSupported(matchField, match, ["NotOlderThan"]));
  if (options.continue !== "") errors.push(forbidden(matchField, "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}

export type WriteVerb = "CreateOptions" | "UpdateOptions" | "PatchOptions";

export function readWriteOptions(query: URLSearchParams, verb: WriteVerb, patchType = ""): WriteOptions {
  const options: WriteOptions = {
    dryRun: query.getAll("dryRun"),
    fieldManager: query.get("fieldManager") ?? "",
    fieldValidation: query.get("fieldValidation") ?? "",
    force: verb === "PatchOptions" ? readFlag(query, "force") : undefined,
  };
  checkWriteOptions(options, verb, patchType);
  return options;
}

/** Throws ApiError 422. */
export function checkWriteOptions(options: WriteOptions, verb: WriteVerb, patchType = ""): void {
  const errors: FieldError[] = [];
  if (verb === "PatchOptions") {
    const apply = patchType === "application/apply-patch+yaml" || patchType === "application/apply-patch+cbor";
    if (apply && options.fieldManager === "") errors.push(required("fieldManager", "is required for apply patch"));
    if (!apply && options.force !== undefined) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  }
  errors.push(...fieldManagerErrors(options.fieldManager), ...dryRunErrors(options.dryRun));
  if (!["", "Ignore", "Strict", "Warn"].includes(options.fieldValidation)) {
    errors.push(notSupported("fieldValidation", options.fieldValidation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (errors.length > 0) throw invalidError({ group, kind: verb }, "", errors);
}

function fieldManagerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (utf8Length(manager) > 128) errors.push(tooLong("fieldManager", 128));
  let position = 0;
  for (const char of manager) {
    if (goQuote(char).length > 2 + char.length && char !== '"' && char !== "\\") {
      errors.push(invalid("fieldManager", manager, `invalid character ${codePoint(char)} (at position ${position})`));
    }
    position += utf8Length(char);
  }
  return errors;
}

/** `%#U` of a character that cannot be printed. */
function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((value) => value === "All") ? [] : [notSupported("dryRun", dryRun, ["All"])];
}

export function isDryRun(options: { readonly dryRun: readonly string[] }): boolean {
  return options.dryRun.length > 0;
}

/** Options of a DELETE without a body. */
export function readDeleteOptions(query: URLSearchParams): DeleteOptions {
  const grace = readInteger(query, "gracePeriodSeconds");
  return {
    gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
    preconditions: undefined,
    orphanDependents: readFlag(query, "orphanDependents"),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    dryRun: query.getAll("dryRun"),
  };
}

const policies = ["Foreground", "Background", "Orphan"];

export function checkDeleteOptions(options: DeleteOptions): void {
  const errors: FieldError[] = [];
  const policy = options.propagationPolicy;
  if (options.orphanDependents !== undefined && policy !== undefined) {
    errors.push(invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (policy !== undefined && !policies.includes(policy)) errors.push(notSupported("propagationPolicy", policy, [...policies, "nil"]));
  errors.push(...dryRunErrors(options.dryRun));
  if (errors.length > 0) throw invalidError({ group, kind: "DeleteOptions" }, "", errors);
}

/** Present and neither "false" nor "0" is true. */
function readFlag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : !(text.toLowerCase() === "false" || text === "0");
}

const int64Limit = 2n ** 63n;

function readInteger(query: URLSearchParams, name: string): bigint | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]+$/u.test(text)) throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/u, ""));
  if (value >= int64Limit || value < -int64Limit) throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`);
  return value;
}
