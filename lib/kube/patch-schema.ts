/** How the lists and maps of a kind merge: the patch tags of its Go type. Source: apimachinery v0.37.2, strategicpatch/meta.go. */
import { declaredFields, fieldsOf, shortName, type GoField, type GoType } from "./go-types";
import { goQuote } from "@/lib/go-text";
import { PatchError } from "./patch-error";

export interface PatchMeta {
  readonly type: GoType;
  readonly retainKeys: boolean;
  readonly strategy: string;
  readonly mergeKey: string;
}

export function schemaOf(structName: string): GoType {
  return { kind: "struct", name: structName };
}

/** The field as a map or scalar. Throws PatchError where the type has no such field. */
export function lookupField(schema: GoType, key: string): PatchMeta {
  const type = schema.kind === "pointer" ? schema.elem : schema;
  if (type.kind !== "struct" && !opaqueStructs.has(type.kind)) {
    throw new PatchError(`merging an object in json but data type is not struct, instead is: ${goKind(type)}`);
  }
  const field = type.kind === "struct" ? findField(type.name, key) : undefined;
  if (field === undefined) {
    const name = type.kind === "struct" ? shortName(type.name).replace(/^.*\./u, "") : (opaqueStructs.get(type.kind) ?? "");
    throw new PatchError(`unable to find api field in struct ${name} for the json field ${goQuote(key)}`);
  }
  const retainKeys = field.strategies.includes("retainKeys");
  return { type: field.type, retainKeys, strategy: field.strategies.find((name) => name !== "retainKeys") ?? "", mergeKey: field.mergeKey };
}

/** The same for a list: `type` is that of its elements. */
export function lookupList(schema: GoType, key: string): PatchMeta {
  const meta = lookupField(schema, key);
  const { type } = meta;
  if (type.kind === "list") {
    if (type.elem.kind === "list") throw new PatchError("unexpected slice of slice");
    return { ...meta, type: type.elem };
  }
  if (type.kind === "pointer") return { ...meta, type: type.elem.kind === "list" ? type.elem.elem : type.elem };
  if (type.kind === "bytes") return { ...meta, type: { kind: "int32" } };
  throw new PatchError(`expected slice or array type, but got: ${goKind(schema)}`);
}

const opaqueStructs = new Map<string, string>([
  ["quantity", "Quantity"],
  ["time", "Time"],
  ["microtime", "MicroTime"],
  ["duration", "Duration"],
  ["int-or-string", "IntOrString"],
  ["raw", "RawExtension"],
  ["fields", "FieldsV1"],
]);

function findField(name: string, key: string): GoField | undefined {
  const fields = fieldsOf(name);
  const exact = fields.get(key);
  if (exact !== undefined || declaredFields(name) === undefined) return exact;
  const lower = key.toLowerCase();
  return [...fields.values()].find((field) => field.jsonName.toLowerCase() === lower);
}

/** reflect.Kind of the type. */
export function goKind(type: GoType): string {
  if (type.kind === "pointer") return "ptr";
  if (type.kind === "list" || type.kind === "bytes") return "slice";
  return opaqueStructs.has(type.kind) ? "struct" : type.kind;
}
