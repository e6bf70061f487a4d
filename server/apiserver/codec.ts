/**
 * Bodies of requests, decoded as the real server decodes them: media type, kind and version, strictness, defaults.
 * Source: k8s.io/apiserver/pkg/endpoints/handlers/{create,update,rest}.go and k8s.io/apimachinery/pkg/runtime/serializer.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { decodeInto } from "@/lib/kube/go-decode";
import { isObject, jsonKind, newObject, parseJson, stringifyJson, type Json, type JsonObject, type ParsedJson } from "@/lib/kube/json";
import { textAt } from "./access";
import { withDefaults } from "./defaults";
import { apiVersionOf, type Kind, type KindTable } from "./kinds";
import { bodyMediaTypes } from "./negotiate";
import { decodeProtobuf, isProtobuf } from "./protobuf";
import { bodyText, type ApiRequest } from "./request";
import { badRequest, unsupportedMediaType } from "./status";
import { strictText, type Warnings } from "./warnings";
import { readYaml } from "./yaml";

/** The address that Go's scheme prints in its errors: it names where the scheme was made. */
const schemeName = '"pkg/runtime/scheme.go:111"';

export interface ParsedBody extends ParsedJson {
  /** What strict decoding says of the text itself. */
  readonly strictErrors?: readonly string[];
}

/** The parsed body. Throws ApiError 415 for a media type that the server does not read, Error for a body that is not of its type. */
export function parseBody(request: ApiRequest): ParsedBody {
  const mediaType = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType === "" || mediaType === "application/json") return parseJson(bodyText(request));
  if (mediaType === "application/yaml") return parseYaml(bodyText(request));
  if (mediaType === "application/vnd.kubernetes.protobuf" && isProtobuf(request.body)) {
    const object = decodeProtobuf(request.body);
    if (object !== undefined) return { value: object, duplicates: new Map() };
  }
  throw unsupportedMediaType(bodyMediaTypes);
}

/** A body that is no YAML; the message is Go's. */
class YamlSyntaxError extends Error {
  readonly code = "yaml-syntax";
}

const yamlErrors = "yaml: unmarshal errors:";

function parseYaml(text: string): ParsedBody {
  const { value, errors, isSyntax, repeated } = readYaml(text);
  const [wrong] = errors;
  if (wrong !== undefined) throw new YamlSyntaxError(`yaml: ${isSyntax ? `line ${wrong.line}: ` : ""}${wrong.message}`);
  const lines = repeated.map(({ line, message }) => `  line ${line}: ${message}`);
  const strictErrors = lines.length === 0 ? [] : [[yamlErrors, ...lines].join("\n")];
  return { value, duplicates: new Map(), strictErrors };
}

/** parseYAMLWarnings: a warning for each line. */
function linesOfYaml(text: string): string[] {
  return text.startsWith(yamlErrors) ? text.slice(yamlErrors.length).trim().split(/\n\s*/u) : [text];
}

export interface DecodeOptions {
  readonly kinds: KindTable;
  readonly fieldValidation: string;
  readonly warnings: Warnings;
}

