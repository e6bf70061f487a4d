/** Manifest files: YAML and JSON, several documents and lists in one file, every object with its file and line. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from "yaml";
import { AppError, codeOf, messageOf } from "@/lib/errors";
import { isObject, parseJson, type JsonObject } from "@/lib/kube/json";
import type { ManifestError } from "@/lib/manifests";

export interface ManifestObject {
  readonly file: string;
  /** Where the object begins. */
  readonly line: number;
  readonly object: JsonObject;
  /** The line of a field (`spec.volumes[0].name`), or the nearest line above it that is known. */
  lineOf(field: string): number;
}

export interface ManifestFile {
  readonly file: string;
  readonly objects: readonly ManifestObject[];
  readonly errors: readonly ManifestError[];
}

const maxFileBytes = 16 * 1024 * 1024;

/** Throws AppError `precondition` with a sentence for the person where no manifests can be read from the folder. */
export async function checkManifestFolder(folder: string): Promise<void> {
  try {
    await readdir(folder);
  } catch (error) {
    const why = whyNoFolder.get(codeOf(error) ?? "") ?? `can't be read: ${messageOf(error)}`;
    throw new AppError("precondition", `the manifests folder ${folder} ${why}`, { cause: error });
  }
}

const whyNoFolder: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "is not there"],
  ["ENOTDIR", "is not a folder"],
  ["EACCES", "may not be read by this user"],
]);

/** The manifest files of a folder, by name; files that start with a dot are an editor's. Throws where the folder cannot be read. */
export async function readManifestFolder(folder: string): Promise<ManifestFile[]> {
  const names = (await readdir(folder)).filter((name) => /^[^.].*\.(ya?ml|json)$/u.test(name)).sort();
  const files: ManifestFile[] = [];
  for (const name of names) files.push(await readManifestFile(folder, name));
  return files;
}

async function readManifestFile(folder: string, file: string): Promise<ManifestFile> {
  try {
    const place = path.join(folder, file);
    const { size } = await stat(place);
    if (size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`);
    return parseManifest(file, await readFile(place, "utf8"));
  } catch (error) {
    return { file, objects: [], errors: [{ file, line: 1, message: messageOf(error) }] };
  }
}

/** Never throws: what does not parse is in `errors`. A file with an error has no objects. */
export function parseManifest(file: string, text: string): ManifestFile {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, version: "1.2", strict: true, uniqueKeys: true, prettyErrors: false });
  const objects: ManifestObject[] = [];
  const errors: ManifestError[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    for (const error of document.errors) errors.push({ file, line: lines.linePos(error.pos[0]).line, message: error.message });
    if (document.errors.length > 0 || document.contents === null) continue;
    readNode({ file, lines, document }, document.contents, { objects, errors });
  }
  return { file, objects: errors.length > 0 ? [] : objects, errors };
}

interface Source {
  readonly file: string;
  readonly lines: LineCounter;
  readonly document: Document;
}

interface Found {
  readonly objects: ManifestObject[];
  readonly errors: ManifestError[];
}

function readNode(source: Source, node: Node, found: Found): void {
  const { file } = source;
  const line = lineAt(source, node);
  if (isScalar(node) && node.value === null) return;
  const object = toObject(source, node);
  if (object === undefined) {
    found.errors.push({ file, line, message: "an object is expected here" });
    return;
  }
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || apiVersion === "") found.errors.push({ file, line, message: "apiVersion is missing" });
  else if (typeof kind !== "string" || kind === "") found.errors.push({ file, line, message: "kind is missing" });
  else if (isList(kind, object)) readItems(source, node, found);
  else found.objects.push({ file, line, object, lineOf: (field) => lineOfField(source, node, field) });
}

function isList(kind: string, object: JsonObject): boolean {
  return kind.endsWith("List") && Array.isArray(object["items"]) && object["spec"] === undefined;
}

function readItems(source: Source, node: Node, found: Found): void {
  const items = isMap(node) ? node.get("items", true) : undefined;
  if (!isSeq(items)) return;
  for (const item of items.items) if (isMap(item) || isScalar(item) || isSeq(item)) readNode(source, item, found);
}

/** Through JSON, so that anchors, dates and the like become what a client would send. */
function toObject({ document }: Source, node: Node): JsonObject | undefined {
  const plain: unknown = node.toJS(document, { maxAliasCount: 100 });
  const value = parseJson(JSON.stringify(plain) ?? "null").value;
  return isObject(value) ? value : undefined;
}

function lineAt({ lines }: Source, node: Node): number {
  return lines.linePos(node.range?.[0] ?? 0).line;
}

function lineOfField(source: Source, node: Node, field: string): number {
  let current: Node = node;
  let line = lineAt(source, node);
  for (const part of field.split(/[.[\]]+/u).filter((name) => name !== "")) {
    const pair = isMap(current) ? current.items.find(({ key }) => isScalar(key) && String(key.value) === part) : undefined;
    const next = pair?.value ?? (isSeq(current) ? current.get(Number(part), true) : undefined);
    if (!isMap(next) && !isSeq(next) && !isScalar(next)) return line;
    current = next;
    line = isScalar(pair?.key) ? lineAt(source, pair.key) : lineAt(source, next);
  }
  return line;
}
