/**
 * Decoding of an object into its Go type and writing it again, as the API server does with every body: unknown fields are dropped
 * (and reported), values of the wrong type refused with the decoder's text, quantities and times respelled, empty fields left out,
 * the rest in the order of the type. Source: sigs.k8s.io/json and the types' own UnmarshalJSON.
 */
import { goTypeName } from "./go-print";
import { fieldsOf, goTypeText, shortName, type GoField, type GoType } from "./go-types";
import { isObject, newObject, stringifyJson, type Json, type JsonObject, type ParsedJson } from "./json";
import { decodeBytes, decodeMicroTime, decodeTime } from "./go-scalars";
import { compareText } from "@/lib/names";
import { unmarshalQuantity } from "@/lib/quantity";
import { codeOf, messageOf } from "@/lib/errors";

/** A body that does not decode; the message is Go's. */
export class DecodeError extends Error {
  readonly code = "decode";
  /** Where the value stands (`spec.containers[0].image`). */
  readonly field: string;

  constructor(message: string, { field, cause }: { readonly field: string; readonly cause?: unknown }) {
    super(message, { cause });
    this.field = field;
  }
}

export interface Decoded {
  readonly value: JsonObject;
  /** Unknown and repeated fields, as strict decoding reports them. */
  readonly strictErrors: readonly string[];
}

export interface DecodeOptions {
  /** Lists and maps that are there but empty are kept: rules of updates tell them from absent ones. Not for the wire. */
  readonly keepEmpty?: boolean;
  /** Refuse in the words of Kubernetes' converter of decoded maps, which reads patched objects, instead of the JSON decoder's. */
  readonly converter?: boolean;
}

/** Decodes into the struct of that name (`core/v1.Pod`). Throws DecodeError. */
export function decodeInto(structName: string, parsed: ParsedJson, options: DecodeOptions = {}): Decoded {
  const decoder = new Decoder(parsed.duplicates, options);
  const value = decoder.read({ kind: "struct", name: structName }, parsed.value, "");
  if (decoder.savedError !== undefined) throw decoder.savedError;
  return { value: isObject(value) ? value : newObject(), strictErrors: decoder.strictErrors };
}

/** The canonical form of an object that is known to decode, e.g. after a change made by code. */
export function canonical(structName: string, value: Json, options: DecodeOptions = {}): JsonObject {
  return decodeInto(structName, { value, duplicates: new Map() }, options).value;
}

interface Context {
  readonly struct: string;
  readonly fields: readonly string[];
}

class Decoder {
  readonly strictErrors: string[] = [];
  savedError: DecodeError | undefined;
  private context: Context = { struct: "", fields: [] };
  private path = "";

  constructor(
    private readonly duplicates: ParsedJson["duplicates"],
    private readonly options: DecodeOptions,
  ) {}

  read(type: GoType, value: Json, path: string): Json {
    this.path = path;
    switch (type.kind) {
      case "pointer":
        return value === null ? null : this.read(type.elem, value, path);
      case "struct":
        return this.struct(type.name, value, path, type);
      case "list":
        return this.list(type, value, path);
      case "map":
        return this.map(type, value, path);
      default:
        return this.scalar(type, value);
    }
  }

  private struct(name: string, value: Json, path: string, type: GoType): Json {
    const fields = fieldsOf(name);
    const found = newObject();
    if (isObject(value)) this.fields(name, value, path, found);
    else if (value !== null) this.mismatch(value, type);
    return writeStruct(fields, found, this.options.keepEmpty);
  }

