/** `%v` of decoded JSON, as Go prints it in errors: `map[a:1 b:[x y] c:<nil>]`. */
import { compareText } from "@/lib/names";
import { isObject, type Json } from "./json";

export function goPrint(value: Json | undefined): string {
  if (value === undefined || value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goPrint).join(" ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return `map[${members.sort(([a], [b]) => compareText(a, b)).map(([key, item]) => `${key}:${goPrint(item)}`).join(" ")}]`;
  }
  return typeof value === "number" && !Number.isInteger(value) ? goFloat(value) : String(value);
}

/** The shortest form; an exponent below 1e-4 and from 1e21 on, with two digits at least. */
function goFloat(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e21) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/u, "e$10$2");
}

/** reflect.TypeOf(value).String(), with `%!s(<nil>)` for nil as `%s` prints it. */
export function goTypeName(value: Json | undefined): string {
  if (value === undefined || value === null) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return typeof value === "number" && !Number.isInteger(value) ? "float64" : "int64";
}
