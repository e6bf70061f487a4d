/**
 * The Go types behind the API's kinds (k8s.io/api and the internal types of Kubernetes v1.37.2), read from `go-types.json`, which
 * `e2e/tools/gotypes` prints. They say in which order fields are written, which empty ones are left out, how lists merge, and what
 * a field's type is called in a decoder's error.
 */
import table from "./go-types.json";

export type GoType =
  | { readonly kind: "struct"; readonly name: string }
  | { readonly kind: "pointer"; readonly elem: GoType }
  | { readonly kind: "list"; readonly elem: GoType; readonly name?: string }
  | { readonly kind: "map"; readonly keyName?: string; readonly elem: GoType; readonly name?: string }
  | { readonly kind: Scalar; readonly name?: string };

export type Scalar =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "int"
  | "float64"
  | "bytes"
  | "quantity"
  | "time"
  | "microtime"
  | "duration"
  | "int-or-string"
  | "raw"
  | "fields";

export interface GoField {
  readonly jsonName: string;
  readonly goName: string;
  readonly type: GoType;
  /** Left out when empty: Go's omitempty or omitzero. */
  readonly omit: "never" | "empty" | "zero";
  readonly strategies: readonly string[];
  readonly mergeKey: string;
  /** The number in protobuf; 0 where it is not sent. */
  readonly protobuf: number;
  /** True where the struct is embedded (its fields are written in its place). */
  readonly embedded: boolean;
}

const scalars = new Map<string, Scalar>([
  ["s", "string"],
  ["b", "bool"],
  ["i32", "int32"],
  ["i64", "int64"],
  ["int", "int"],
  ["f64", "float64"],
  ["by", "bytes"],
  ["Q", "quantity"],
  ["T", "time"],
  ["M", "microtime"],
  ["D", "duration"],
  ["IS", "int-or-string"],
  ["RAW", "raw"],
  ["F", "fields"],
]);

const declarations: Readonly<Record<string, readonly string[]>> = table;
const rows = new Map(Object.entries(declarations));
const structs = new Map<string, readonly GoField[]>();

/** The fields of a struct as declared (embedded structs as one field), or undefined for an unknown name. */
export function declaredFields(name: string): readonly GoField[] | undefined {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const declared = rows.get(name);
  if (declared === undefined) return undefined;
  const fields = declared.map(parseField);
  structs.set(name, fields);
  return fields;
}

const flat = new Map<string, ReadonlyMap<string, GoField>>();

/** The fields of a struct by JSON name, embedded ones included, in the order in which Go writes them. */
export function fieldsOf(name: string): ReadonlyMap<string, GoField> {
  const known = flat.get(name);
  if (known !== undefined) return known;
  const fields = new Map<string, GoField>();
  for (const field of declaredFields(name) ?? []) {
    if (field.embedded && field.type.kind === "struct") {
      for (const [key, inner] of fieldsOf(field.type.name)) fields.set(key, inner);
    } else fields.set(field.jsonName, field);
  }
  flat.set(name, fields);
  return fields;
}

export function isStruct(name: string): boolean {
  return rows.has(name);
}

function parseField(row: string): GoField {
  const [jsonName = "", goName = "", type = "", omit = "", strategy = "", mergeKey = "", number = "0"] = row.split("|");
  return {
    jsonName,
    goName: goName === "" ? jsonName.charAt(0).toUpperCase() + jsonName.slice(1) : goName,
    type: parseType(type),
    omit: omit === "o" ? "empty" : omit === "z" ? "zero" : "never",
    strategies: strategy === "" ? [] : strategy.split(","),
    mergeKey,
    protobuf: Number(number),
    embedded: jsonName === "",
  };
}

/** The notation of go-types.json; see `e2e/tools/gotypes`. */
function parseType(text: string): GoType {
  if (text.startsWith("*")) return { kind: "pointer", elem: parseType(text.slice(1)) };
  const list = /^\[\](.*)$/u.exec(text);
  if (list !== null) return { kind: "list", ...namedElement(list[1] ?? "") };
  const map = /^\{([^}]*)\}(.*)$/u.exec(text);
  if (map !== null) {
    const keyName = map[1] === "" ? undefined : map[1];
    return { kind: "map", keyName, ...namedElement(map[2] ?? "") };
  }
  const [short = "", name] = splitName(text);
  const scalar = scalars.get(short);
  return scalar === undefined ? { kind: "struct", name: text } : { kind: scalar, name };
}

/** `Q:core.ResourceList` is an element and the name of the whole; `s:core/v1.Mode` alone is a named element. */
function namedElement(text: string): { elem: GoType; name?: string } {
  const parts = text.split(":");
  const base = parts[0] ?? "";
  const named = base === "s" && parts.length === 2 ? false : parts.length >= 2;
  if (!named) return { elem: parseType(text) };
  return { elem: parseType(parts.slice(0, -1).join(":")), name: parts.at(-1) };
}

function splitName(text: string): [string, string | undefined] {
  const colon = text.indexOf(":");
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** How Go prints the type: `[]v1.PersistentVolumeAccessMode`, `map[string]string`, `*core.PodList`. */
export function goTypeText(type: GoType): string {
  switch (type.kind) {
    case "struct":
      return shortName(type.name);
    case "pointer":
      return `*${goTypeText(type.elem)}`;
    case "list":
      return type.name === undefined ? `[]${goTypeText(type.elem)}` : shortName(type.name);
    case "map":
      return type.name === undefined
        ? `map[${type.keyName === undefined ? "string" : shortName(type.keyName)}]${goTypeText(type.elem)}`
        : shortName(type.name);
    case "quantity":
      return "resource.Quantity";
    case "time":
      return "v1.Time";
    case "microtime":
      return "v1.MicroTime";
    case "duration":
      return "v1.Duration";
    case "int-or-string":
      return "intstr.IntOrString";
    case "bytes":
      return "[]uint8";
    case "raw":
      return "runtime.RawExtension";
    case "fields":
      return "v1.FieldsV1";
    default:
      return type.name === undefined ? type.kind : shortName(type.name);
  }
}

/** `core/v1.Pod` is printed `v1.Pod`. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
