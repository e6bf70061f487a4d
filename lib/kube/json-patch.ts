/**
 * JSON Patch (RFC 6902) as the API server applies it: on raw texts, level by level, so that a `test` compares spellings and objects
 * that were reached come out with sorted keys. Source: gopkg.in/evanphx/json-patch.v4, patch.go.
 */
import { messageOf } from "@/lib/errors";
import { goJson, goQuote } from "@/lib/go-text";
import { compareText } from "@/lib/names";
import { isObject, jsonKind, parseJson, splitJson, stringifyJson, type Json } from "./json";

/** A patch that does not decode (`bad-patch`) or does not apply (`patch-failed`); the message is Go's. */
export class JsonPatchError extends Error {
  constructor(
    readonly code: "bad-patch" | "patch-failed",
    message: string,
  ) {
    super(message);
  }
}

export type PatchOperation = ReadonlyMap<string, string>;

/** The operations, each with its members in raw text. Throws JsonPatchError `bad-patch`. */
export function decodeJsonPatch(text: string): PatchOperation[] {
  const fail = (message: string): never => {
    throw new JsonPatchError("bad-patch", message);
  };
  const parse = (): Json => {
    try {
      return parseJson(text).value;
    } catch (error) {
      return fail(messageOf(error));
    }
  };
  const value = parse();
  if (value === null) return [];
  if (!Array.isArray(value)) return fail(`json: cannot unmarshal ${jsonKind(value)} into Go value of type jsonpatch.Patch`);
  const level = splitJson(text);
  return (level?.kind === "array" ? level.items : []).map((item, index) => {
    const members = splitJson(item);
    const operation = value[index] ?? null;
    if (operation !== null && !isObject(operation)) return fail(`json: cannot unmarshal ${jsonKind(operation)} into Go value of type jsonpatch.Operation`);
    return members?.kind === "object" ? members.members : new Map<string, string>();
  });
}

/** Applies the operations to the text of an object; returns the text of the result. Throws JsonPatchError `patch-failed`. */
export function applyJsonPatch(document: string, operations: readonly PatchOperation[]): string {
  const work = new Work(document);
  for (const operation of operations) work.apply(operation);
  return work.text();
}

/** A value: raw text, or a level that was opened. `undefined` stands for null. */
type Node = { kind: "raw"; text: string } | Container | undefined;
type Container = { kind: "object"; members: Map<string, Node> } | { kind: "array"; items: Node[] };

function rawNode(text: string): Node {
  return text === "null" ? undefined : { kind: "raw", text };
}

/** The level behind a node, or undefined where it is a scalar. */
function open(node: Node): Container | undefined {
  if (node === undefined) return undefined;
  if (node.kind !== "raw") return node;
  const level = splitJson(node.text);
  if (level === undefined) return undefined;
  if (level.kind === "array") return { kind: "array", items: level.items.map(rawNode) };
  return { kind: "object", members: new Map([...level.members].map(([key, text]) => [key, rawNode(text)])) };
}

function write(node: Node): string {
  if (node === undefined) return "null";
  if (node.kind === "raw") return stringifyJson(parseJson(node.text).value);
  if (node.kind === "array") return `[${node.items.map(write).join(",")}]`;
  const members = [...node.members].sort(([a], [b]) => compareText(a, b));
  return `{${members.map(([key, item]) => `${goJson(key)}:${write(item)}`).join(",")}}`;
}

const missing = "missing value";

function failed(message: string): JsonPatchError {
  return new JsonPatchError("patch-failed", message);
}

class Work {
  private root: Container;

  constructor(document: string) {
    const root = open({ kind: "raw", text: document });
    if (root === undefined) throw failed("Invalid JSON Document");
    this.root = root;
  }

  text(): string {
    return write(this.root);
  }

