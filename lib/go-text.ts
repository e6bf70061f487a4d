/** Texts as Go writes them, for messages, arguments and patches that must equal Kubernetes' to the byte. */
import { compareText } from "@/lib/names";

const shortEscapes = new Map([
  ['"', '\\"'], ["\\", "\\\\"], ["\u0007", "\\a"], ["\b", "\\b"], ["\f", "\\f"], ["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"], ["\v", "\\v"],
]);

/** What strconv.IsPrint allows: letters, marks, numbers, punctuation, symbols and the ASCII space, but no other space. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** `%q` of a string (strconv.Quote). */
export function goQuote(text: string): string {
  return `"${Array.from(text.toWellFormed(), quotedCharacter).join("")}"`;
}

/** encoding/json's quoteChar: a byte as if it were a character, in single quotes. */
export function goQuoteByte(byte: number): string {
  const char = String.fromCharCode(byte);
  if (char === "'") return "'\\''";
  return char === '"' ? `'"'` : `'${goQuote(char).slice(1, -1)}'`;
}

/** Go's scanners read bytes: of a character they see the first one of its UTF-8 form. */
export function firstUtf8Byte(codePoint: number): number {
  if (codePoint < 0x80) return codePoint;
  if (codePoint < 0x800) return 0xc0 | (codePoint >> 6);
  return codePoint < 0x10000 ? 0xe0 | (codePoint >> 12) : 0xf0 | (codePoint >> 18);
}

/** `%v` of a []string: `[a b]`. */
export function goList(texts: readonly string[]): string {
  return `[${texts.join(" ")}]`;
}

/** The text of several errors (utilerrors.Aggregate): one stands alone, more are in brackets, repeated ones once. */
export function goAggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? unique.join("") : `[${unique.join(", ")}]`;
}

/**
 * json.Marshal of a map: object keys in order, `<`, `>`, `&`, U+2028 and U+2029 escaped. Keys without a value (undefined) are left out;
 * a bigint becomes a number. For a Go struct, whose keys keep the order of its fields, use `goJsonInOrder`.
 */
export function goJson(value: unknown): string {
  return marshal(value, (entries) => entries.sort(byKey));
}

/** The same with every object's keys in the order they stand. */
export function goJsonInOrder(value: unknown): string {
  return marshal(value, (entries) => entries);
}

function quotedCharacter(character: string): string {
  const short = shortEscapes.get(character);
  if (short !== undefined) return short;
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

type Entry = [key: string, value: unknown];

function marshal(value: unknown, arrange: (entries: Entry[]) => Entry[]): string {
  if (typeof value === "string") return jsonText(value);
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map((item: unknown) => marshal(item ?? null, arrange)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = arrange(Object.entries(value).filter(([, item]) => item !== undefined));
  return `{${entries.map(([key, item]) => `${jsonText(key)}:${marshal(item, arrange)}`).join(",")}}`;
}

function jsonText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return compareText(a, b);
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
