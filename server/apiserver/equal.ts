/** Equality as the API means it (apiequality.Semantic): quantities by value, absent and empty alike, times by instant. */
import { fieldsOf, type GoType } from "@/lib/kube/go-types";
import { deepEqual, isObject, type Json } from "@/lib/kube/json";
import { parseQuantity } from "@/lib/quantity";

/** Equality of two canonical values of a struct of go-types.json. */
export function semanticEqual(structName: string, a: Json | undefined, b: Json | undefined): boolean {
  return equal({ kind: "struct", name: structName }, a, b);
}

function equal(type: GoType, a: Json | undefined, b: Json | undefined): boolean {
  switch (type.kind) {
    case "pointer":
      return isNil(a) || isNil(b) ? isNil(a) && isNil(b) : equal(type.elem, a, b);
    case "struct":
      return structEqual(type.name, a, b);
    case "list":
      return listEqual(type.elem, a, b);
    case "map":
      return mapEqual(type.elem, a, b);
    case "quantity":
      return quantityText(a) === quantityText(b) || parseQuantity(quantityText(a)).cmp(parseQuantity(quantityText(b))) === 0;
    default:
      return deepEqual(a ?? emptyOf(type), b ?? emptyOf(type));
  }
}

function isNil(value: Json | undefined): boolean {
  return value === undefined || value === null;
}

function quantityText(value: Json | undefined): string {
  return typeof value === "string" ? value : "0";
}

function emptyOf(type: GoType): Json {
  if (type.kind === "string") return "";
  if (type.kind === "bool") return false;
  return type.kind.startsWith("int") || type.kind === "float64" ? 0 : null;
}

function structEqual(name: string, a: Json | undefined, b: Json | undefined): boolean {
  const left = isObject(a) ? a : {};
  const right = isObject(b) ? b : {};
  for (const [key, field] of fieldsOf(name)) if (!equal(field.type, left[key], right[key])) return false;
  return true;
}

function listEqual(elem: GoType, a: Json | undefined, b: Json | undefined): boolean {
  const left = Array.isArray(a) ? a : [];
  const right = Array.isArray(b) ? b : [];
  return left.length === right.length && left.every((item, index) => equal(elem, item, right[index]));
}

function mapEqual(elem: GoType, a: Json | undefined, b: Json | undefined): boolean {
  const left = isObject(a) ? a : {};
  const right = isObject(b) ? b : {};
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => right[key] !== undefined && equal(elem, left[key], right[key]));
}
