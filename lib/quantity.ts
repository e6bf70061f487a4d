/**
 * resource.Quantity: the exact numbers of Kubernetes (`10Gi`, `1500m`, `1e3`), as apimachinery v1.37.2 reads, computes and prints them
 * (pkg/api/resource: quantity.go, amount.go, math.go, scale_int.go). Values are immutable; compare them by value, never by text.
 *
 * Go keeps a quantity either as an int64 with a power of ten ("narrow") or as a decimal of any size ("wide"). Both are exact; which of the two
 * it is shows in the roundings and overflows of `value()` and its kin, so it is part of our state too.
 */
import { AppError } from "@/lib/errors";

/** How a quantity likes to be printed. The empty format is the zero value of Go, which only JSON's `null` gives. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent" | "";

/** Powers of ten that Kubernetes names. */
const scales = { nano: -9, micro: -6, milli: -3, one: 0, kilo: 3, mega: 6, giga: 9, tera: 12, peta: 15, exa: 18 } as const;

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const suffixWrong = "unable to parse quantity's suffix";

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);
/** Beyond this power of ten the real code needs minutes and gigabytes; ours refuses. */
const largestExponent = 10_000;
/** An int64 holds every number of so many decimal digits. */
const safeDigits = 18;

const decimalSuffixes: readonly (readonly [text: string, exponent: number])[] = [
  ["n", -9], ["u", -6], ["m", -3], ["", 0], ["k", 3], ["M", 6], ["G", 9], ["T", 12], ["P", 15], ["E", 18],
];
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const decimalByText = new Map(decimalSuffixes);
const decimalByExponent = new Map(decimalSuffixes.map(([text, exponent]) => [exponent, text]));

interface Amount {
  /** The value is `unscaled` times ten to the power of `exponent`. */
  readonly unscaled: bigint;
  readonly exponent: number;
  /** Held as an int64 by Go. */
  readonly narrow: boolean;
}

export class Quantity {
  static readonly zero = new Quantity({ unscaled: 0n, exponent: 0, narrow: true }, "DecimalSI");

  readonly format: QuantityFormat;
  private readonly amount: Amount;
  private text: string | undefined;

  /** For this module: use `parseQuantity` and the `new...` functions. `text` is the spelling where it is known to be canonical. */
  constructor(amount: Amount, format: QuantityFormat, text?: string) {
    this.amount = amount;
    this.format = format;
    this.text = text;
  }

  /** Whole units, rounded away from zero. As in Go it overflows silently beyond int64: use `cmp` to compare, `toString` to show. */
  value(): bigint {
    return this.scaledValue(scales.one);
  }

  /** Thousandths, with the same silent overflow. */
  milliValue(): bigint {
    return this.scaledValue(scales.milli);
  }

  /** The number of units of ten to the power of `scale`, rounded away from zero, with Go's silent overflows. */
  scaledValue(scale: number): bigint {
    return this.amount.narrow ? narrowScaledValue(this.amount, scale) : wideScaledValue(this.amount, scale);
  }

  /** The value where Go's fast path has it. Else `fits` is false (a fraction, held as a decimal, beyond int64) and the value means nothing. */
  asInt64(): { value: bigint; fits: boolean } {
    const { unscaled, exponent, narrow } = this.amount;
    if (!narrow || exponent < 0) return { value: 0n, fits: false };
    return { value: narrowScaledValue(this.amount, 0), fits: inInt64(shiftUp(unscaled, exponent)) !== undefined };
  }

  /** Whole units, rounded away from zero, exact at any size: what `value()` means to give. */
  ceilValue(): bigint {
    return ceilAway(this.amount, 0);
  }

  isZero(): boolean {
    return this.amount.unscaled === 0n;
  }

  sign(): -1 | 0 | 1 {
    return signOf(this.amount.unscaled);
  }

  cmp(other: Quantity): -1 | 0 | 1 {
    const exponent = Math.min(this.amount.exponent, other.amount.exponent);
    return signOf(unscaledAt(this.amount, exponent) - unscaledAt(other.amount, exponent));
  }

  cmpInt64(other: bigint): -1 | 0 | 1 {
    return this.cmp(newQuantity(other, "DecimalSI"));
  }

  /** Equal by value: `1Gi` equals `1024Mi`. */
  equals(other: Quantity): boolean {
    return this.cmp(other) === 0;
  }

