/**
 * Reads JSON as Go's encoding/json does, with its error texts: keys may repeat, a misplaced character is named by its first byte,
 * and what is asked for decides what a value may be. Source: encoding/json (scanner.go, decode.go) of Go 1.26.
 *
 * The tree keeps members in their order and repeats, so hostile keys stay ordinary.
 */

import { firstUtf8Byte, goQuoteByte } from "@/lib/go-text";

export type GoJSON =
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly value: boolean }
  /** The number as written. */
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly GoJSON[] }
  | { readonly kind: "object"; readonly members: readonly GoJSONMember[] };

export interface GoJSONMember {
  readonly key: string;
  readonly value: GoJSON;
}

export class GoJSONError extends Error {
  readonly code = "go-json";

  constructor(message: string) {
    super(message);
    this.name = "GoJSONError";
  }
}

/** json.Unmarshal's first step: one whole value and nothing else. Throws GoJSONError. */
export function parseGoJSON(text: string): GoJSON {
  const scanner = new Scanner(text, false);
  const value = scanner.value();
  scanner.end();
  return value;
}

/** json.Decoder's first Decode: one value, whatever follows. Throws GoJSONError (`EOF` when there is none). */
export function decodeFirstGoJSON(text: string): GoJSON {
  if (/^[ \t\r\n]*$/.test(text)) throw new GoJSONError("EOF");
  return new Scanner(text, true).value();
}

/** Go's word for a value in `json: cannot unmarshal %s into ...`. */
export function goJSONKind(value: GoJSON): string {
  return value.kind;
}

/** The text of a json.UnmarshalTypeError outside of a struct. */
export function cannotUnmarshal(what: string, goType: string): GoJSONError {
  return new GoJSONError(`json: cannot unmarshal ${what} into Go value of type ${goType}`);
}

/** The text of a json.UnmarshalTypeError in a field; `field` is the struct's name and the path of keys. */
export function cannotUnmarshalField(what: string, field: string, goType: string): GoJSONError {
  return new GoJSONError(`json: cannot unmarshal ${what} into Go struct field ${field} of type ${goType}`);
}

/**
 * Decodes into a map[string]string: null is no text, the last of several equal keys counts. Like Go, throws the first misfit
 * (GoJSONError) after having read everything.
 */
export function stringMapOfGoJSON(value: GoJSON): Map<string, string> {
  const result = new Map<string, string>();
  if (value.kind === "null") return result;
  if (value.kind !== "object") throw cannotUnmarshal(goJSONKind(value), "map[string]string");
  for (const member of value.members) {
    if (member.value.kind === "string") result.set(member.key, member.value.value);
    else if (member.value.kind === "null") result.set(member.key, "");
    else throw cannotUnmarshal(goJSONKind(member.value), "string");
  }
  return result;
}

/** Whether a key names a field: Go compares without regard to case, and so takes the long s and the Kelvin sign too. */
export function isSameGoJSONKey(key: string, field: string): boolean {
  return foldKey(key) === foldKey(field);
}

