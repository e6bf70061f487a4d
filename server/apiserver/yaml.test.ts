/**
 * What Kubernetes' own reader answers (apimachinery v0.37.2, YAMLOrJSONDecoder into a RawExtension, as kubectl reads a file): each text
 * with its documents. Recorded from Go.
 */
import { describe, expect, it } from "vitest";
import { parseJson, stringifyJson, type Json } from "@/lib/kube/json";
import { yamlText } from "@/lib/kube/yaml-text";
import { readYaml } from "./yaml";
import { readYamlStream } from "./yaml-stream";

const read: readonly (readonly [text: string, ...documents: string[]])[] = [
  ["a: 0400", "{\"a\":256}"],
  ["a: 0o400", "{\"a\":256}"],
  ["a: 0O17", "{\"a\":15}"],
  ["a: 0x1F", "{\"a\":31}"],
  ["a: 0X1f", "{\"a\":31}"],
  ["a: 0b101", "{\"a\":5}"],
  ["a: 0b-101", "{\"a\":-5}"],
  ["a: -0400", "{\"a\":-256}"],
  ["a: +5", "{\"a\":5}"],
  ["a: 1_000", "{\"a\":1000}"],
  ["a: 08", "{\"a\":8}"],
  ["a: 1e3", "{\"a\":1000}"],
  ["a: 1.0", "{\"a\":1}"],
  ["a: 1.5", "{\"a\":1.5}"],
  ["a: .5", "{\"a\":0.5}"],
  ["a: 1.", "{\"a\":1}"],
  ["a: .", "{\"a\":\".\"}"],
  ["a: 190:20:30", "{\"a\":\"190:20:30\"}"],
  ["a: 2001-12-14", "{\"a\":\"2001-12-14\"}"],
  ["a: 2001-12-14t21:59:43.10-05:00", "{\"a\":\"2001-12-14t21:59:43.10-05:00\"}"],
  ["a: 9223372036854775808", "{\"a\":9223372036854775808}"],
  ["a: 18446744073709551616", "{\"a\":18446744073709552000}"],
  ["a: -9223372036854775809", "{\"a\":-9223372036854776000}"],
  ["a: 9007199254740993", "{\"a\":9007199254740993}"],
  ["a: yes", "{\"a\":true}"],
  ["a: Y", "{\"a\":true}"],
  ["a: y", "{\"a\":true}"],
  ["a: on", "{\"a\":true}"],
  ["a: Off", "{\"a\":false}"],
  ["a: N", "{\"a\":false}"],
  ["a: yEs", "{\"a\":\"yEs\"}"],
  ["a: ~", "{\"a\":null}"],
  ["a: Null", "{\"a\":null}"],
  ["a:", "{\"a\":null}"],
  ["a: 0x1p-2", "{\"a\":\"0x1p-2\"}"],
  ["a: 1e400", "{\"a\":\"1e400\"}"],
  ["a: -0", "{\"a\":0}"],
  ["a: 1e21", "{\"a\":1e+21}"],
  ["a: 1e-7", "{\"a\":1e-7}"],
  ["a: 123456789012345678901234567890", "{\"a\":1.2345678901234568e+29}"],
  ["a: 'yes'", "{\"a\":\"yes\"}"],
  ["a: \"0400\"", "{\"a\":\"0400\"}"],
  ["a: |\n  yes\n", "{\"a\":\"yes\\n\"}"],
  ["a: !!str 5", "{\"a\":\"5\"}"],
  ["a: !!int '5'", "{\"a\":5}"],
  ["a: !!float 5", "{\"a\":5}"],
  ["a: !!binary aGk=", "{\"a\":\"hi\"}"],
  ["a: !foo 5", "{\"a\":\"5\"}"],
  ["a: ! 5", "{\"a\":\"5\"}"],
  ["a: !!bool yes", "{\"a\":true}"],
  ["yes: 1", "{\"true\":1}"],
  ["0400: 1", "{\"256\":1}"],
  ["1.5: 1", "{\"1.5\":1}"],
  ["2001-01-01: 1", "{\"2001-01-01\":1}"],
  ["1: a\n0x1: b", "{\"1\":\"b\"}"],
  ["a: 1\na: 2", "{\"a\":2}"],
  ["x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3", "{\"true\":{\"a\":1,\"b\":3},\"x\":{\"a\":1,\"b\":2}}"],
  ["x: &x {a: 1, b: 2}\ny:\n  b: 3\n  <<: *x", "{\"true\":{\"a\":1,\"b\":2},\"x\":{\"a\":1,\"b\":2}}"],
  ["x: &x {a: 1}\nz: &z {a: 2, c: 3}\ny:\n  <<: [*x, *z]", "{\"true\":{\"a\":1,\"c\":3},\"x\":{\"a\":1},\"z\":{\"a\":2,\"c\":3}}"],
  ["y:\n  '<<': {a: 1}", "{\"true\":{\"\\u003c\\u003c\":{\"a\":1}}}"],
  ["y:\n  <<: {a: 1}\n  <<: {b: 1}", "{\"true\":{\"a\":1,\"b\":1}}"],
  ["a: &x 1\nb: *x\n&y c: *x", "{\"a\":1,\"b\":1,\"c\":1}"],
  ["{\"a\":1}\n{\"a\":2}", "{\"a\":1}", "{\"a\":2}"],
  ["{\"a\":1}{\"a\":2}", "{\"a\":1}", "{\"a\":2}"],
  ["{\"a\":1}\n---\na: 2\n", "{\"a\":1}", "{\"a\":2}"],
  ["{a: 1}", "{\"a\":1}"],
  ["{\"a\":1}\nb: 2", "{\"a\":1}", "{\"b\":2}"],
  ["  \n{\"a\":0400}", "{\"a\":256}"],
  ["{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"],
  ["a: 1\n---\nb: 2", "{\"a\":1}", "{\"b\":2}"],
  ["---  # c\na: 1", "{\"a\":1}"],
  ["a: 1\n...\n---\nb: 2\n", "{\"a\":1}", "{\"b\":2}"],
  ["# c\n---\na: 1", "{\"a\":1}"],
  ["---\n---\na: 1\n---\n", "{\"a\":1}"],
  ["a: |\n  x\n  ---\n  y", "{\"a\":\"x\\n---\\ny\\n\"}"],
  ["- 1\n- 2", "[1,2]"],
  ["5", "5"],
  ["null"],
  ["a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}"],
  ["a:\t1", "{\"a\":1}"],
  ["\ufeffa: 1", "{\"a\":1}"],
  ["a: 'x\n  y'", "{\"a\":\"x y\"}"],
  ["a: 0_8", "{\"a\":8}"],
  ["a: _1", "{\"a\":\"_1\"}"],
  ["a: 1__0", "{\"a\":10}"],
  ["a: 12e03", "{\"a\":12000}"],
  ["a: 0.1e-5", "{\"a\":0.000001}"],
  ["a: 1.0e+2", "{\"a\":100}"],
  ["a: 100000000000000000000.0", "{\"a\":100000000000000000000}"],
  ["a: +1.5", "{\"a\":1.5}"],
  ["a: +.5", "{\"a\":0.5}"],
  ["a: -.5", "{\"a\":-0.5}"],
  ["a: 0x", "{\"a\":\"0x\"}"],
  ["a: 0o", "{\"a\":\"0o\"}"],
  ["a: 09", "{\"a\":9}"],
  ["a: 0o8", "{\"a\":\"0o8\"}"],
  ["[{\"a\":1}]", "[{\"a\":1}]"],
  ["a: &x 1\nx: *x\nb: &x 2\ny: *x\n", "{\"a\":1,\"b\":2,\"true\":2,\"x\":1}"],
  ["a: 1\n--- \nb: 2", "{\"a\":1}", "{\"b\":2}"],
  ["a: 1\n---\t\nb: 2", "{\"a\":1}", "{\"b\":2}"],
  ["1e3: 1", "{\"1000\":1}"],
  ["1e5: 1", "{\"100000\":1}"],
  ["1e6: 1", "{\"1e+06\":1}"],
  ["1e7: 1", "{\"1e+07\":1}"],
  ["123456789.5: 1", "{\"1.2345679e+08\":1}"],
  ["1e20: 1", "{\"1e+20\":1}"],
  ["1e21: 1", "{\"1e+21\":1}"],
  ["1e22: 1", "{\"1e+22\":1}"],
  ["0.0001: 1", "{\"0.0001\":1}"],
  ["0.00001: 1", "{\"1e-05\":1}"],
  ["0.1: 1", "{\"0.1\":1}"],
  ["1.23456789: 1", "{\"1.2345679\":1}"],
  ["1e-7: 1", "{\"1e-07\":1}"],
  ["16777217.0: 1", "{\"1.6777216e+07\":1}"],
];

