/**
 * One YAML document as Kubernetes reads it: sigs.k8s.io/yaml v1.6.0 (YAMLToJSON) on go.yaml.in/yaml/v2 v2.4.4 (decode.go), with the line
 * of every field. What is a number, a truth value or null is told by yaml-scalar.ts.
 */
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type Node, type YAMLMap } from "yaml";
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { jsonOfScalar, resolveScalar, type Scalar } from "./yaml-scalar";

export interface YamlProblem {
  /** From 1, in the text that was read. */
  readonly line: number;
  readonly message: string;
}

export interface YamlDocument {
  /** null for an empty document and where there are errors. */
  readonly value: Json;
  readonly errors: readonly YamlProblem[];
  /** The errors are of the text, not of its meaning. */
  readonly isSyntax: boolean;
  /** Keys that stand twice in one map; the last one counts. */
  readonly repeated: readonly YamlProblem[];
  /** Where another document begins, which is not read. */
  readonly moreAtLine: number | undefined;
  /** The line of a field (`spec.volumes[0].name`), or the nearest line above it that is known. */
  lineOf(field: string): number;
}

const maxDepth = 1000;
const stringTag = "tag:yaml.org,2002:str";

/** Never throws: what can't be read is in `errors`. */
export function readYaml(text: string): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: "failsafe",
    resolveKnownTags: false,
    merge: false,
    uniqueKeys: false,
    strict: true,
    prettyErrors: false,
  });
  const reader = new Reader(document, lines);
  const problems = document.errors.map(({ pos, code, message }) => ({ code, line: lines.linePos(pos[0]).line, message: wordsOf(code, message) }));
  const syntax = problems.filter(({ code }) => code !== "MULTIPLE_DOCS").map(({ line, message }) => ({ line, message }));
  const { value, errors } = syntax.length > 0 ? { value: null, errors: syntax } : reader.read();
  const moreAtLine = problems.find(({ code }) => code === "MULTIPLE_DOCS")?.line;
  return { value, errors, isSyntax: syntax.length > 0, repeated: reader.repeated, moreAtLine, lineOf: (field) => reader.lineOf(field) };
}

function wordsOf(code: string, message: string): string {
  return code === "RESOURCE_EXHAUSTION" ? `exceeded max depth of ${maxDepth}` : message;
}

class Reader {
  readonly repeated: YamlProblem[] = [];
  private readonly open = new Set<Node>();
  private depth = 0;
  private decoded = 0;
  private throughAliases = 0;
  private aliasDepth = 0;
  private current: Node | undefined;
  private readonly targets: ReadonlyMap<Node, Node>;

  constructor(
    private readonly document: Document,
    private readonly lines: LineCounter,
  ) {
    this.targets = targetsOf(document);
  }

  read(): { value: Json; errors: readonly YamlProblem[] } {
    try {
      return { value: this.value(this.document.contents), errors: [] };
    } catch (error) {
      return { value: null, errors: [{ line: this.lineAt(this.current), message: messageOf(error) }] };
    }
  }

  lineOf(field: string): number {
    let current: Node | null = this.document.contents;
    let line = this.lineAt(current ?? undefined);
    for (const part of field.split(/[.[\]]+/u).filter((name) => name !== "")) {
      const { at, value } = this.child(this.target(current), part);
      if (at === undefined) return line;
      line = this.lineAt(at);
      current = value;
    }
    return line;
  }

  /** A member by its key or index, and the node whose line is the member's. */
  private child(node: Node | null, part: string): { at?: Node; value: Node | null } {
    if (isSeq(node)) {
      const item = asNode(node.items[Number(part)]);
      return { ...(item ? { at: item } : {}), value: item };
    }
    const pair = isMap(node) ? node.items.findLast(({ key }) => isScalar(key) && String(key.value) === part) : undefined;
    const key = asNode(pair?.key);
    return { ...(key ? { at: key } : {}), value: asNode(pair?.value) };
  }

  private target(node: Node | null): Node | null {
    return isAlias(node) ? (this.targets.get(node) ?? null) : node;
  }

