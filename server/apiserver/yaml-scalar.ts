/**
 * What a plain YAML scalar means to Kubernetes. Source: go.yaml.in/yaml/v2 v2.4.4, resolve.go: YAML 1.1 without sexagesimal numbers and
 * with Go's integer literals; dates stay text.
 */
import type { Json } from "@/lib/kube/json";

/** An integer of any size, a float, or what JSON has: kept apart, since a float may stand where an integer may not. */
export type Scalar = null | boolean | bigint | number | string;

type Word = null | boolean | number;

const words: ReadonlyMap<string, Word> = new Map([
  ...spelled(true, "y Y yes Yes YES true True TRUE on On ON"),
  ...spelled(false, "n N no No NO false False FALSE off Off OFF"),
  ...spelled(null, "~ null Null NULL"),
  ...spelled(null, ""),
  ...spelled(Number.NaN, ".nan .NaN .NAN"),
  ...spelled(Number.POSITIVE_INFINITY, ".inf .Inf .INF +.inf +.Inf +.INF"),
  ...spelled(Number.NEGATIVE_INFINITY, "-.inf -.Inf -.INF"),
]);

function spelled(value: Word, texts: string): [string, Word][] {
  return texts.split(" ").map((text) => [text, value]);
}

export function resolveScalar(text: string): Scalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  const first = text.charAt(0);
  if (first === ".") return /^\.[0-9]+([eE][-+]?[0-9]+)?$/u.test(text) ? finite(text) : text;
  if (!/[-+0-9]/u.test(first)) return text;
  const plain = text.replaceAll("_", "");
  return integerOf(plain) ?? floatOf(plain) ?? text;
}

const uint64Limit = 2n ** 64n;
const int64Limit = 2n ** 63n;

/** Go's ParseInt and ParseUint with base 0; then `0b` before a number that has its own sign. */
function integerOf(plain: string): bigint | undefined {
  const [, sign = "", prefix = "", digits = ""] = /^([-+]?)(0[xX]|0[oO]|0[bB]|0(?=[0-7]))?(.*)$/u.exec(plain) ?? [];
  const value = parseDigits(prefix, digits);
  if (value !== undefined) {
    if (sign === "") return value < uint64Limit ? value : undefined;
    return value <= (sign === "-" ? int64Limit : int64Limit - 1n) ? (sign === "-" ? -value : value) : undefined;
  }
  const [, outer = "", inner = "", bits] = /^(-?)0b([-+]?)([01]+)$/u.exec(plain) ?? [];
  if (bits === undefined || (outer !== "" && inner !== "")) return undefined;
  return BigInt(`0b${bits}`) * (outer === "-" || inner === "-" ? -1n : 1n);
}

function parseDigits(prefix: string, digits: string): bigint | undefined {
  const [allowed, name] = bases.get(prefix.toLowerCase()) ?? [/^[0-9]+$/u, ""];
  return allowed.test(digits) ? BigInt(`${name}${digits}`) : undefined;
}

const bases: ReadonlyMap<string, readonly [RegExp, string]> = new Map([
  ["0x", [/^[0-9a-fA-F]+$/u, "0x"]],
  ["0o", [/^[0-7]+$/u, "0o"]],
  ["0b", [/^[01]+$/u, "0b"]],
  ["0", [/^[0-7]+$/u, "0o"]],
]);

function floatOf(plain: string): number | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/u.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

function finite(text: string): number | string {
  return floatOf(text) ?? text;
}

/** As JSON holds it. Throws an Error with Go's words for what JSON has no number for. */
export function jsonOfScalar(value: Scalar): Json {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new Error(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : `${value > 0 ? "+" : "-"}Inf`}`);
}
