/**
 * The sample that a first start shows: copied into the data folder once, and from then on the person's own. A record of what was copied
 * tells later what is as it came, whatever sample a newer version brings.
 */
import { createHash } from "node:crypto";
import { constants, copyFile, chmod, lstat, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { codeOf } from "@/lib/errors";

/** Folders of the data folder that a person edits. */
export const sampleParts = ["manifests", "flexvolume"] as const;
export const sampleRecordName = ".voldeck-sample";
/** SHA-256 of each file, by its path in the data folder. */
const recordSchema = z.record(z.string(), z.string());

/** A file, link or whatever else in the folders of the sample that did not come with it, or not so. */
export interface EditedFile {
  /** Absolute. */
  readonly path: string;
  readonly edit: "changed" | "added";
}

/**
 * Copies manifests and FlexVolume drivers of the sample (below `project`) into the data folder. What is there already is
 * left alone, an emptied folder too.
 */
export async function copySample(project: string, dataFolder: string): Promise<void> {
  for (const part of sampleParts) {
    const [source, target] = [join(project, "deploy/sample", part), join(dataFolder, part)];
    if (await exists(target)) continue;
    // First what comes, then the copy: a copy that is cut short is an edit, which is kept.
    await record(dataFolder, await hashesBelow(source, part));
    await copyFolder(source, target);
  }
}

/** What a person changed or added in the folders of the sample, sorted; no link is followed. */
export async function editedSample(dataFolder: string): Promise<readonly EditedFile[]> {
  const known = await readRecord(dataFolder);
  const edited: EditedFile[] = [];
  const look = async (name: string): Promise<void> => {
    const path = join(dataFolder, name);
    const found = await lstat(path);
    if (found.isDirectory()) {
      for (const entry of (await readdir(path)).sort()) await look(join(name, entry));
      return;
    }
    // What can't be read can't be told to be as it came.
    const hash = found.isFile() ? await hashOf(path).catch(() => undefined) : undefined;
    if (hash === undefined || known[name] !== hash) edited.push({ path, edit: Object.hasOwn(known, name) ? "changed" : "added" });
  };
  for (const part of sampleParts) if (await exists(join(dataFolder, part), lstat)) await look(part);
  return edited;
}

async function record(dataFolder: string, hashes: Readonly<Record<string, string>>): Promise<void> {
  const path = join(dataFolder, sampleRecordName);
  await writeFile(`${path}.new`, `${JSON.stringify({ ...(await readRecord(dataFolder)), ...hashes })}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Without a record that can be read nothing is known to be as it came. */
async function readRecord(dataFolder: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(dataFolder, sampleRecordName), "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return "{}";
    throw error;
  });
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

async function hashesBelow(folder: string, name: string): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [path, named] = [join(folder, entry.name), join(name, entry.name)];
    if (entry.isDirectory()) Object.assign(hashes, await hashesBelow(path, named));
    else hashes[named] = await hashOf(path);
  }
  return hashes;
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256").update(await readFile(path)).digest("hex");
}

/** Into a new folder, whatever the umask of the checkout: a driver that others may write to would not be run. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    else await copyWithMode(source, target);
  }
}

async function copyWithMode(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  await copyFile(source, target, constants.COPYFILE_EXCL);
  await chmod(target, (mode & 0o100) === 0 ? 0o644 : 0o755);
}

async function exists(path: string, look: (path: string) => Promise<unknown> = stat): Promise<boolean> {
  try {
    await look(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