  private lineAt(node: Node | undefined): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line;
  }

  private value(node: Node | null): Json {
    if (node === null) return null;
    this.current = node;
    this.count();
    if (isAlias(node)) return this.alias(node, (target) => this.value(target));
    if (isScalar(node)) return jsonOfScalar(this.scalar(node.tag, node.type, String(node.value)));
    this.depth += 1;
    if (this.depth > maxDepth) throw new Error(`exceeded max depth of ${maxDepth}`);
    const value = isSeq(node) ? node.items.map((item) => this.value(asNode(item))) : this.map(node);
    this.depth -= 1;
    return value;
  }

  /** Go's bound on documents that unfold. */
  private count(): void {
    this.decoded += 1;
    if (this.aliasDepth > 0) this.throughAliases += 1;
    const isMany = this.throughAliases > 100 && this.decoded > 1000;
    if (isMany && this.throughAliases / this.decoded > allowedAliasRatio(this.decoded)) throw new Error("document contains excessive aliasing");
  }

  private alias<T>(node: Node & { source: string }, read: (target: Node) => T): T {
    const target = this.target(node);
    if (target === null) throw new Error(`unknown anchor '${node.source}' referenced`);
    if (this.open.has(node)) throw new Error(`anchor '${node.source}' value contains itself`);
    this.open.add(node);
    this.aliasDepth += 1;
    const value = read(target);
    this.aliasDepth -= 1;
    this.open.delete(node);
    return value;
  }

  private scalar(tag: string | undefined, type: string | null | undefined, text: string): Scalar {
    const isPlain = type === "PLAIN";
    if (tag === undefined) return isPlain ? resolveScalar(text) : text;
    if (tag === stringTag) return text;
    if (tag === "tag:yaml.org,2002:binary") return Buffer.from(text, "base64").toString("utf8");
    const wanted = typeOfTag.get(tag);
    if (wanted === undefined) return text;
    const value = resolveScalar(text);
    if (wanted === "float" && typeof value === "bigint") return Number(value);
    if (goType(value) !== wanted) throw new Error(`cannot decode !!${goType(value)} \`${text}\` as a !!${wanted}`);
    return value;
  }

  private map(node: Node): JsonObject {
    const object = newObject();
    if (isMap(node)) this.fill(object, node);
    return object;
  }

  /** In the order of the text, merges too: a key above `<<` is overwritten by it. */
  private fill(object: JsonObject, map: YAMLMap): void {
    const own = new Set<string>();
    for (const pair of map.items) {
      const key = asNode(pair.key);
      const value = asNode(pair.value);
      if (isScalar(key) && key.value === "<<" && (key.type === "PLAIN" || key.tag === "tag:yaml.org,2002:merge")) this.merge(object, value);
      else this.member(object, own, key, value);
    }
  }

  private member(object: JsonObject, own: Set<string>, key: Node | null, value: Node | null): void {
    const name = this.key(key);
    if (own.has(name)) this.repeated.push({ line: this.lineAt(key ?? undefined), message: `key ${goQuote(name)} already set in map` });
    own.add(name);
    object[name] = this.value(value);
  }

  private key(node: Node | null): string {
    this.current = node ?? undefined;
    const target = this.target(node);
    if (isMap(target) || isSeq(target)) throw new Error("invalid map key: a map or a list");
    if (!isScalar(target)) return unsupportedKey();
    const value = this.scalar(target.tag, target.type, String(target.value));
    if (value === null) return unsupportedKey();
    return typeof value === "number" ? keyOfFloat(value) : String(value);
  }

  private merge(object: JsonObject, value: Node | null): void {
    // Of several maps the first wins, so it comes last.
    const sources = isSeq(value) ? value.items.map((item) => asNode(item)).toReversed() : [value];
    for (const source of sources) {
      this.current = source ?? undefined;
      if (isAlias(source)) this.alias(source, (target) => this.mergeMap(object, target));
      else this.mergeMap(object, source);
    }
  }

  private mergeMap(object: JsonObject, map: Node | null): void {
    if (!isMap(map)) throw new Error("map merge requires map or sequence of maps as the value");
    this.depth += 1;
    if (this.depth > maxDepth) throw new Error(`exceeded max depth of ${maxDepth}`);
    this.fill(object, map);
    this.depth -= 1;
  }
}

/** What each alias stands for: the last node above it that carries the anchor. */
function targetsOf(document: Document): ReadonlyMap<Node, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  visit(document, {
    Node: (_key, node) => {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function asNode(value: unknown): Node | null {
  return isNode(value) ? value : null;
}

function unsupportedKey(): never {
  throw new Error("unsupported map key of type: null");
}

/** Go writes it with the digits of a 32-bit float. */
function keyOfFloat(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  const single = Math.fround(value);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find((count) => Math.fround(Number(single.toPrecision(count))) === single) ?? 9;
  const shortest = Number(single.toPrecision(digits));
  const [mantissa = "", exponent = "0"] = shortest.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(shortest);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

const typeOfTag: ReadonlyMap<string, string> = new Map(["bool", "int", "float", "null"].map((name) => [`tag:yaml.org,2002:${name}`, name]));

function goType(value: Scalar): string {
  if (value === null) return "null";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float";
  return typeof value === "boolean" ? "bool" : "str";
}

/** Source: decode.go: up to 400,000 values nearly all may come from aliases, from 4,000,000 on a tenth. */
function allowedAliasRatio(decoded: number): number {
  const low = 400_000;
  const high = 4_000_000;
  if (decoded <= low) return 0.99;
  return decoded >= high ? 0.1 : 0.99 - (0.89 * (decoded - low)) / (high - low);
}
