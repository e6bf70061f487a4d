/**
 * As much OpenAPI as `kubectl apply` asks for: per kind a PATCH operation that carries its group, version and kind, and says that dry run
 * and field validation are understood. The schemas list the fields with their patch strategies.
 */
import { fieldsOf, type GoField, type GoType } from "@/lib/kube/go-types";
import { newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { apiVersionOf, type Kind } from "./kinds";

const parameterNames = ["dryRun", "fieldManager", "fieldValidation", "force", "pretty"];

function gvk({ group, version, kind }: Kind): JsonObject {
  return newObject([["group", group], ["kind", kind], ["version", version]]);
}

/** `/api/v1/namespaces/{namespace}/pods/{name}` */
function pathOf(kind: Kind): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return `${root}${kind.namespaced ? "/namespaces/{namespace}" : ""}/${kind.resource}/{name}`;
}

function parameters(form: "v2" | "v3"): Json[] {
  return parameterNames.map((name) => {
    const type = name === "force" ? "boolean" : "string";
    const parameter = newObject([["name", name], ["in", "query"]]);
    if (form === "v2") parameter["type"] = type;
    else parameter["schema"] = newObject([["type", type]]);
    return parameter;
  });
}

function paths(kinds: readonly Kind[], form: "v2" | "v3"): JsonObject {
  return newObject(
    kinds.map((kind): [string, Json] => {
      const patch = newObject([
        ["operationId", `patch${kind.kind}`],
        ["parameters", parameters(form)],
        ["responses", newObject([["200", newObject([["description", "OK"]])]])],
        ["x-kubernetes-action", "patch"],
        ["x-kubernetes-group-version-kind", gvk(kind)],
      ]);
      return [pathOf(kind), newObject([["patch", patch]])];
    }),
  );
}

const info = newObject([["title", "Kubernetes"], ["version", "v1.37.2"]]);

export function openApiV2(kinds: readonly Kind[]): JsonObject {
  return newObject([["swagger", "2.0"], ["info", info], ["paths", paths(kinds, "v2")], ["definitions", schemas(kinds, "#/definitions/")]]);
}

/** Where the document of each group and version is. */
export function openApiV3Index(kinds: readonly Kind[]): JsonObject {
  const names = new Set(kinds.map((kind) => (kind.group === "" ? `api/${kind.version}` : `apis/${apiVersionOf(kind)}`)));
  const entries = [...names].map((name): [string, Json] => [name, newObject([["serverRelativeURL", `/openapi/v3/${name}`]])]);
  return newObject([["paths", newObject(entries)]]);
}

/** The document of `api/v1` or `apis/GROUP/VERSION`, or undefined. */
export function openApiV3(kinds: readonly Kind[], name: string): JsonObject | undefined {
  const listed = kinds.filter((kind) => name === (kind.group === "" ? `api/${kind.version}` : `apis/${apiVersionOf(kind)}`));
  if (listed.length === 0) return undefined;
  const components = newObject([["schemas", schemas(listed, "#/components/schemas/")]]);
  return newObject([["openapi", "3.0.0"], ["info", info], ["paths", paths(listed, "v3")], ["components", components]]);
}

function schemas(kinds: readonly Kind[], prefix: string): JsonObject {
  const out = newObject();
  for (const kind of kinds) {
    const name = kind.type === undefined ? `voldeck.${kind.group}.${kind.version}.${kind.kind}` : schemaName(kind.type);
    if (kind.type === undefined) out[name] = newObject([["type", "object"], ["x-kubernetes-preserve-unknown-fields", true]]);
    else addSchema(kind.type, prefix, out);
    const schema = out[name];
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) schema["x-kubernetes-group-version-kind"] = [gvk(kind)];
  }
  return out;
}

/** `core/v1.Pod` is `io.k8s.api.core.v1.Pod`. */
function schemaName(type: string): string {
  return `io.k8s.${type.startsWith("meta/") ? "apimachinery.pkg.apis" : "api"}.${type.replace("/", ".")}`;
}

function addSchema(type: string, prefix: string, out: JsonObject): void {
  const name = schemaName(type);
  if (out[name] !== undefined) return;
  const properties = newObject();
  out[name] = newObject([["type", "object"], ["properties", properties]]);
  for (const [key, field] of fieldsOf(type)) properties[key] = withPatch(field, typeSchema(field.type, prefix, out));
}

function withPatch(field: GoField, schema: JsonObject): JsonObject {
  if (field.strategies.length > 0) schema["x-kubernetes-patch-strategy"] = field.strategies.join(",");
  if (field.mergeKey !== "") schema["x-kubernetes-patch-merge-key"] = field.mergeKey;
  return schema;
}

function typeSchema(type: GoType, prefix: string, out: JsonObject): JsonObject {
  switch (type.kind) {
    case "pointer":
      return typeSchema(type.elem, prefix, out);
    case "list":
      return newObject([["type", "array"], ["items", typeSchema(type.elem, prefix, out)]]);
    case "map":
      return newObject([["type", "object"], ["additionalProperties", typeSchema(type.elem, prefix, out)]]);
    case "struct":
      addSchema(type.name, prefix, out);
      return prefix.includes("components") ? newObject([["allOf", [newObject([["$ref", prefix + schemaName(type.name)]])]]]) : newObject([["$ref", prefix + schemaName(type.name)]]);
    case "int32":
    case "int64":
    case "int":
      return newObject([["type", "integer"], ["format", type.kind === "int32" ? "int32" : "int64"]]);
    case "float64":
      return newObject([["type", "number"], ["format", "double"]]);
    case "bool":
      return newObject([["type", "boolean"]]);
    case "raw":
    case "fields":
      return newObject([["type", "object"]]);
    default:
      return newObject([["type", "string"]]);
  }
}
