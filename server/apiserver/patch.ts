/**
 * PATCH: JSON patch, merge patch, strategic merge patch. Source: k8s.io/apiserver/pkg/endpoints/handlers/patch.go. Server-side apply is
 * not served.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { decodeInto } from "@/lib/kube/go-decode";
import { goPrint } from "@/lib/kube/go-print";
import { applyJsonPatch, decodeJsonPatch } from "@/lib/kube/json-patch";
import { isObject, jsonKind, parseJson, stringifyJson, type Json, type JsonObject, type ParsedJson } from "@/lib/kube/json";
import { applyMergePatch, parseMergePatch } from "@/lib/kube/merge-patch";
import { applyStrategicMergePatch, objectOfPatch } from "@/lib/kube/strategic-merge";
import { metadataOf, textAt } from "./access";
import { complete, whyOther } from "./codec";
import { matchNamespace, type Write } from "./create";
import { invalid } from "./field";
import { existing } from "./get";
import { apiVersionOf, type Kind } from "./kinds";
import { bodyText, type ApiRequest } from "./request";
import { badRequest, entityTooLarge, genericResponse, invalidError, isApiError, statusError, unknownError, unsupportedMediaType, type ApiError } from "./status";
import { checkName, replace } from "./update";
import { strictText } from "./warnings";

export const jsonPatchType = "application/json-patch+json";
export const mergePatchType = "application/merge-patch+json";
export const strategicPatchType = "application/strategic-merge-patch+json";

const applyPatchType = "application/apply-patch+yaml";
const accepted = [jsonPatchType, mergePatchType, strategicPatchType, applyPatchType];
const maxOperations = 10_000;

/** The media type of a patch. Throws ApiError 415 for what is not a patch. */
export function patchTypeOf(request: ApiRequest, kind: Kind): string {
  const type = (request.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const known = kind.type === undefined ? accepted.filter((name) => name !== strategicPatchType) : accepted;
  if (!known.includes(type)) throw statusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  return type;
}

/** Applies the patch to the stored object and stores the result. Throws ApiError 400, 403, 404, 409, 413, 422 or 500. */
export function patchObject(write: Write, request: ApiRequest, type: string): JsonObject {
  const { context, target } = write;
  if (type === applyPatchType) throw unsupportedMediaType(accepted.filter((name) => name !== type));
  const text = bodyText(request);
  try {
    parseJson(text);
  } catch {
    throw badRequest("invalid JSON patch");
  }
  const stored = existing(context, target);
  const next = type === strategicPatchType ? strategic(write, stored.object, text) : byJson(write, stored.object, { text, type });
  matchNamespace(metadataOf(next), target);
  checkName(metadataOf(next), target.name);
  return replace(write, stored, next);
}

/** JSON patch and merge patch work on the text of the object. */
function byJson(write: Write, object: JsonObject, patch: { text: string; type: string }): JsonObject {
  const strictErrors = write.options.fieldValidation === "Ignore" ? [] : strictErrorsOf(patch);
  const patched = patch.type === jsonPatchType ? applyOperations(object, patch.text) : applyMerge(object, patch.text);
  return decodePatched(write, parseJson(patched), { shown: patched, strictErrors });
}

function applyOperations(object: JsonObject, text: string): string {
  try {
    const operations = decodeJsonPatch(text);
    if (operations.length > maxOperations) {
      throw entityTooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`);
    }
    return applyJsonPatch(stringifyJson(object), operations);
  } catch (error) {
    if (codeOf(error) === "bad-patch") throw badRequest(messageOf(error));
    if (codeOf(error) !== "patch-failed") throw error;
    throw genericResponse({ code: 422, verb: "", of: { group: "", resource: "" }, name: "", serverMessage: messageOf(error) });
  }
}

function applyMerge(object: JsonObject, text: string): string {
  try {
    const patch = parseMergePatch(text);
    return stringifyJson(Array.isArray(patch) ? patch : applyMergePatch(object, patch));
  } catch (error) {
    if (codeOf(error) === "bad-patch") throw badRequest(messageOf(error));
    throw error;
  }
}

function strategic(write: Write, object: JsonObject, text: string): JsonObject {
  const { kind } = write.target;
  const strictErrors = write.options.fieldValidation === "Ignore" ? [] : duplicatesIn(parseJson(text));
  const { patch, merged } = asApiErrors(() => {
    const given = objectOfPatch(text);
    return { patch: given, merged: applyStrategicMergePatch(kind.type ?? "", object, given) };
  });
  return decodePatched(write, { value: merged, duplicates: new Map() }, { shown: goPrint(patch), strictErrors, converter: true });
}

function asApiErrors<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (codeOf(error) !== "patch") throw error;
    throw patchApiError(messageOf(error), statusOf(error));
  }
}

function statusOf(error: unknown): number {
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  return typeof status === "number" ? status : 500;
}

function patchApiError(message: string, status: number): ApiError {
  if (status === 400) return badRequest(message);
  if (status === 422) return genericResponse({ code: 422, verb: "", of: { group: "", resource: "" }, name: "", serverMessage: message });
  return unknownError(message);
}

interface Patched {
  /** What an error shows as the bad value. */
  readonly shown: string;
  readonly strictErrors: readonly string[];
  /** A strategic merge patch is read back by the converter of maps. */
  readonly converter?: boolean;
}

/** The patched object as its Go type, with defaults. Throws ApiError 422 where it does not decode. */
function decodePatched(write: Write, parsed: ParsedJson, { shown, strictErrors, converter = false }: Patched): JsonObject {
  const { kind } = write.target;
  const refuse = (why: string): never => {
    throw invalidError({ group: "", kind: "" }, "", [invalid("patch", shown, why)]);
  };
  if (kind.type === undefined) return isObject(parsed.value) ? complete(kind, parsed.value) : refuse(`unable to decode ${jsonKind(parsed.value)}`);
  const given = isObject(parsed.value) ? { kind: textAt(parsed.value, "kind"), apiVersion: textAt(parsed.value, "apiVersion") } : undefined;
  if (!converter && given !== undefined && (given.kind !== kind.kind || given.apiVersion !== apiVersionOf(kind))) {
    const named = { kind: given.kind || kind.kind, apiVersion: given.apiVersion || apiVersionOf(kind) };
    if (named.kind !== kind.kind || named.apiVersion !== apiVersionOf(kind)) return refuse(whyOther(named, kind, write.context.kinds));
  }
  const decoded = attempt(() => decodeInto(kind.type ?? "", parsed, { keepEmpty: true, converter }), refuse);
  const all = [...strictErrors, ...(write.options.fieldValidation === "Ignore" ? [] : decoded.strictErrors)];
  if (all.length > 0 && write.options.fieldValidation === "Strict") refuse(strictText(all));
  write.warnings.addAll(all);
  return complete(kind, decoded.value, { keepEmpty: true });
}

function attempt<T>(act: () => T, otherwise: (why: string) => never): T {
  try {
    return act();
  } catch (error) {
    if (isApiError(error)) throw error;
    return otherwise(messageOf(error));
  }
}

/** What a strict decoder says of the patch itself. Throws ApiError 400 where it has not the form of its type. */
function strictErrorsOf({ text, type }: { text: string; type: string }): string[] {
  const parsed = parseJson(text);
  if (type === mergePatchType) {
    if (parsed.value !== null && !isObject(parsed.value)) throw badPatch(`json: cannot unmarshal ${jsonKind(parsed.value)} into Go value of type map[string]interface {}`);
    return duplicatesIn(parsed);
  }
  if (parsed.value === null) return [];
  if (!Array.isArray(parsed.value)) throw badPatch(`json: cannot unmarshal ${jsonKind(parsed.value)} into Go value of type []handlers.jsonPatchOp`);
  return parsed.value.flatMap((operation, index) => operationErrors(operation, index));
}

function operationErrors(operation: Json, index: number): string[] {
  if (operation === null) return [];
  if (!isObject(operation)) throw badPatch(`json: cannot unmarshal ${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`);
  for (const name of ["op", "path", "from"]) {
    const value = operation[name];
    if (value !== undefined && value !== null && typeof value !== "string") {
      throw badPatch(`json: cannot unmarshal ${jsonKind(value)} into Go struct field jsonPatchOp.${name} of type string`);
    }
  }
  const unknown = Object.keys(operation).filter((name) => !["op", "path", "from", "value"].includes(name));
  return unknown.map((name) => `json patch unknown field "[${index}].${name}"`);
}

function badPatch(why: string): ApiError {
  return badRequest(`error decoding patch: ${why}`);
}

/** `duplicate field "metadata.labels.a"` for every repeated key. */
function duplicatesIn({ value, duplicates }: ParsedJson): string[] {
  const found: string[] = [];
  const walk = (item: Json, path: string): void => {
    if (Array.isArray(item)) item.forEach((element, index) => walk(element, `${path}[${index}]`));
    if (!isObject(item)) return;
    for (const [key, member] of Object.entries(item)) {
      const here = path === "" ? key : `${path}.${key}`;
      if (duplicates.get(item)?.includes(key) === true) found.push(`duplicate field "${here}"`);
      if (member !== undefined) walk(member, here);
    }
  };
  walk(value, "");
  return found;
}