  /** The sum; a zero takes the format of the other side. */
  add(other: Quantity): Quantity {
    return new Quantity(addAmounts(this.amount, other.amount), this.isZero() ? other.format : this.format);
  }

  sub(other: Quantity): Quantity {
    return this.add(other.neg());
  }

  neg(): Quantity {
    const { unscaled, exponent, narrow } = this.amount;
    return new Quantity({ unscaled: narrow ? BigInt.asIntN(64, -unscaled) : -unscaled, exponent, narrow }, this.format);
  }

  /** The exact product, and whether Go would call it free of overflow. */
  mul(by: bigint): { product: Quantity; fits: boolean } {
    const { unscaled, exponent, narrow } = this.amount;
    const product = { unscaled: unscaled * by, exponent, narrow: false };
    if (narrow && narrowProductFits(product)) return { product: new Quantity({ ...product, narrow: true }, this.format), fits: true };
    return { product: new Quantity(product, this.format), fits: inInt64(product.unscaled) !== undefined };
  }

  /** Rounded away from zero to a multiple of ten to the power of `scale`; `exact` says that nothing was lost. */
  roundUp(scale: number): { rounded: Quantity; exact: boolean } {
    if (this.amount.narrow && this.amount.exponent >= scale) return { rounded: this, exact: true };
    const unscaled = ceilAway(this.amount, scale);
    const rounded = new Quantity({ unscaled, exponent: scale, narrow: this.amount.narrow }, this.format);
    return { rounded, exact: rounded.equals(this) };
  }

  /**
   * The spelling that Kubernetes sends back. A parsed text that Go takes for canonical is echoed as it came (`005Gi` too); all others
   * are printed with the largest suffix that leaves no fraction.
   */
  toString(): string {
    this.text ??= canonicalText(this.amount, this.format);
    return this.text;
  }

  toJSON(): string {
    return this.toString();
  }

  /** The nearest double, roughly: for charts and percentages only (AsApproximateFloat64). */
  toNumber(): number {
    const { unscaled, exponent } = this.amount;
    return exponent === 0 ? Number(unscaled) : Number(unscaled) * pow10(exponent);
  }
}

/**
 * Reads a quantity (ParseQuantity). Digits may be missing (`k` is 0); only the empty text fails for that.
 * @throws AppError `invalid` with Go's text; also for an exponent so large that no computer holds the number.
 */
export function parseQuantity(text: string): Quantity {
  if (text === "0") return Quantity.zero;
  if (text === "") throw invalid(formatWrong);
  const parts = splitQuantity(text);
  if (parts === undefined) throw invalid(formatWrong);
  const suffix = interpretSuffix(parts.suffix);
  if (suffix === undefined) throw invalid(suffixWrong);
  if (suffix.exponent > largestExponent) throw invalid(`quantity's exponent ${suffix.exponent} is out of range`);
  return narrowQuantity(text, parts, suffix) ?? wideQuantity(parts, suffix);
}

/** The quantity of a text, or undefined where it is absent or does not parse. For hostile data that is shown and not relied on. */
export function tryParseQuantity(text: string | undefined): Quantity | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
}

/** Whole units (NewQuantity). */
export function newQuantity(value: bigint, format: QuantityFormat): Quantity {
  return new Quantity({ unscaled: value, exponent: 0, narrow: inInt64(value) !== undefined }, format);
}

/** Thousandths (NewMilliQuantity). */
export function newMilliQuantity(value: bigint, format: QuantityFormat): Quantity {
  return new Quantity({ unscaled: value, exponent: -3, narrow: inInt64(value) !== undefined }, format);
}

/** `value` times ten to the power of `scale`, in decimal format (NewScaledQuantity). */
export function newScaledQuantity(value: bigint, scale: number): Quantity {
  if (Math.abs(scale) > largestExponent) throw invalid(`quantity's exponent ${scale} is out of range`);
  return new Quantity({ unscaled: value, exponent: scale, narrow: inInt64(value) !== undefined }, "DecimalSI");
}

/** The quantity of a JSON value in its raw text: a string, an unquoted number, or null for zero (UnmarshalJSON). Escapes are not decoded. */
export function unmarshalQuantity(jsonText: string): Quantity {
  if (jsonText === "null") return new Quantity({ unscaled: 0n, exponent: 0, narrow: true }, "");
  const quoted = jsonText.length >= 2 && jsonText.startsWith('"') && jsonText.endsWith('"');
  return parseQuantity(trimGoSpace(quoted ? jsonText.slice(1, -1) : jsonText));
}