const refused: readonly (readonly [text: string, line: number])[] = [
  ["a: -", 1],
  ["a: .inf", 1],
  ["a: .nan", 1],
  ["a: !!int x", 1],
  ["~: 1", 1],
  ["? [a]\n: 1", 1],
  ["y:\n  <<: 5", 2],
  ["a: &a [*a]", 1],
  ["a: *b", 1],
  ["--- {a: 1}", 1],
  ["a: 1\n---x\nb: 2", 2],
  ["%YAML 1.2\n---\na: yes", 2],
  ["\ta: 1", 1],
  ["a: [1, 2", 1],
  ["a: {b: c", 1],
  ["a: b: c", 1],
  ["a: @x", 1],
  ["a: `x`", 1],
  ["a: %x", 1],
  ["a: +.inf", 1],
  ["x: &x [1]\ny:\n  <<: *x\n", 3],
];

function values(text: string): Json[] {
  const documents = readYamlStream(text);
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  return documents.flatMap(({ value }) => (value === null ? [] : [parseJson(stringifyJson(value)).value]));
}

describe("readYamlStream", () => {
  it.each(read)("reads %j as Kubernetes does", (text, ...documents) => {
    expect(values(text)).toEqual(documents.map((document) => parseJson(document).value));
  });

  it.each(refused)("refuses %j in line %i", (text, line) => {
    expect(readYamlStream(text).flatMap(({ errors }) => errors)[0]?.line).toBe(line);
  });

  it("does not pass over a document that kubectl would not see", () => {
    expect(readYamlStream("a: 1\n...\nb: 2\n")[0]?.errors).toEqual([{ line: 3, message: "a document ended above; another one begins with a line of three dashes" }]);
  });

  it("counts lines from the beginning of the text", () => {
    const [first, second, , third] = readYamlStream('{"a":\n 1}\n{"b":\n{"c": [\n 2]}}\n---\nd:\n  e: 5\n');
    expect([first?.lineOf("a"), second?.lineOf("b.c[0]"), third?.lineOf("d.e")]).toEqual([1, 5, 8]);
  });
});

