/** Manifest files: YAML and JSON, several documents and lists in one file, every object with its file and line. */
import { readdir, readFile, stat } from "node:fs/promises";
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
