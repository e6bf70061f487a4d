/**
 * Which form of an answer a client accepts. Source: k8s.io/apiserver/pkg/endpoints/handlers/negotiation and the content negotiation of
 * go-restful in front of it, which refuses what no route produces.
 */
import { notAcceptable, statusError, type ApiError } from "./status";

export interface OutputForm {
  readonly mediaType: "application/json" | "application/yaml";
  /** `as=Table` and its like. */
  readonly convert: { readonly kind: string; readonly group: string; readonly version: string } | undefined;
  readonly stream: string;
  readonly pretty: boolean;
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly q: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** What the server would write. Protobuf is named as a real server names it and never chosen. */
const produced = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"] as const;
const streamed = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"] as const;

/** Throws ApiError 406. `list` names the endpoints that can also stream. */
export function negotiateOutput(accept: string | undefined, list: boolean): OutputForm {
  const header = accept ?? "";
  if (!routeAccepts(header)) throw routeRefusal(list);
  if (header === "") return { mediaType: "application/json", convert: undefined, stream: "", pretty: false };
  for (const clause of parseAccept(header)) {
    const form = formFor(clause);
    if (form !== undefined) return form;
  }
  throw notAcceptable(produced);
}

/** go-restful compares bare media types, and takes no `type/*`. */
function routeAccepts(header: string): boolean {
  if (header === "") return true;
  return header.split(",").some((part) => {
    const mediaType = part.split(";")[0]?.trim() ?? "";
    return mediaType === "*/*" || produced.some((known) => known === mediaType);
  });
}

function routeRefusal(list: boolean): ApiError {
  const available = list ? [...produced, ...streamed] : produced;
  return statusError(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`, {});
}

function formFor(clause: Clause): OutputForm | undefined {
  const media = (["application/json", "application/yaml"] as const).find((known) => {
    const [type, subtype] = known.split("/");
    if (clause.type === "*" && clause.subtype === "*") return true;
    return clause.type === type && (clause.subtype === subtype || clause.subtype === "*");
  });
  if (media === undefined) return undefined;
  const { parameters } = clause;
  const convert = ["as", "g", "v"].some((name) => parameters.has(name))
    ? { kind: parameters.get("as") ?? "", group: parameters.get("g") ?? "", version: parameters.get("v") ?? "" }
    : undefined;
  const stream = parameters.get("stream") ?? "";
  if (stream !== "" && (stream !== "watch" || media === "application/yaml")) return undefined;
  if (convert !== undefined && !canConvert(convert)) return undefined;
  return { mediaType: media, convert, stream, pretty: parameters.get("pretty") === "1" };
}

function canConvert(convert: { kind: string; group: string; version: string }): boolean {
  const known = convert.group === "meta.k8s.io" && (convert.version === "v1" || convert.version === "v1beta1");
  return known && ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"].includes(convert.kind);
}

/** Clauses by preference: quality, then how specific they are, then their order. */
function parseAccept(header: string): Clause[] {
  const clauses = header.split(",").map((part): Clause => {
    const [media = "", ...rest] = part.split(";").map((piece) => piece.trim());
    const [type = "", subtype = ""] = media === "*" ? ["*", "*"] : media.split("/");
    const parameters = new Map<string, string>();
    let q = 1;
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      if (equals < 0) continue;
      const name = parameter.slice(0, equals).trim();
      const value = parameter.slice(equals + 1).trim();
      if (name === "q") q = Number(value) || 0;
      else parameters.set(name, value);
    }
    return { type, subtype, q, parameters };
  });
  return clauses
    .map((clause, index) => ({ clause, index }))
    .sort((a, b) => b.clause.q - a.clause.q || specificity(b.clause) - specificity(a.clause) || a.index - b.index)
    .map(({ clause }) => clause);
}

function specificity(clause: Clause): number {
  if (clause.type === "*") return 0;
  return clause.subtype === "*" ? 1 : 2;
}

export const bodyMediaTypes = produced;
