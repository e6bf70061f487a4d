/**
 * JSON as Go's decoder reads it: its error texts, integers kept exactly (BigInt beyond 2^53), repeated keys reported, objects
 * without a prototype so that `__proto__` and `constructor` are ordinary keys.
 */

import { firstUtf8Byte, goJsonInOrder, goQuoteByte } from "@/lib/go-text";

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

/** A text that is not JSON; the message is Go's. */
export class JsonSyntaxError extends Error {
  readonly code = "json-syntax";
}

export interface ParsedJson {
  readonly value: Json;
  /** Keys that occurred more than once, by the object that holds them, in the order of their second occurrence. */
  readonly duplicates: ReadonlyMap<JsonObject, readonly string[]>;
}

export function newObject(entries: Iterable<readonly [string, Json | undefined]> = []): JsonObject {
  const object: JsonObject = Object.create(null);
  for (const [key, value] of entries) object[key] = value;
  return object;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What Go's decoder calls a value: "array", "bool", "number", "string", "object", "null". */
export function jsonKind(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "number";
  return value === null ? "null" : typeof value;
}

export function deepCopy<T extends Json>(value: T): T;
export function deepCopy(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => deepCopy(item));
  if (!isObject(value)) return value;
  return newObject(Object.entries(value).map(([key, item]) => [key, item === undefined ? undefined : deepCopy(item)]));
}

/** Equality as of Go's reflect.DeepEqual on decoded JSON: the order of keys means nothing, a missing key is not null. */
export function deepEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = definedKeys(a);
  return keys.length === definedKeys(b).length && keys.every((key) => b[key] !== undefined && deepEqual(a[key], b[key]));
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** Throws JsonSyntaxError with Go's text. `bytes`: each character stands for one byte (latin1), since the text is no UTF-8. */
export function parseJson(text: string, { bytes = false }: { readonly bytes?: boolean } = {}): ParsedJson {
  const reader = new Reader(text, bytes);
  const value = reader.document();
  return { value, duplicates: reader.duplicates };
}

/** One level of a text: the raw text of each member or element. */
export type Level = { readonly kind: "object"; readonly members: Map<string, string> } | { readonly kind: "array"; readonly items: string[] };

/** Takes an object or array apart without reading further down; undefined for anything else. Throws JsonSyntaxError. */
export function splitJson(text: string): Level | undefined {
  return new Reader(text).level();
}

/** Go takes ten times as much; no object of Kubernetes is nested deeper than this, and what walks through a value has an end to its stack. */
const maxDepth = 1000;

class Reader {
  readonly duplicates = new Map<JsonObject, string[]>();
  private at = 0;
  private depth = 0;
  /** Told of each member of the outermost object or array, after it is read. */
  private onMember: (key: string, start: number) => void = () => undefined;

  constructor(
    private readonly text: string,
    private readonly bytes = false,
  ) {}

  document(): Json {
    const value = this.value("looking for beginning of value");
    this.space();
    if (this.at < this.text.length) this.fail("after top-level value");
    return value;
  }

  level(): Level | undefined {
    const raw: [string, string][] = [];
    this.onMember = (key, start) => raw.push([key, this.text.slice(start, this.at).trim()]);
    const value = this.document();
    if (Array.isArray(value)) return { kind: "array", items: raw.map(([, item]) => item) };
    return isObject(value) ? { kind: "object", members: new Map(raw) } : undefined;
  }

  private value(where: string): Json {
    this.space();
    const char = this.text[this.at];
    if (char === "{") return this.nested(() => this.object());
    if (char === "[") return this.nested(() => this.array());
    if (char === '"') return this.string();
    if (char === "t") return this.literal("true", true);
    if (char === "f") return this.literal("false", false);
    if (char === "n") return this.literal("null", null);
    if (char === "-" || isDigit(char)) return this.number();
    return this.fail(where);
  }

  private nested<T>(read: () => T): T {
    this.depth += 1;
    if (this.depth > maxDepth) this.fail("exceeded max depth");
    const result = read();
    this.depth -= 1;
    return result;
  }

