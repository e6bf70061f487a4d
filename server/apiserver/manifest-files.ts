/** Manifest files: YAML and JSON, several documents and lists in one file, every object with its file and line. */
import { constants, type Stats } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { AppError, codeOf, messageOf } from "@/lib/errors";
import { isObject, type Json, type JsonObject } from "@/lib/kube/json";
import type { ManifestError } from "@/lib/manifests";
import type { YamlDocument } from "./yaml";
import { readYamlStream } from "./yaml-stream";

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

/** Reads a folder again and again; a file whose text is the same is not parsed again. */
export class ManifestFolder {
  private known: ReadonlyMap<string, Known> = new Map();

  constructor(private readonly folder: string) {}

  /**
   * The manifest files, by name; files that start with a dot are an editor's. Links are followed, and what is no regular file then is an
   * error of its own. `changed`: something differs from the last time. Throws where the folder cannot be read.
   */
  async read(): Promise<{ readonly files: readonly ManifestFile[]; readonly changed: boolean }> {
    const names = (await readdir(this.folder)).filter((name) => /^[^.].*\.(ya?ml|json)$/u.test(name)).sort();
    const now = new Map<string, Known>();
    for (const name of names) now.set(name, await readKnown(path.join(this.folder, name), name, this.known.get(name)));
    const changed = now.size !== this.known.size || [...now].some(([name, known]) => known !== this.known.get(name));
    this.known = now;
    return { files: [...now.values()].map(({ file }) => file), changed };
  }
}

interface Known {
  /** undefined where it could not be read. */
  readonly text: string | undefined;
  readonly file: ManifestFile;
}

async function readKnown(place: string, name: string, before: Known | undefined): Promise<Known> {
  try {
    const text = await readRegularFile(place);
    return before?.text === text ? before : { text, file: parseManifest(name, text) };
  } catch (error) {
    return { text: undefined, file: { file: name, objects: [], errors: [{ file: name, line: 1, message: messageOf(error) }] } };
  }
}

/** A pipe or a device is not opened: that may wait for ever, or do something */
async function readRegularFile(place: string): Promise<string> {
  checkRegular(await stat(place));
  const handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    checkRegular(await handle.stat());
    return manifestText(await handle.readFile());
  } finally {
    await handle.close();
  }
}

function checkRegular(stats: Stats): void {
  if (!stats.isFile()) throw new Error(`this is ${stats.isDirectory() ? "a folder" : "no regular file"}; manifests are read from files`);
  if (stats.size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`);
}

/** UTF-8, or what the byte order mark says, as kubectl reads a file. */
export function manifestText(bytes: Uint8Array): string {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/** Never throws: what does not parse is in `errors`. A file with an error has no objects. */
export function parseManifest(file: string, text: string): ManifestFile {
  const objects: ManifestObject[] = [];
  const errors: ManifestError[] = [];
  for (const document of readYamlStream(text)) {
    const wrong = [...document.errors, ...document.repeated];
    for (const { line, message } of wrong) errors.push({ file, line, message });
    if (wrong.length === 0 && document.value !== null) readValue({ file, document, at: "" }, document.value, { objects, errors });
  }
  return { file, objects: errors.length > 0 ? [] : objects, errors };
}

interface Source {
  readonly file: string;
  readonly document: YamlDocument;
  /** The field of the document that holds the object: empty, or `items[2].`. */
  readonly at: string;
}

interface Found {
  readonly objects: ManifestObject[];
  readonly errors: ManifestError[];
}

function readValue({ file, document, at }: Source, object: Json, found: Found): void {
  const line = document.lineOf(at);
  if (!isObject(object)) {
    found.errors.push({ file, line, message: "an object is expected here" });
    return;
  }
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || apiVersion === "") found.errors.push({ file, line, message: "apiVersion is missing" });
  else if (typeof kind !== "string" || kind === "") found.errors.push({ file, line, message: "kind is missing" });
  else if (!isList(kind, object)) found.objects.push({ file, line, object, lineOf: (field) => document.lineOf(at + field) });
  else itemsOf(object).forEach((item, index) => readValue({ file, document, at: `${at}items[${index}].` }, item, found));
}

function isList(kind: string, object: JsonObject): boolean {
  return kind.endsWith("List") && Array.isArray(object["items"]) && object["spec"] === undefined;
}

function itemsOf(object: JsonObject): readonly Json[] {
  const items = object["items"];
  return Array.isArray(items) ? items : [];
}
