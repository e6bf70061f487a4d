import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newMilliQuantity, newQuantity, newScaledQuantity, parseQuantity, Quantity, tryParseQuantity, unmarshalQuantity } from "@/lib/quantity";

const suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E-2", "e+9"];

/** Texts that a person or a controller might write. From 10^21 on Kubernetes itself prints decimals without their suffix. */
const quantityTexts = fc
  .tuple(fc.constantFrom("", "-", "+"), fc.nat({ max: 99_999_999 }), fc.option(fc.nat({ max: 999_999 })), fc.constantFrom(...suffixes))
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${suffix}`);
const quantities = quantityTexts.map((text) => parseQuantity(text));

describe("parseQuantity", () => {
  it.each([
    ["1.5Gi", "1536Mi", 1610612736n, "BinarySI"],
    ["1024Mi", "1Gi", 1073741824n, "BinarySI"],
    ["0.1Ki", "102400m", 103n, "BinarySI"],
    ["0.5Ki", "512", 512n, "BinarySI"],
    ["1000k", "1M", 1_000_000n, "DecimalSI"],
    ["1e3", "1e3", 1000n, "DecimalExponent"],
    ["0.1n", "1n", 1n, "DecimalSI"],
    ["005Gi", "005Gi", 5368709120n, "BinarySI"],
    ["k", "0", 0n, "DecimalSI"],
    ["8Ei", "9223372036854775807", 9223372036854775807n, "BinarySI"],
    ["1000E", "1", 0n, "DecimalSI"],
    ["1e4294967299", "1e4294967299", 1000n, "DecimalExponent"],
  ])("%s prints as %s", (text, printed, value, format) => {
    const quantity = parseQuantity(text);
    expect([quantity.toString(), quantity.value(), quantity.format]).toEqual([printed, value, format]);
  });

  it.each(["", " 1", "1 ", "0x10", "1GB", "1..5", "1g", "١", "1Gi\n", "__proto__"])("refuses %j: not the expression", (text) => {
    expect(() => parseQuantity(text)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining("quantities must match the regular expression") }),
    );
  });

  it.each(["1K", "1ki", "1e", "--1", "1ee3", "1e9223372036854775808", "constructor"])("refuses %j", (text) => {
    expect(() => parseQuantity(text)).toThrow(expect.objectContaining({ code: "invalid" }));
  });

  it("refuses an exponent that would fill the memory", () => {
    expect(() => parseQuantity("1e2147483647")).toThrow("quantity's exponent 2147483647 is out of range");
    expect(parseQuantity("1e-2147483648").toString()).toBe("1e-9");
  });

  it("reads a hostile megabyte in linear time", () => {
    expect(() => parseQuantity(`${"1".repeat(1_000_000)}x`)).toThrow();
    expect(() => parseQuantity(`${"0".repeat(1_000_000)}x`)).toThrow();
  });

  it("keeps its value through its own spelling", () => {
    fc.assert(fc.property(quantities, (quantity) => parseQuantity(quantity.toString()).equals(quantity)));
  });

  it("prints a spelling that prints as itself", () => {
    fc.assert(fc.property(quantities, (quantity) => parseQuantity(quantity.add(Quantity.zero).toString()).toString() === quantity.add(Quantity.zero).toString()));
  });
});

describe("arithmetic", () => {
  it("subtracts what it added", () => {
    fc.assert(fc.property(quantities, quantities, (a, b) => a.add(b).sub(b).equals(a)));
  });

  it("adds in any order", () => {
    fc.assert(fc.property(quantities, quantities, quantities, (a, b, c) => a.add(b).add(c).equals(c.add(a).add(b))));
  });

  it("is exact beyond int64 in both directions", () => {
    const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(big, big, (a, b) => {
        const sum = newQuantity(a, "DecimalSI").add(newQuantity(b, "DecimalSI"));
        return sum.ceilValue() === a + b && newQuantity(a, "DecimalSI").mul(b).product.ceilValue() === a * b;
      }),
    );
  });

  it("negates twice to the same", () => {
    fc.assert(fc.property(quantities, (a) => a.neg().neg().equals(a) && a.neg().add(a).isZero()));
  });

  it("does not change its operands", () => {
    const a = parseQuantity("1Gi");
    a.add(parseQuantity("1Mi"));
    a.roundUp(12);
    expect(a.toString()).toBe("1Gi");
  });

  it("takes the other side's format when it was zero", () => {
    expect(parseQuantity("0").add(parseQuantity("1Gi")).format).toBe("BinarySI");
    expect(parseQuantity("1k").add(parseQuantity("1Gi")).format).toBe("DecimalSI");
  });

  it("rounds away from zero and says whether anything was lost", () => {
    const { rounded, exact } = parseQuantity("-1500m").roundUp(0);
    expect([rounded.toString(), exact]).toEqual(["-2", false]);
    expect(parseQuantity("2").roundUp(0).exact).toBe(true);
  });

  it("says when a product leaves int64", () => {
    expect(parseQuantity("9E").mul(2n).fits).toBe(true);
    expect(newQuantity(2n ** 62n, "DecimalSI").mul(2n)).toMatchObject({ fits: false });
  });
});

describe("order", () => {
  it("follows the exact value across formats", () => {
    const nano = (quantity: Quantity): bigint => quantity.mul(1_000_000_000n).product.ceilValue();
    fc.assert(fc.property(quantities, quantities, (a, b) => a.cmp(b) === (nano(a) < nano(b) ? -1 : nano(a) > nano(b) ? 1 : 0)));
  });

  it("is the reverse from the other side", () => {
    fc.assert(fc.property(quantities, quantities, (a, b) => a.cmp(b) + b.cmp(a) === 0));
  });

  it("compares with whole numbers", () => {
    expect(parseQuantity("1Gi").cmpInt64(1073741824n)).toBe(0);
    expect(parseQuantity("1G").cmp(parseQuantity("1Gi"))).toBe(-1);
  });
});

describe("values as Go overflows them", () => {
  it.each([
    ["10E", 0n, 0n],
    ["8Ei", 9223372036854775807n, -1000n],
    ["12345678901234567890", -6101065172474983726n, undefined],
    ["-0.1n", 1n, undefined],
  ])("%s", (text, value, milli) => {
    const quantity = parseQuantity(text);
    expect(quantity.value()).toBe(value);
    if (milli !== undefined) expect(quantity.milliValue()).toBe(milli);
  });

  it("ceilValue stays exact", () => {
    expect(parseQuantity("10E").ceilValue()).toBe(10n ** 19n);
    expect(parseQuantity("-0.1n").ceilValue()).toBe(-1n);
  });
});

describe("constructors and JSON", () => {
  it("builds from thousandths and scales", () => {
    expect(newMilliQuantity(1500n, "DecimalSI").toString()).toBe("1500m");
    expect(newScaledQuantity(3n, 9).toString()).toBe("3G");
    expect(() => newScaledQuantity(1n, 1_000_000)).toThrow("out of range");
  });

  it("is a string on the wire and reads strings, numbers and null", () => {
    expect(JSON.stringify({ storage: parseQuantity("1024Mi") })).toBe('{"storage":"1Gi"}');
    expect(unmarshalQuantity('" 1Gi\\n"'.replace("\\n", "")).toString()).toBe("1Gi");
    expect(unmarshalQuantity("1.5").toString()).toBe("1500m");
    expect(unmarshalQuantity("null")).toMatchObject({ format: "" });
    expect(() => unmarshalQuantity("true")).toThrow();
  });

  it("tryParseQuantity gives undefined for what is no quantity", () => {
    expect(tryParseQuantity(undefined)).toBeUndefined();
    expect(tryParseQuantity("ten gigs")).toBeUndefined();
    expect(tryParseQuantity("10Gi")?.value()).toBe(10737418240n);
  });
});