function foldKey(key: string): string {
  return key
    .replaceAll("\u017f", "s")
    .replaceAll("\u212a", "k")
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const maxDepth = 10_000;
const spaces = new Set([" ", "\t", "\r", "\n"]);
const escapes: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** An array or object that is being read. */
type Open =
  | { readonly kind: "array"; readonly items: GoJSON[] }
  | { readonly kind: "object"; readonly members: GoJSONMember[]; key: string };

class Scanner {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly isStream: boolean,
  ) {}

  /** Without recursion: a driver may answer ten thousand brackets. */
  value(): GoJSON {
    const open: Open[] = [];
    for (;;) {
      let done = this.begin(open);
      while (done !== undefined) {
        const container = open.at(-1);
        if (container === undefined) return done;
        done = this.put(container, done, open);
      }
    }
  }

  end(): void {
    this.skipSpaces();
    if (this.at < this.text.length) throw this.misplaced("after top-level value");
  }

  /** Reads a scalar or an empty container; undefined when a container was opened and its first value comes next. */
  private begin(open: Open[]): GoJSON | undefined {
    this.skipSpaces();
    const start = this.peek();
    if (start === "{" || start === "[") {
      if (open.length >= maxDepth) throw this.misplaced("exceeded max depth");
      this.at += 1;
      return start === "{" ? this.openObject(open) : this.openArray(open);
    }
    if (start === '"') return { kind: "string", value: this.string() };
    if (start === "t") return this.literal("true", { kind: "bool", value: true });
    if (start === "f") return this.literal("false", { kind: "bool", value: false });
    if (start === "n") return this.literal("null", { kind: "null" });
    if (start === "-" || isDigit(start)) return { kind: "number", text: this.number() };
    throw this.misplaced("looking for beginning of value");
  }

  private openArray(open: Open[]): GoJSON | undefined {
    this.skipSpaces();
    if (this.peek() === "]") {
      this.at += 1;
      return { kind: "array", items: [] };
    }
    open.push({ kind: "array", items: [] });
    return undefined;
  }

  private openObject(open: Open[]): GoJSON | undefined {
    this.skipSpaces();
    if (this.peek() === "}") {
      this.at += 1;
      return { kind: "object", members: [] };
    }
    open.push({ kind: "object", members: [], key: this.key() });
    return undefined;
  }

  /** Puts a value into the innermost container; gives the container when that closed it. */
  private put(container: Open, value: GoJSON, open: Open[]): GoJSON | undefined {
    const isArray = container.kind === "array";
    if (isArray) container.items.push(value);
    else container.members.push({ key: container.key, value });
    this.skipSpaces();
    const next = this.peek();
    if (next === (isArray ? "]" : "}")) {
      this.at += 1;
      open.pop();
      return isArray ? { kind: "array", items: container.items } : { kind: "object", members: container.members };
    }
    if (next !== ",") throw this.misplaced(isArray ? "after array element" : "after object key:value pair");
    this.at += 1;
    if (!isArray) {
      this.skipSpaces();
      container.key = this.key();
    }
    return undefined;
  }

  private key(): string {
    if (this.peek() !== '"') throw this.misplaced("looking for beginning of object key string");
    const key = this.string();
    this.skipSpaces();
    if (this.peek() !== ":") throw this.misplaced("after object key");
    this.at += 1;
    return key;
  }

  private literal(word: string, value: GoJSON): GoJSON {
    for (const letter of word) {
      const where = `in literal ${word} (expecting '${letter}')`;
      if (this.peekWithin(where) !== letter) throw this.misplaced(where);
      this.at += 1;
    }
    return value;
  }

  private number(): string {
    const start = this.at;
    if (this.peek() === "-") this.at += 1;
    if (this.text[this.at] === "0") this.at += 1;
    else this.digits("in numeric literal");
    if (this.text[this.at] === ".") {
      this.at += 1;
      this.digits("after decimal point in numeric literal");
    }
    if (this.text[this.at] === "e" || this.text[this.at] === "E") {
      this.at += 1;
      if (this.text[this.at] === "+" || this.text[this.at] === "-") this.at += 1;
      this.digits("in exponent of numeric literal");
    }
    return this.text.slice(start, this.at);
  }

  private digits(where: string): void {
    if (!isDigit(this.peekWithin(where))) throw this.misplaced(where);
    while (isDigit(this.text[this.at])) this.at += 1;
  }

  private string(): string {
    this.at += 1;
    let result = "";
    for (;;) {
      const letter = this.peek();
      if (letter === '"') {
        this.at += 1;
        return result.toWellFormed();
      }
      if (letter < " ") throw this.misplaced("in string literal");
      this.at += 1;
      result += letter === "\\" ? this.escape() : letter;
    }
  }

  /** Halves of a pair are put together by the text; a lone half becomes U+FFFD at the end of the string. */
  private escape(): string {
    const where = "in string escape code";
    const letter = this.peekWithin(where);
    if (letter === "u") {
      this.at += 1;
      return String.fromCharCode(Number.parseInt(this.hexDigits(), 16));
    }
    const escaped = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (escaped === undefined) throw this.misplaced(where);
    this.at += 1;
    return escaped;
  }

  private hexDigits(): string {
    const where = "in \\u hexadecimal character escape";
    const start = this.at;
    while (this.at < start + 4) {
      if (!/[0-9a-fA-F]/.test(this.peekWithin(where))) throw this.misplaced(where);
      this.at += 1;
    }
    return this.text.slice(start, this.at);
  }

  private skipSpaces(): void {
    while (spaces.has(this.text.charAt(this.at))) this.at += 1;
  }

  /** The next character; the end of the text is an error. */
  private peek(): string {
    if (this.at >= this.text.length) throw this.endOfText();
    return this.text.charAt(this.at);
  }

  /** The same in the middle of a word: Go ends a whole text with a space and so complains about that. */
  private peekWithin(where: string): string {
    if (this.at >= this.text.length && !this.isStream) throw new GoJSONError(`invalid character ' ' ${where}`);
    return this.peek();
  }

  private endOfText(): GoJSONError {
    return new GoJSONError(this.isStream ? "unexpected EOF" : "unexpected end of JSON input");
  }

  private misplaced(where: string): GoJSONError {
    return new GoJSONError(`invalid character ${goQuoteByte(firstUtf8Byte(this.text.codePointAt(this.at) ?? 0))} ${where}`);
  }
}

function isDigit(letter: string | undefined): boolean {
  return letter !== undefined && letter >= "0" && letter <= "9";
}