/** The object of a create or update. Throws ApiError 400 with the real server's words. */
export function decodeObject(request: ApiRequest, kind: Kind, options: DecodeOptions): JsonObject {
  const unrecognized = (why: string): never => {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(request.body)})`);
  };
  const parsed = parseOr(request, (error) => unrecognized(whyUnread(error)));
  const wrong = kindMismatch(parsed.value);
  if (wrong !== undefined) return unrecognized(wrong);
  const body = isObject(parsed.value) ? parsed.value : newObject();
  const given = { kind: textAt(body, "kind") || kind.kind, apiVersion: textAt(body, "apiVersion") || apiVersionOf(kind) };
  const refuse = (why: string): never => {
    const version = given.apiVersion.slice(given.apiVersion.indexOf("/") + 1);
    throw badRequest(`${given.kind} in version ${goQuote(version)} cannot be handled as a ${kind.kind}: ${why}`);
  };
  if (given.kind !== kind.kind || given.apiVersion !== apiVersionOf(kind)) return refuse(whyOther(given, kind, options.kinds));
  const { value, strictErrors: ofFields } = decodeOr(kind, { value: body, duplicates: parsed.duplicates }, (error) => refuse(messageOf(error)));
  const strictErrors = [...(parsed.strictErrors ?? []), ...ofFields];
  if (strictErrors.length > 0 && options.fieldValidation === "Strict") return refuse(strictText(strictErrors));
  if (options.fieldValidation !== "Ignore") options.warnings.addAll(strictErrors.flatMap(linesOfYaml));
  return complete(kind, value, { keepEmpty: true });
}

function whyUnread(error: unknown): string {
  return codeOf(error) === "yaml-syntax" ? messageOf(error) : `couldn't get version/kind; json parse error: ${messageOf(error)}`;
}

function parseOr(request: ApiRequest, otherwise: (error: unknown) => never): ParsedBody {
  try {
    return parseBody(request);
  } catch (error) {
    if (typeof error === "object" && error !== null && "status" in error) throw error;
    return otherwise(error);
  }
}

function decodeOr(kind: Kind, parsed: ParsedJson, otherwise: (error: unknown) => never): { value: JsonObject; strictErrors: readonly string[] } {
  if (kind.type === undefined) return { value: isObject(parsed.value) ? parsed.value : newObject(), strictErrors: [] };
  try {
    return decodeInto(kind.type, parsed, { keepEmpty: true });
  } catch (error) {
    return otherwise(error);
  }
}

/** Kind and version filled in, defaults applied, fields in their order. */
export function complete(kind: Kind, object: JsonObject, options: { readonly keepEmpty?: boolean } = {}): JsonObject {
  const typed = newObject([["kind", kind.kind], ["apiVersion", apiVersionOf(kind)], ...Object.entries(object).filter(([key]) => key !== "kind" && key !== "apiVersion")]);
  return kind.type === undefined ? typed : withDefaults(kind.type, typed, options);
}

const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** What Go says when the body is no object, or its kind or version no text. */
function kindMismatch(value: Json): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go value of type ${typeMeta}`;
  for (const key of ["apiVersion", "kind"]) {
    const field = value[key];
    if (field !== undefined && field !== null && typeof field !== "string") {
      return `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(field)} into Go struct field .${key} of type string`;
    }
  }
  return undefined;
}

export interface Given {
  readonly kind: string;
  readonly apiVersion: string;
}

/** Why an object of another kind or version is none of this kind. */
export function whyOther(given: Given, kind: Kind, kinds: KindTable): string {
  if (given.apiVersion.split("/").length > 2) return `unexpected GroupVersion string: ${given.apiVersion}`;
  const other = kinds.byKind(given.apiVersion, given.kind);
  if (other?.type === undefined) return notRegistered(given);
  return `converting (${goName(other, "versioned")}) to (${goName(kind, "internal")}): unknown conversion`;
}

export function notRegistered(given: Given): string {
  return `no kind ${goQuote(given.kind)} is registered for version ${goQuote(given.apiVersion)} in scheme ${schemeName}`;
}

/** `v1.Pod` or `core.Pod`. */
export function goName(kind: Kind, form: "versioned" | "internal"): string {
  if (form === "versioned") return `${kind.version}.${kind.kind}`;
  return `${(kind.type ?? "core/").split("/")[0] ?? ""}.${kind.kind}`;
}

function summary(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const cut = body.length > 30 ? " ..." : "";
  const start = Buffer.from(body.subarray(0, 30));
  return (body[0] === 0x7b ? start.toString("utf8") : start.toString("hex")) + cut;
}

/** How an object is written for the wire. */
export function encode(object: JsonObject, pretty: boolean): string {
  return pretty ? `${JSON.stringify(JSON.parse(stringifyJson(object)), null, 2)}\n` : `${stringifyJson(object)}\n`;
}
