/**
 * Protobuf is read for one kind, the Event: csi-attacher and csi-resizer send theirs so. The envelope is `k8s\0` and runtime.Unknown;
 * field numbers are those of k8s.io/api/core/v1/generated.proto. Answers are JSON.
 */
import { isObject, newObject, type Json, type JsonObject } from "@/lib/kube/json";

type Reader = (value: bigint | Uint8Array) => Json;
interface Field {
  readonly name: string;
  readonly read: Reader;
  readonly repeated?: boolean;
}
type Message = ReadonlyMap<number, Field>;

const magic = [0x6b, 0x38, 0x73, 0x00];

/** The event in its JSON form, or undefined when the body is anything else. */
export function decodeProtobufEvent(body: Uint8Array): JsonObject | undefined {
  if (!magic.every((byte, index) => body[index] === byte)) return undefined;
  try {
    const envelope = read(unknownMessage, body.subarray(4));
    const meta = envelope["typeMeta"];
    const raw = envelope["raw"];
    if (!isObject(meta) || meta["kind"] !== "Event" || meta["apiVersion"] !== "v1" || typeof raw !== "string") return undefined;
    return newObject([["kind", "Event"], ["apiVersion", "v1"], ...Object.entries(read(eventMessage, Buffer.from(raw, "base64")))]);
  } catch {
    return undefined;
  }
}

const text: Reader = (value) => (typeof value === "bigint" ? String(value) : Buffer.from(value).toString("utf8"));
const bytes: Reader = (value) => (typeof value === "bigint" ? "" : Buffer.from(value).toString("base64"));
const number: Reader = (value) => (typeof value === "bigint" ? Number(BigInt.asIntN(64, value)) : 0);
const nested = (message: () => Message): Reader => (value) => (typeof value === "bigint" ? newObject() : read(message(), value));

/** metav1.Time and MicroTime: seconds and nanoseconds. */
const time = (fraction: boolean): Reader => (value) => {
  if (typeof value === "bigint") return null;
  const parts = read(new Map([[1, { name: "seconds", read: number }], [2, { name: "nanos", read: number }]]), value);
  const seconds = Number(parts["seconds"] ?? 0);
  if (seconds <= -62135596800) return null;
  const iso = new Date(seconds * 1000).toISOString().replace(/\.\d{3}Z$/u, "");
  return fraction ? `${iso}.${String(Math.floor(Number(parts["nanos"] ?? 0) / 1000)).padStart(6, "0")}Z` : `${iso}Z`;
};

/** map<string, string>: repeated pairs, gathered by `read` below. */
const pair: Reader = nested(() => new Map([[1, { name: "key", read: text }], [2, { name: "value", read: text }]]));

const unknownMessage: Message = new Map([
  [1, { name: "typeMeta", read: nested(() => new Map([[1, { name: "apiVersion", read: text }], [2, { name: "kind", read: text }]])) }],
  [2, { name: "raw", read: bytes }],
]);

const metadata: Message = new Map<number, Field>([
  [1, { name: "name", read: text }],
  [2, { name: "generateName", read: text }],
  [3, { name: "namespace", read: text }],
  [5, { name: "uid", read: text }],
  [6, { name: "resourceVersion", read: text }],
  [11, { name: "labels", read: pair, repeated: true }],
  [12, { name: "annotations", read: pair, repeated: true }],
]);

const reference: Message = new Map(
  ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name, index) => [index + 1, { name, read: text }]),
);

const eventMessage: Message = new Map<number, Field>([
  [1, { name: "metadata", read: nested(() => metadata) }],
  [2, { name: "involvedObject", read: nested(() => reference) }],
  [3, { name: "reason", read: text }],
  [4, { name: "message", read: text }],
  [5, { name: "source", read: nested(() => new Map([[1, { name: "component", read: text }], [2, { name: "host", read: text }]])) }],
  [6, { name: "firstTimestamp", read: time(false) }],
  [7, { name: "lastTimestamp", read: time(false) }],
  [8, { name: "count", read: number }],
  [9, { name: "type", read: text }],
  [10, { name: "eventTime", read: time(true) }],
  [11, { name: "series", read: nested(() => new Map([[1, { name: "count", read: number }], [2, { name: "lastObservedTime", read: time(true) }]])) }],
  [12, { name: "action", read: text }],
  [13, { name: "related", read: nested(() => reference) }],
  [14, { name: "reportingComponent", read: text }],
  [15, { name: "reportingInstance", read: text }],
]);

/** Reads one message; fields that the table does not name are skipped. Throws on a body that ends too early. */
function read(message: Message, body: Uint8Array): JsonObject {
  const out = newObject();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = body[at];
      if (byte === undefined || shift > 63n) throw new Error("protobuf: message ends too early");
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < body.length) {
    const tag = varint();
    const wire = Number(tag & 7n);
    const field = message.get(Number(tag >> 3n));
    let value: bigint | Uint8Array;
    if (wire === 0) value = varint();
    else {
      const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : 4;
      if (at + length > body.length) throw new Error("protobuf: message ends too early");
      value = body.subarray(at, at + length);
      at += length;
    }
    if (field !== undefined) store(out, field, field.read(value));
  }
  return out;
}

function store(out: JsonObject, field: Field, value: Json): void {
  if (field.repeated !== true) {
    if (value !== null && value !== "") out[field.name] = value;
    return;
  }
  const map = isObject(out[field.name]) ? out[field.name] : newObject();
  if (isObject(map) && isObject(value) && typeof value["key"] === "string") map[value["key"]] = value["value"] ?? "";
  out[field.name] = map;
}