  private object(): JsonObject {
    const object = newObject();
    this.at += 1;
    this.space();
    if (this.text[this.at] === "}") return this.closed(object);
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.fail("looking for beginning of object key string");
      const key = this.string();
      this.space();
      if (this.text[this.at] !== ":") this.fail("after object key");
      this.at += 1;
      if (object[key] !== undefined) this.repeated(object, key);
      const start = this.at;
      object[key] = this.value("looking for beginning of value");
      if (this.depth === 1) this.onMember(key, start);
      this.space();
      const next = this.text[this.at];
      if (next === "}") return this.closed(object);
      if (next !== ",") this.fail("after object key:value pair");
      this.at += 1;
    }
  }

  private array(): Json[] {
    const array: Json[] = [];
    this.at += 1;
    this.space();
    if (this.text[this.at] === "]") return this.closed(array);
    for (;;) {
      const start = this.at;
      array.push(this.value("looking for beginning of value"));
      if (this.depth === 1) this.onMember("", start);
      this.space();
      const next = this.text[this.at];
      if (next === "]") return this.closed(array);
      if (next !== ",") this.fail("after array element");
      this.at += 1;
    }
  }

  private closed<T>(value: T): T {
    this.at += 1;
    return value;
  }

  private repeated(object: JsonObject, key: string): void {
    const keys = this.duplicates.get(object) ?? [];
    if (!keys.includes(key)) keys.push(key);
    this.duplicates.set(object, keys);
  }

  private literal<T>(word: string, value: T): T {
    for (let index = 1; index < word.length; index += 1) {
      this.at += 1;
      const expected = word[index] ?? "";
      if (this.text[this.at] !== expected) this.fail(`in literal ${word} (expecting '${expected}')`);
    }
    this.at += 1;
    return value;
  }

  private number(): number | bigint {
    const start = this.at;
    if (this.text[this.at] === "-") this.at += 1;
    if (this.text[this.at] === "0") this.at += 1;
    else this.digits("in numeric literal");
    let whole = true;
    if (this.text[this.at] === ".") {
      whole = false;
      this.at += 1;
      this.digits("after decimal point in numeric literal");
    }
    const exponent = this.text[this.at];
    if (exponent === "e" || exponent === "E") {
      whole = false;
      this.at += 1;
      const sign = this.text[this.at];
      if (sign === "+" || sign === "-") this.at += 1;
      this.digits("in exponent of numeric literal");
    }
    const literal = this.text.slice(start, this.at);
    const value = Number(literal);
    return whole && !Number.isSafeInteger(value) ? BigInt(literal) : value;
  }

  private digits(where: string): void {
    if (!isDigit(this.text[this.at])) this.fail(where);
    while (isDigit(this.text[this.at])) this.at += 1;
  }

  private string(): string {
    let out = "";
    this.at += 1;
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) throw endOfInput();
      if (char < " ") this.fail("in string literal");
      this.at += 1;
      if (char === '"') return out;
      out += char === "\\" ? this.escape() : char;
    }
  }

  private escape(): string {
    const char = this.text[this.at];
    if (char === undefined) throw endOfInput();
    if (char === "u") return this.unicode();
    const plain = escapes.get(char);
    if (plain === undefined) return this.fail("in string escape code");
    this.at += 1;
    return plain;
  }

  private unicode(): string {
    for (let index = 1; index <= 4; index += 1) {
      this.at += 1;
      if (!/^[0-9a-fA-F]$/.test(this.text[this.at] ?? "")) this.fail("in \\u hexadecimal character escape");
    }
    this.at += 1;
    return String.fromCharCode(parseInt(this.text.slice(this.at - 4, this.at), 16));
  }

  private space(): void {
    for (;;) {
      const char = this.text[this.at];
      if (char !== " " && char !== "\t" && char !== "\n" && char !== "\r") return;
      this.at += 1;
    }
  }

  private fail(where: string): never {
    const code = this.text.codePointAt(this.at);
    if (code === undefined) throw endOfInput();
    throw new JsonSyntaxError(`invalid character ${goQuoteByte(this.bytes ? code : firstUtf8Byte(code))} ${where}`);
  }
}

const escapes = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

function endOfInput(): JsonSyntaxError {
  return new JsonSyntaxError("unexpected end of JSON input");
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= "0" && char <= "9";
}

/** Compact JSON in the order of the keys, as Go's encoder escapes it. */
export function stringifyJson(value: Json | undefined): string {
  return goJsonInOrder(value ?? null);
}