describe("readYaml", () => {
  it("tells keys that stand twice, but not what is merged", () => {
    expect(readYaml("a: 1\nb: {}\na: 2\n").repeated).toEqual([{ line: 3, message: 'key "a" already set in map' }]);
    expect(readYaml("x: &x {a: 1}\nb:\n  <<: *x\n  a: 2\n").repeated).toEqual([]);
  });

  it("finds the line of what an anchor brings", () => {
    expect(readYaml("x: &x\n  c: 1\ny: *x\n").lineOf("y.c")).toBe(2);
  });

  it("refuses what unfolds without end", () => {
    const levels = Array.from({ length: 30 }, (_, level) => `a${level}: &a${level} [${level === 0 ? "x" : `*a${level - 1},*a${level - 1},*a${level - 1}`}]`);
    expect(readYaml(levels.join("\n")).errors[0]?.message).toBe("document contains excessive aliasing");
  });

  it.each(["[".repeat(100_000), "[".repeat(5_000) + "]".repeat(5_000), "- ".repeat(5_000)])("refuses what is nested too deep", (text) => {
    expect(readYaml(text).errors[0]?.message).toBe("exceeded max depth of 1000");
  });

  it("refuses what is nested too deep by its anchors", () => {
    const levels = Array.from({ length: 6 }, (_, level) => `a${level}: &a${level} ${"[".repeat(200)}${level === 0 ? "" : `*a${level - 1}`}${"]".repeat(200)}`);
    expect(readYaml(levels.join("\n")).errors[0]?.message).toBe("exceeded max depth of 1000");
  });
});

describe("yamlText", () => {
  const plain = read.flatMap(([text]) => /^a: ([^&*!'"|[{\n]*)$/u.exec(text)?.[1] ?? []);
  const others = ["<<", "", " a", "a ", "a: b", "- a", "# a", "a\nb", "a\n", "=", "'a'", "[", "*a", "&a", "!a", "%a", "@a", "10.0.0.1", "1Gi", "2026-01-01T00:00:00Z"];

  it.each([...plain, ...others])("writes the text %j so that it is read as a text", (text) => {
    expect(readYaml(yamlText({ [text]: text })).value).toEqual({ [text]: text });
  });
});