// Parsing

interface Parts {
  readonly positive: boolean;
  /** Digits before and after the dot, the leading zeros of the first dropped. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

interface Suffix {
  readonly exponent: number;
  readonly format: QuantityFormat;
}

/** Written so that no text can make it backtrack far. */
const quantityShape = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(|[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)$/;

function splitQuantity(text: string): Parts | undefined {
  const match = quantityShape.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match;
  return { positive: sign !== "-", whole: whole.replace(/^0+/, "") || "0", fraction, suffix };
}

function interpretSuffix(suffix: string): Suffix | undefined {
  const decimal = decimalByText.get(suffix);
  if (decimal !== undefined) return { exponent: decimal, format: "DecimalSI" };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { exponent: binary * 10, format: "BinarySI" };
  if (!/^[eE][+-]?[0-9]+$/.test(suffix)) return undefined;
  const exponent = inInt64(BigInt(suffix.slice(1).replace(/^\+/, "")));
  return exponent === undefined ? undefined : { exponent: Number(BigInt.asIntN(32, exponent)), format: "DecimalExponent" };
}

/** Go's fast path: the number surely fits an int64. */
function narrowQuantity(text: string, parts: Parts, suffix: Suffix): Quantity | undefined {
  const digits = parts.whole + parts.fraction;
  const value = BigInt(digits);
  const signed = parts.positive ? value : -value;
  if (suffix.format === "BinarySI") {
    const room = 15 - parts.whole.length - (suffix.exponent * 3) / 10 - 1;
    if (parts.fraction !== "" || room < 0) return undefined;
    const echoed = value % 8n !== 0n ? text : undefined;
    return new Quantity({ unscaled: signed << BigInt(suffix.exponent), exponent: 0, narrow: true }, suffix.format, echoed);
  }
  const exponent = suffix.exponent - parts.fraction.length;
  if (digits.length > safeDigits || exponent < scales.nano) return undefined;
  const echoed = exponent % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0") ? text : undefined;
  return new Quantity({ unscaled: signed, exponent, narrow: true }, suffix.format, echoed);
}

/** Everything else: kept in units of 1n, anything finer rounded away from zero. Binary values are capped at the largest int64. */
function wideQuantity(parts: Parts, suffix: Suffix): Quantity {
  const digits = BigInt(parts.whole + parts.fraction);
  const binary = suffix.format === "BinarySI";
  const exact = binary
    ? { unscaled: digits << BigInt(suffix.exponent), exponent: -parts.fraction.length, narrow: false }
    : { unscaled: digits, exponent: suffix.exponent - parts.fraction.length, narrow: false };
  const nanos = ceilAway(exact, scales.nano);
  const one = shiftUp(1n, -scales.nano);
  const capped = binary && nanos > maxInt64 * one;
  const size = capped ? maxInt64 : nanos;
  const format = binary && nanos > 0n && nanos < one ? "DecimalSI" : suffix.format;
  return new Quantity({ unscaled: parts.positive ? size : -size, exponent: capped ? 0 : scales.nano, narrow: false }, format);
}

// Arithmetic

function addAmounts(a: Amount, b: Amount): Amount {
  if (a.narrow && b.narrow) {
    if (b.unscaled === 0n) return a;
    if (a.unscaled === 0n) return b;
  }
  const exponent = Math.min(a.exponent, b.exponent);
  const [left, right] = [unscaledAt(a, exponent), unscaledAt(b, exponent)];
  const sum = left + right;
  const narrow = a.narrow && b.narrow && [left, right, sum].every((part) => inInt64(part) !== undefined);
  return { unscaled: sum, exponent, narrow };
}

/** Go leaves the fast path for a product that is a fraction. */
function narrowProductFits(product: Amount): boolean {
  const whole = wholeUnits(product);
  return whole !== undefined && inInt64(product.unscaled) !== undefined && inInt64(whole) !== undefined;
}

/** Go multiplies by these powers of ten at once, and its overflow then leaves the wrapped product; elsewhere it leaves 0. */
const shiftsAtOnce = new Set([1, 2, 3, 6, 9]);

function narrowScaledValue(amount: Amount, scale: number): bigint {
  const up = amount.exponent - scale;
  if (up < 0) return ceilAway(amount, scale);
  const product = shiftUp(amount.unscaled, up);
  return inInt64(product) ?? (shiftsAtOnce.has(up) && amount.unscaled !== minInt64 ? wrap(product) : 0n);
}

/** scale_int.go: wraps at 64 bits, and rounds up (not away from zero) after a division that truncates. */
function wideScaledValue(amount: Amount, scale: number): bigint {
  const { unscaled } = amount;
  const up = amount.exponent - scale;
  if (up >= 0) {
    // An int64 conversion of a double out of range gives the smallest int64 on amd64.
    const factor = up <= safeDigits ? shiftUp(1n, up) : minInt64;
    return up === 0 ? wrap(unscaled) : wrap(wrap(unscaled) * factor);
  }
  const divisor = shiftUp(1n, -up);
  if (unscaled < maxInt64 && -up <= safeDigits) {
    const small = wrap(unscaled);
    return small % divisor === 0n ? small / divisor : wrap(small / divisor + 1n);
  }
  // Euclidean division: the remainder is never negative.
  const remainder = ((unscaled % divisor) + divisor) % divisor;
  const quotient = wrap((unscaled - remainder) / divisor);
  return remainder === 0n ? quotient : wrap(quotient + 1n);
}

/** The amount in units of ten to the power of `exponent`, rounded away from zero. */
function ceilAway(amount: Amount, exponent: number): bigint {
  const { unscaled } = amount;
  const down = exponent - amount.exponent;
  if (down <= 0) return shiftUp(unscaled, -down);
  if (unscaled === 0n) return 0n;
  const step = unscaled > 0n ? 1n : -1n;
  if (down > unscaled.toString().length) return step;
  const divisor = shiftUp(1n, down);
  return unscaled % divisor === 0n ? unscaled / divisor : unscaled / divisor + step;
}

function unscaledAt(amount: Amount, exponent: number): bigint {
  return shiftUp(amount.unscaled, amount.exponent - exponent);
}

function shiftUp(value: bigint, digits: number): bigint {
  return value * 10n ** BigInt(digits);
}

function wrap(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

function inInt64(value: bigint): bigint | undefined {
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}

function signOf(value: bigint): -1 | 0 | 1 {
  if (value === 0n) return 0;
  return value < 0n ? -1 : 1;
}

/** math.Pow10, which multiplies two table entries and so differs from the nearest double now and then. */
function pow10(exponent: number): number {
  const size = Math.abs(exponent);
  const high = Number(`1e${size - (size % 32)}`);
  const low = Number(`1e${size % 32}`);
  if (exponent >= 0) return exponent > 308 ? Infinity : high * low;
  return exponent < -323 ? 0 : Number(`1e-${size - (size % 32)}`) / low;
}

// Printing

function canonicalText(amount: Amount, format: QuantityFormat): string {
  if (amount.unscaled === 0n) return "0";
  if (format === "BinarySI") {
    const whole = wholeUnits(amount);
    if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) return binaryText(whole);
    return decimalText(amount, "DecimalSI");
  }
  return decimalText(amount, format);
}

function wholeUnits(amount: Amount): bigint | undefined {
  const rounded = ceilAway(amount, 0);
  return unscaledAt(amount, Math.min(amount.exponent, 0)) === shiftUp(rounded, Math.max(-amount.exponent, 0)) ? rounded : undefined;
}

function binaryText(whole: bigint): string {
  let number = whole;
  let power = 0;
  while (number % 1024n === 0n) {
    number /= 1024n;
    power += 1;
  }
  return `${number}${binarySuffixes[power] ?? ""}`;
}

/** Go drops a suffix it has no letter for (`1000E` prints as `1`), and so do we. */
function decimalText(amount: Amount, format: QuantityFormat): string {
  const digits = amount.unscaled.toString().replace(/0+$/, "");
  const stripped = amount.exponent + amount.unscaled.toString().length - digits.length;
  const padding = ((stripped % 3) + 3) % 3;
  const exponent = stripped - padding;
  const number = digits + "0".repeat(padding);
  if (format === "DecimalSI") return number + (decimalByExponent.get(exponent) ?? "");
  return exponent === 0 ? number : `${number}e${exponent}`;
}

/** strings.TrimSpace. */
function trimGoSpace(text: string): string {
  return text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, (spaces) => (spaces.includes("\uFEFF") ? spaces : ""));
}

function invalid(message: string): AppError {
  return new AppError("invalid", message);
}
