/**
 * Bodies in protobuf, as Go clients send them: the envelope `k8s\0` and runtime.Unknown, inside it the object by the field numbers of
 * `go-types.json`. The result is the object's JSON form. Answers are always JSON, which every such client accepts.
 */
import { declaredFields, isStruct, type GoField, type GoType } from "@/lib/kube/go-types";
import { isObject, newObject, parseJson, type Json, type JsonObject } from "@/lib/kube/json";

const magic = Buffer.from("k8s\0", "latin1");

export function isProtobuf(body: Uint8Array): boolean {
  return magic.equals(body.subarray(0, magic.length));
}

/** The object in its JSON form; undefined for a kind that is not known. Throws Error for a body that is broken. */
export function decodeProtobuf(body: Uint8Array): JsonObject | undefined {
  const envelope = fieldsIn(body.subarray(magic.length));
  const meta = fieldsIn(bytesOf(last(envelope, 1)));
  const [apiVersion, kind] = [textOf(last(meta, 1)), textOf(last(meta, 2))];
  const type = typeName(apiVersion, kind);
  if (type === undefined) return undefined;
  return newObject([["kind", kind], ["apiVersion", apiVersion], ...Object.entries(readStruct(type, bytesOf(last(envelope, 2))))]);
}

/** `v1` Pod is core/v1.Pod, `storage.k8s.io/v1` StorageClass is storage/v1.StorageClass. */
function typeName(apiVersion: string, kind: string): string | undefined {
  const [group = "", version = group] = apiVersion.split("/");
  const names = apiVersion.includes("/") ? [`${group.split(".")[0] ?? ""}/${version}.${kind}`] : [`core/${version}.${kind}`, `meta/${version}.${kind}`];
  return names.find(isStruct);
}

// The wire

type Wire = bigint | Uint8Array;
type Numbered = ReadonlyMap<number, readonly Wire[]>;

function last(fields: Numbered, number: number): Wire | undefined {
  return fields.get(number)?.at(-1);
}

/** All fields of a message by number. */
function fieldsIn(body: Uint8Array): Numbered {
  const out = new Map<number, Wire[]>();
  const reader = new WireReader(body);
  while (!reader.isDone) {
    const [number, value] = reader.field();
    const known = out.get(number);
    if (known === undefined) out.set(number, [value]);
    else known.push(value);
  }
  return out;
}

class WireReader {
  private at = 0;

  constructor(private readonly body: Uint8Array) {}

  get isDone(): boolean {
    return this.at >= this.body.length;
  }

  field(): [number, Wire] {
    const tag = this.varint();
    const wire = Number(tag & 7n);
    const number = Number(tag >> 3n);
    if (wire === 0) return [number, this.varint()];
    if (wire === 2) return [number, this.take(Number(this.varint()))];
    if (wire === 1) return [number, this.take(8)];
    if (wire === 5) return [number, this.take(4)];
    throw new Error(`proto: illegal wireType ${wire}`);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.body[this.at];
      if (byte === undefined) throw new Error("unexpected EOF");
      this.at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new Error("proto: integer overflow");
  }

  private take(length: number): Uint8Array {
    if (length < 0 || this.at + length > this.body.length) throw new Error("unexpected EOF");
    this.at += length;
    return this.body.subarray(this.at - length, this.at);
  }
}

function bytesOf(value: Wire | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function textOf(value: Wire | undefined): string {
  return Buffer.from(bytesOf(value)).toString("utf8");
}

function intOf(value: Wire | undefined): bigint {
  return typeof value === "bigint" ? value : 0n;
}

// Values

function readStruct(name: string, body: Uint8Array): JsonObject {
  const given = fieldsIn(body);
  const out = newObject();
  for (const field of declaredFields(name) ?? []) {
    const values = given.get(field.protobuf);
    if (values === undefined) continue;
    const value = readField(field, values);
    if (field.embedded && isObject(value)) Object.assign(out, value);
    else if (value !== undefined && !isLeftOut(field, value)) out[field.jsonName] = value;
  }
  return out;
}

/** Plain fields are sent even where they are empty; a pointer to an empty value says something. */
function isLeftOut({ omit, type }: GoField, value: Json): boolean {
  return omit !== "never" && type.kind !== "pointer" && (value === null || value === "" || value === 0 || value === false);
}

function readField({ type }: GoField, values: readonly Wire[]): Json | undefined {
  if (type.kind === "list") return values.map((value) => readValue(type.elem, value) ?? null);
  if (type.kind === "map") return newObject(values.map((value) => pairOf(type.elem, bytesOf(value))));
  const value = values.at(-1);
  return value === undefined ? undefined : readValue(type, value);
}

function pairOf(type: GoType, body: Uint8Array): [string, Json | undefined] {
  const fields = fieldsIn(body);
  const value = last(fields, 2);
  const absent = type.kind === "string" || type.kind === "bytes" ? "" : undefined;
  return [textOf(last(fields, 1)), value === undefined ? absent : readValue(type, value)];
}

function readValue(type: GoType, value: Wire): Json | undefined {
  switch (type.kind) {
    case "pointer":
      return readValue(type.elem, value);
    case "struct":
      return readStruct(type.name, bytesOf(value));
    case "string":
      return textOf(value);
    case "bool":
      return intOf(value) !== 0n;
    case "int32":
    case "int64":
    case "int":
      return jsonNumber(intOf(value));
    case "float64":
      return Buffer.from(bytesOf(value)).readDoubleLE();
    case "bytes":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "quantity":
      return textOf(last(fieldsIn(bytesOf(value)), 1));
    case "time":
    case "microtime":
      return timeOf(fieldsIn(bytesOf(value)), type.kind === "microtime");
    case "int-or-string":
      return intOrString(fieldsIn(bytesOf(value)));
    case "raw":
    case "fields":
      return documentIn(last(fieldsIn(bytesOf(value)), 1));
    default:
      throw new Error(`proto: a ${type.kind} is not read`);
  }
}

function jsonNumber(value: bigint): Json {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const zeroTime = -62135596800n;

/** Seconds and nanoseconds; an empty message is the time that is not set. */
function timeOf(fields: Numbered, fraction: boolean): Json | undefined {
  const seconds = last(fields, 1);
  if (seconds === undefined || intOf(seconds) === zeroTime) return undefined;
  const whole = new Date(Number(intOf(seconds)) * 1000).toISOString().replace(/\.\d{3}Z$/u, "");
  if (!fraction) return `${whole}Z`;
  return `${whole}.${String(intOf(last(fields, 2)) / 1000n).padStart(6, "0")}Z`;
}

function intOrString(fields: Numbered): Json {
  return intOf(last(fields, 1)) === 0n ? jsonNumber(intOf(last(fields, 2))) : textOf(last(fields, 3));
}

function documentIn(value: Wire | undefined): Json | undefined {
  const text = textOf(value);
  return text === "" ? undefined : parseJson(text).value;
}