  apply(operation: PatchOperation): void {
    const kind = this.member(operation, "op") ?? "unknown";
    const verbs: Readonly<Record<string, (operation: PatchOperation) => void>> = {
      add: (op) => this.add(op),
      remove: (op) => this.remove(op),
      replace: (op) => this.replace(op),
      move: (op) => this.move(op),
      test: (op) => this.test(op),
      copy: (op) => this.copy(op),
    };
    const verb = Object.hasOwn(verbs, kind) ? verbs[kind] : undefined;
    if (verb === undefined) throw failed(`Unexpected kind: ${kind}`);
    verb(operation);
  }

  private add(operation: PatchOperation): void {
    const path = this.pathOr(operation, `add operation failed to decode path: ${missing}`);
    const place = this.find(path);
    if (place === undefined) throw failed(`add operation does not apply: doc is missing path: "${path}": ${missing}`);
    wrap(`error in add for path: '${path}'`, () => addTo(place, valueOf(operation)));
  }

  private remove(operation: PatchOperation): void {
    const path = this.pathOr(operation, `remove operation failed to decode path: ${missing}`);
    const place = this.find(path);
    if (place === undefined) throw failed(`remove operation does not apply: doc is missing path: "${path}": ${missing}`);
    wrap(`error in remove for path: '${path}'`, () => removeFrom(place));
  }

  private replace(operation: PatchOperation): void {
    const path = this.pathOr(operation, `replace operation failed to decode path: ${pathProblem(operation)}`);
    if (path === "") {
      const value = open(valueOf(operation));
      if (value === undefined) throw failed("replace operation value must be object or array: %!w(<nil>)");
      this.root = value;
      return;
    }
    const place = this.find(path);
    if (place === undefined) throw failed(`replace operation does not apply: doc is missing path: ${path}: ${missing}`);
    try {
      getFrom(place);
    } catch {
      throw failed(`replace operation does not apply: doc is missing key: ${path}: ${missing}`);
    }
    wrap(`error in remove for path: '${path}'`, () => setIn(place, valueOf(operation)));
  }

  private move(operation: PatchOperation): void {
    const from = this.fromOr(operation, "move");
    const source = this.find(from);
    if (source === undefined) throw failed(`move operation does not apply: doc is missing from path: ${from}: ${missing}`);
    const value = wrap(`error in move for path: '${source.key}'`, () => getFrom(source));
    wrap(`error in move for path: '${source.key}'`, () => removeFrom(source));
    const path = this.pathOr(operation, `move operation failed to decode path: ${pathProblem(operation)}`);
    const place = this.find(path);
    if (place === undefined) throw failed(`move operation does not apply: doc is missing destination path: ${path}: ${missing}`);
    wrap(`error in move for path: '${path}'`, () => addTo(place, value));
  }

  private copy(operation: PatchOperation): void {
    const from = this.fromOr(operation, "copy");
    const source = this.find(from);
    if (source === undefined) throw failed(`copy operation does not apply: doc is missing from path: ${from}: ${missing}`);
    const value = wrap(`error in copy for from: '${from}'`, () => getFrom(source));
    const path = this.pathOr(operation, `copy operation failed to decode path: ${missing}`);
    const place = this.find(path);
    if (place === undefined) throw failed(`copy operation does not apply: doc is missing destination path: ${path}: ${missing}`);
    wrap("error while adding value during copy", () => addTo(place, value === undefined ? undefined : { kind: "raw", text: write(value) }));
  }

  private test(operation: PatchOperation): void {
    const path = this.pathOr(operation, `test operation failed to decode path: ${pathProblem(operation)}`);
    const wanted = valueOf(operation);
    if (path === "") {
      if (!sameNode(this.root, wanted)) throw failed(`testing value ${path} failed: test failed`);
      return;
    }
    const place = this.find(path);
    if (place === undefined) throw failed(`test operation does not apply: is missing path: ${path}: ${missing}`);
    const value = wrap(`error in test for path: '${path}'`, () => getFrom(place));
    if (!sameNode(value, wanted)) throw failed(`testing value ${path} failed: test failed`);
  }

  private member(operation: PatchOperation, name: string): string | undefined {
    const raw = operation.get(name);
    if (raw === undefined || raw === "null") return undefined;
    const { value } = parseJson(raw);
    return typeof value === "string" ? value : undefined;
  }