  private fields(name: string, value: JsonObject, path: string, found: JsonObject): void {
    const fields = fieldsOf(name);
    const outer = this.context;
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const here = path === "" ? key : `${path}.${key}`;
      const field = fields.get(key);
      if (field === undefined) {
        this.strictErrors.push(`unknown field "${here}"`);
        continue;
      }
      this.reportDuplicate(value, key, here);
      this.context = { struct: shortName(name).replace(/^.*\./u, ""), fields: [...outer.fields, key] };
      found[key] = this.read(field.type, item, here);
      this.context = outer;
    }
  }

  private reportDuplicate(object: JsonObject, key: string, here: string): void {
    if (this.duplicates.get(object)?.includes(key) === true) this.strictErrors.push(`duplicate field "${here}"`);
  }

  private list(type: GoType & { kind: "list" }, value: Json, path: string): Json {
    if (value === null) return null;
    if (!Array.isArray(value)) return this.mismatch(value, type);
    return value.map((item, index) => this.element(type.elem, item, `${path}[${index}]`));
  }

  private map(type: GoType & { kind: "map" }, value: Json, path: string): Json {
    if (value === null) return null;
    if (!isObject(value)) return this.mismatch(value, type);
    const map = newObject();
    for (const key of Object.keys(value).sort(compareText)) {
      const item = value[key];
      const here = `${path}.${key}`;
      this.reportDuplicate(value, key, here);
      map[key] = this.element(type.elem, item ?? null, here);
    }
    return map;
  }

  /** An element that is null stands for the zero of its type. */
  private element(type: GoType, value: Json, path: string): Json {
    return value === null ? zeroOf(type) : this.read(type, value, path);
  }

  private scalar(type: GoType, value: Json): Json {
    if (value === null) return zeroOf(type);
    switch (type.kind) {
      case "string":
        return typeof value === "string" ? value : this.mismatch(value, type);
      case "bool":
        return typeof value === "boolean" ? value : this.mismatch(value, type);
      case "int32":
      case "int64":
      case "int":
        return this.integer(type, value);
      case "float64":
        return typeof value === "number" || typeof value === "bigint" ? Number(value) : this.mismatch(value, type);
      case "int-or-string":
        return typeof value === "string" || typeof value === "number" ? value : this.mismatch(value, { kind: "int32" });
      case "raw":
      case "fields":
        return value;
      default:
        return this.unmarshal(type, value);
    }
  }

  private integer(type: GoType, value: Json): Json {
    if (typeof value !== "number" && typeof value !== "bigint") return this.mismatch(value, type);
    const limit = type.kind === "int32" ? 2n ** 31n : 2n ** 63n;
    if (typeof value === "number" && !Number.isInteger(value)) return this.mismatch(value, type, true);
    const exact = BigInt(value);
    return exact >= -limit && exact < limit ? value : this.mismatch(value, type, true);
  }

  /** Types with a decoder of their own stop the whole decoding at once. */
  private unmarshal(type: GoType, value: Json): Json {
    try {
      if (type.kind === "quantity") return unmarshalQuantity(stringifyJson(value)).toString();
      if (typeof value !== "string") return this.mismatch(value, type.kind === "bytes" ? type : { kind: "string" });
      if (type.kind === "time") return decodeTime(value);
      if (type.kind === "microtime") return decodeMicroTime(value);
      if (type.kind === "bytes") return decodeBytes(value);
      return value;
    } catch (error) {
      if (codeOf(error) === "decode") throw error;
      throw new DecodeError(messageOf(error), { field: this.path, cause: error });
    }
  }

  private mismatch(value: Json, type: GoType, withNumber = false): Json {
    if (this.options.converter === true) throw new DecodeError(converterText(value, type), { field: this.path });
    const { struct, fields } = this.context;
    const what = describe(value, withNumber);
    const into = fields.length === 0 ? "value" : `struct field ${struct}.${fields.join(".")}`;
    const message = `json: cannot unmarshal ${what} into Go ${into} of type ${goTypeText(type)}`;
    this.savedError ??= new DecodeError(message, { field: this.path });
    return zeroOf(type);
  }
}

/** Source: apimachinery v0.37.2, pkg/runtime/converter.go. */
function converterText(value: Json, type: GoType): string {
  const name = goTypeName(value);
  const kind = name.startsWith("[]") ? "slice" : name.startsWith("map") ? "map" : name;
  if (type.kind === "list" || type.kind === "bytes") return `cannot restore slice from ${kind}`;
  if (type.kind === "map") return `cannot restore map from ${kind}`;
  if (type.kind === "struct") return `cannot restore struct from: ${kind}`;
  return `cannot convert ${name} to ${goTypeText(type)}`;
}

function describe(value: Json, withNumber: boolean): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  if (typeof value === "number" || typeof value === "bigint") return withNumber ? `number ${String(value)}` : "number";
  return "object";
}

/** The fields of a struct in its order, empty ones left out as their tags say. */
function writeStruct(fields: ReadonlyMap<string, GoField>, found: JsonObject, keepEmpty = false): JsonObject {
  const out = newObject();
  for (const [key, field] of fields) {
    const value = found[key] ?? zeroOf(field.type);
    if (field.omit !== "never" && isEmpty(field, value, keepEmpty)) continue;
    out[key] = value;
  }
  return out;
}

function isEmpty(field: GoField, value: Json, keepEmpty: boolean): boolean {
  const kind = field.type.kind;
  if (kind === "pointer") return value === null;
  if (kind === "list" || kind === "map" || kind === "bytes") return value === null || (!keepEmpty && Object.keys(value).length === 0);
  if (kind === "string" || kind === "bool" || kind.startsWith("int") && kind !== "int-or-string" || kind === "float64") {
    return value === "" || value === false || value === 0;
  }
  return field.omit === "zero" && value === null;
}

/** How Go writes the zero value of a type. */
export function zeroOf(type: GoType): Json {
  switch (type.kind) {
    case "struct":
      return writeStruct(fieldsOf(type.name), newObject());
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "int":
    case "float64":
    case "int-or-string":
      return 0;
    case "quantity":
      return "0";
    default:
      return null;
  }
}
