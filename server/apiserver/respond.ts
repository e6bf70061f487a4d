/**
 * Answers: an object, a list or an error in the form that the client asked for.
 * Source: k8s.io/apiserver/pkg/endpoints/handlers/response.go and .../responsewriters.
 */
import { canonical } from "@/lib/kube/go-decode";
import { newObject, stringifyJson, type Json, type JsonObject } from "@/lib/kube/json";
import type { Status } from "@/lib/kube/meta";
import { yamlText } from "@/lib/kube/yaml-text";
import { objectsAt } from "./access";
import { encode, goName } from "./codec";
import type { ApiResponse, ServerContext } from "./context";
import type { Kind } from "./kinds";
import type { OutputForm } from "./negotiate";
import { tableOf } from "./table";
import { type ApiError, statusError } from "./status";
import type { Warnings } from "./warnings";

export interface Reply {
  readonly context: ServerContext;
  readonly kind: Kind;
  readonly form: OutputForm;
  readonly query: URLSearchParams;
  readonly warnings: Warnings;
}

/** One object or a list (an object with items), converted where the client asked for a Table or for metadata only. */
export function respond(reply: Reply, code: number, object: JsonObject): ApiResponse {
  return write(reply, code, transform(reply, object));
}

function write({ form, warnings, query }: Reply, code: number, object: JsonObject): ApiResponse {
  const pretty = query.get("pretty");
  const body = form.mediaType === "application/yaml" ? yamlOf(object) : encode(object, pretty === null ? form.pretty : isTrue(pretty));
  return { code, contentType: form.mediaType, body, warnings: warnings.headers(), object };
}

function isTrue(text: string): boolean {
  return ["1", "t", "T", "true", "TRUE", "True"].includes(text);
}

function yamlOf(object: JsonObject): string {
  const plain: unknown = JSON.parse(stringifyJson(object));
  return yamlText(plain, { sortMapEntries: true, indentSeq: false });
}

/** Throws ApiError 400 or 406 where the object cannot take the form. */
export function transform(reply: Reply, object: JsonObject, noHeaders = false): JsonObject {
  const convert = reply.form.convert;
  if (convert === undefined || object["kind"] === "Status") return object;
  const apiVersion = `${convert.group}/${convert.version}`;
  if (convert.kind === "Table") return tableOf(object, { context: reply.context, kind: reply.kind, query: reply.query, apiVersion, noHeaders });
  const isList = Array.isArray(object["items"]);
  if (convert.kind === "PartialObjectMetadata") {
    if (isList) throw wrongForm("PartialObjectMetadata", `a list (*${goName(reply.kind, "internal")}List)`);
    return partial(object, apiVersion);
  }
  if (!isList) throw wrongForm("PartialObjectMetadataList", `not a list (*${goName(reply.kind, "internal")})`);
  const items = objectsAt(object, "items").map((item): Json => partial(item, apiVersion));
  return newObject([["kind", "PartialObjectMetadataList"], ["apiVersion", apiVersion], ["metadata", object["metadata"]], ["items", items]]);
}

function wrongForm(form: string, what: string): ApiError {
  return statusError(406, "NotAcceptable", `you requested ${form}, but the requested object is ${what}`);
}

/** Metadata alone. */
export function partial(object: JsonObject, apiVersion: string): JsonObject {
  const entries: [string, Json | undefined][] = [["kind", "PartialObjectMetadata"], ["apiVersion", apiVersion], ["metadata", object["metadata"]]];
  return canonical("meta/v1.PartialObjectMetadata", newObject(entries));
}

/** A refusal. The content type follows the client where it can. */
export function respondError(error: ApiError, warnings: Warnings, mediaType: string): ApiResponse {
  const code = error.status.code ?? 500;
  const retry = error.status.details?.retryAfterSeconds ?? 0;
  const retryAfter = retry > 0 ? String(retry) : undefined;
  if (error.plainText !== undefined) {
    return { code, contentType: "text/plain; charset=utf-8", body: error.plainText, warnings: warnings.headers(), retryAfter };
  }
  const object = statusObject(error.status);
  const yaml = mediaType === "application/yaml";
  const body = yaml ? yamlOf(object) : encode(object, false);
  return { code, contentType: yaml ? mediaType : "application/json", body, warnings: warnings.headers(), retryAfter, object };
}

/** The Status in the order in which Go writes it. */
export function statusObject(status: Status): JsonObject {
  return canonical("meta/v1.Status", toJson(status));
}

function toJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object" && value !== null) return newObject(Object.entries(value).map(([key, item]) => [key, toJson(item)]));
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return null;
}

export function listObject(kind: Kind, apiVersion: string, metadata: JsonObject, items: readonly JsonObject[]): JsonObject {
  const shown = items.map((item): Json => (kind.type === undefined ? item : withoutType(item)));
  return newObject([["kind", `${kind.kind}List`], ["apiVersion", apiVersion], ["metadata", metadata], ["items", shown]]);
}

/** Items of a typed list carry neither kind nor version. */
function withoutType(item: JsonObject): JsonObject {
  return newObject(Object.entries(item).filter(([key]) => key !== "kind" && key !== "apiVersion"));
}