  private pathOr(operation: PatchOperation, message: string): string {
    const path = this.member(operation, "path");
    if (path === undefined) throw failed(message);
    return path;
  }

  private fromOr(operation: PatchOperation, verb: string): string {
    const from = this.member(operation, "from");
    if (from !== undefined) return from;
    const raw = operation.get("from");
    const why = raw === undefined || raw === "null" ? `operation, missing from field: ${missing}` : notText(raw);
    throw failed(`${verb} operation failed to decode from: ${why}`);
  }

  /** The container that holds the last part of a path, opened on the way. */
  private find(path: string): Place | undefined {
    const parts = path.split("/");
    if (parts.length < 2) return undefined;
    let container = this.root;
    for (const part of parts.slice(1, -1)) {
      const next = child({ container, key: unescape(part) });
      if (next === undefined) return undefined;
      container = next;
    }
    return { container, key: unescape(parts.at(-1) ?? "") };
  }
}

interface Place {
  readonly container: Container;
  readonly key: string;
}

function unescape(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function valueOf(operation: PatchOperation): Node {
  return rawNode(operation.get("value") ?? "null");
}

function pathProblem(operation: PatchOperation): string {
  const raw = operation.get("path");
  return raw === undefined || raw === "null" ? `operation missing path field: ${missing}` : notText(raw);
}

function notText(raw: string): string {
  return `json: cannot unmarshal ${jsonKind(parseJson(raw).value)} into Go value of type string`;
}

function wrap<T>(where: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw failed(`${where}: ${messageOf(error)}`);
  }
}

/** The opened level at a place; it replaces the raw text there. */
function child(place: Place): Container | undefined {
  let node: Node;
  try {
    node = getFrom(place);
  } catch {
    return undefined;
  }
  const opened = open(node);
  if (opened !== undefined) setIn(place, opened);
  return opened;
}

function index(key: string, length: number): number {
  const number = atoi(key);
  const at = number < 0 ? number + length : number;
  if (at < 0 || at >= length) throw new Error(`Unable to access invalid index: ${number}: invalid index referenced`);
  return at;
}

function atoi(key: string): number {
  if (!/^[+-]?[0-9]+$/u.test(key)) throw new Error(`strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`);
  return Number(key);
}

function getFrom({ container, key }: Place): Node {
  return container.kind === "object" ? container.members.get(key) : container.items[index(key, container.items.length)];
}

function setIn({ container, key }: Place, value: Node): void {
  if (container.kind === "object") container.members.set(key, value);
  else container.items[index(key, container.items.length)] = value;
}

function addTo({ container, key }: Place, value: Node): void {
  if (container.kind === "object") {
    container.members.set(key, value);
    return;
  }
  if (key === "-") {
    container.items.push(value);
    return;
  }
  try {
    atoi(key);
  } catch (error) {
    throw new Error(`value was not a proper array index: '${key}': ${messageOf(error)}`, { cause: error });
  }
  container.items.splice(index(key, container.items.length + 1), 0, value);
}

function removeFrom({ container, key }: Place): void {
  if (container.kind === "array") {
    container.items.splice(index(key, container.items.length), 1);
    return;
  }
  if (!container.members.has(key)) throw new Error(`Unable to remove nonexistent key: ${key}: ${missing}`);
  container.members.delete(key);
}

/** Scalars are equal when they are spelled alike. */
function sameNode(a: Node, b: Node): boolean {
  if (a === undefined || b === undefined) return a === b;
  const left = open(a);
  const right = open(b);
  if (left === undefined || right === undefined) {
    return left === right && a.kind === "raw" && b.kind === "raw" && a.text === b.text;
  }
  if (left.kind === "array" || right.kind === "array") {
    if (left.kind !== "array" || right.kind !== "array") return false;
    return left.items.length === right.items.length && left.items.every((item, at) => sameNode(item, right.items[at]));
  }
  if (left.members.size !== right.members.size) return false;
  return [...left.members].every(([key, item]) => right.members.has(key) && sameNode(item, right.members.get(key)));
}
