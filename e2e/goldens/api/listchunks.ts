/** Goldens `listchunks`: continue tokens, options of requests, and the Status of every refusal. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { reasons } from "@/e2e/goldens/unsupported";
import { messageOf } from "@/lib/errors";
import { decodeContinue, encodeContinue, planList, prepareContinue } from "@/server/apiserver/continue-token";
import * as fields from "@/server/apiserver/field";
import { checkDeleteOptions, checkListOptions, checkWriteOptions, defaultListOptions, readListOptions } from "@/server/apiserver/options";
import { parseResourceVersion } from "@/server/apiserver/resource-version";
import { parseSelectors } from "@/server/apiserver/selection";
import * as status from "@/server/apiserver/status";

type Input = GoldenLine["in"];

const text = (input: Input, key: string): string => (typeof input[key] === "string" ? input[key] : "");
const count = (input: Input, key: string): number => Number(input[key] ?? 0);
const resource = (input: Input): status.GroupResource => ({ group: text(input, "group"), resource: text(input, "resource") });
const accepted = (input: Input): string[] => (Array.isArray(input["accepted"]) ? input["accepted"].map(String) : []);

const refusals: Readonly<Record<string, (input: Input) => status.ApiError>> = {
  alreadyExists: (input) => status.alreadyExists(resource(input), text(input, "name")),
  generateNameConflict: (input) => status.generateNameConflict(resource(input), text(input, "name"), 1),
  forbidden: (input) => status.forbiddenError(resource(input), text(input, "name"), text(input, "message")),
  conflict: (input) => status.conflict(resource(input), text(input, "name"), text(input, "message")),
  notFound: (input) => status.notFoundError(resource(input), text(input, "name")),
  generic: (input) =>
    status.genericResponse({
      code: count(input, "code"),
      verb: text(input, "action"),
      of: resource(input),
      name: text(input, "name"),
      serverMessage: text(input, "message"),
      unexpected: input["unexpected"] === true,
    }),
  methodNotSupported: (input) => status.methodNotSupported(resource(input), text(input, "action")),
  serverTimeout: (input) => status.serverTimeout(resource(input), text(input, "action"), count(input, "retryAfter")),
  expired: (input) => status.expired(text(input, "message")),
  gone: (input) => status.gone(text(input, "message")),
  badRequest: (input) => status.badRequest(text(input, "message")),
  serviceUnavailable: (input) => status.serviceUnavailable(text(input, "message")),
  internal: (input) => status.internalError(text(input, "message")),
  entityTooLarge: (input) => status.entityTooLarge(text(input, "message")),
  applyConflict: (input) =>
    status.applyConflict([{ reason: "FieldManagerConflict", message: text(input, "message"), field: ".spec.x" }], text(input, "message")),
  timeout: (input) => status.timeoutError(text(input, "message"), count(input, "retryAfter")),
  tooManyRequests: (input) => status.tooManyRequests(text(input, "message"), count(input, "retryAfter")),
  tooManyRequestsError: (input) => status.tooManyRequestsError(text(input, "message")),
  unknownError: (input) => status.unknownError(text(input, "message")),
  unauthorized: (input) => status.unauthorized(text(input, "message")),
  tooLargeResourceVersion: (input) => status.tooLargeResourceVersion(count(input, "minimum"), count(input, "current"), count(input, "retryAfter")),
  notAcceptable: (input) => status.notAcceptable(accepted(input)),
  notAcceptableConversion: (input) => status.notAcceptableConversion(text(input, "target"), accepted(input)),
  unsupportedMediaType: (input) => status.unsupportedMediaType(accepted(input)),
  invalid: (input) => status.invalidError({ group: text(input, "group"), kind: text(input, "kind") }, text(input, "name"), fieldErrors(input)),
};

function fieldErrors(input: Input): fields.FieldError[] {
  const errors: Record<string, unknown>[] = Array.isArray(input["errors"]) ? input["errors"] : [];
  return errors.map((error) => fieldError(String(error["type"]), String(error["field"]), { value: error["value"], detail: String(error["detail"]) }));
}

function fieldError(type: string, field: string, { value, detail }: { value: unknown; detail: string }): fields.FieldError {
  const make: Readonly<Record<string, () => fields.FieldError>> = {
    required: () => fields.required(field, detail),
    invalid: () => fields.invalid(field, value, detail),
    notSupported: () => fields.notSupported(field, value, ["a", "b"]),
    forbidden: () => fields.forbidden(field, detail),
    duplicate: () => fields.duplicate(field, value),
    notFound: () => fields.notFound(field, value),
    tooLong: () => fields.tooLong(field, 5),
    tooMany: () => fields.tooMany(field, 7, 5),
    internal: () => fields.internal(field, detail),
    typeInvalid: () => fields.typeInvalid(field, value, detail),
  };
  const maker = make[type];
  if (maker === undefined) throw new Error(`unknown type ${type}`);
  return maker();
}

function listOptions(input: Input): unknown {
  const query = new URLSearchParams(text(input, "query"));
  const options = readListOptions(query);
  const selectors = parseSelectors(options);
  defaultListOptions(options);
  checkListOptions(options);
  const known = [...query.keys()].length > 0;
  return {
    ...options,
    limit: String(options.limit),
    timeoutSeconds: options.timeoutSeconds === undefined ? undefined : String(options.timeoutSeconds),
    labelSelector: known ? selectors.labelText : undefined,
    fieldSelector: known ? selectors.fieldText : undefined,
  };
}

function writeOptions(verb: "CreateOptions" | "UpdateOptions" | "PatchOptions", input: Input): unknown {
  const options = record(input["options"]);
  const given = {
    dryRun: Array.isArray(options["dryRun"]) ? options["dryRun"].map(String) : [],
    fieldManager: String(options["fieldManager"] ?? ""),
    fieldValidation: String(options["fieldValidation"] ?? ""),
    force: typeof options["force"] === "boolean" ? options["force"] : undefined,
  };
  checkWriteOptions(given, verb, text(input, "type"));
  return { valid: true };
}

function deleteOptions(input: Input): unknown {
  const options = record(input["options"]);
  checkDeleteOptions({
    gracePeriodSeconds: undefined,
    preconditions: undefined,
    orphanDependents: typeof options["orphanDependents"] === "boolean" ? options["orphanDependents"] : undefined,
    propagationPolicy: typeof options["propagationPolicy"] === "string" ? options["propagationPolicy"] : undefined,
    dryRun: Array.isArray(options["dryRun"]) ? options["dryRun"].map(String) : [],
  });
  return { valid: true };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

const questions: Readonly<Record<string, (input: Input) => unknown>> = {
  decodeContinue: (input) => {
    const { key, revision } = decodeContinue(text(input, "token"), text(input, "prefix"));
    return { key, resourceVersion: String(revision) };
  },
  encodeContinue: (input) => encodeContinue(text(input, "key"), text(input, "prefix"), BigInt(text(input, "resourceVersion"))),
  prepareContinue: (input) => {
    const more = input["more"] === true;
    const everything = text(input, "labelSelector") === "" && text(input, "fieldSelector") === "";
    const chunk = { lastKey: text(input, "lastKey"), prefix: text(input, "prefix"), revision: BigInt(text(input, "resourceVersion")), more, everything };
    const answer = prepareContinue({ ...chunk, count: BigInt(count(input, "count")), limit: BigInt(count(input, "limit")) });
    const remaining = answer.remainingItemCount;
    return { continue: answer.continue, ...(remaining === undefined ? {} : { remainingItemCount: String(remaining) }) };
  },
  storageList: (input) => {
    const plan = planList("/registry/pods/", {
      continue: text(input, "continue"),
      limit: BigInt(count(input, "limit")),
      resourceVersion: text(input, "resourceVersion"),
      resourceVersionMatch: text(input, "resourceVersionMatch"),
    });
    return { atRevision: String(plan.atRevision), continueKey: plan.continueKey };
  },
  parseResourceVersion: (input) => String(parseResourceVersion(text(input, "text"), status.unknownError)),
  listOptions,
  createOptions: (input) => writeOptions("CreateOptions", input),
  updateOptions: (input) => writeOptions("UpdateOptions", input),
  patchOptions: (input) => writeOptions("PatchOptions", input),
  deleteOptions,
};

function failure(line: GoldenLine, error: unknown): Answer {
  if (!status.isApiError(error)) return { err: messageOf(error) };
  if (line.fn === "parseResourceVersion") return { err: { status: error.status, text: error.message } };
  return { err: error.status };
}

export const adapter: Adapter = {
  unsupported: (line) => (line.fn === "storageError" ? reasons.storageErrors : undefined),
  answer(line): Promise<Answer> {
    const refusal = refusals[line.fn];
    if (refusal !== undefined) return Promise.resolve({ out: refusal(line.in).status });
    const question = questions[line.fn];
    if (question === undefined) throw new Error(`unknown fn ${line.fn}`);
    try {
      return Promise.resolve({ out: question(line.in) });
    } catch (error) {
      return Promise.resolve(failure(line, error));
    }
  },
};
