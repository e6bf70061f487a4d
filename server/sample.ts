/** The sample that a first start shows: copied into the data folder once, and from then on the person's own. */
import { constants, copyFile, chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "@/lib/errors";

/**
 * Copies manifests and FlexVolume drivers of the sample (below `project`) into the data folder. What is there already is
 * left alone, an emptied folder too.
 */
export async function copySample(project: string, dataFolder: string): Promise<void> {
  for (const part of ["manifests", "flexvolume"]) {
    const target = join(dataFolder, part);
    if (!(await exists(target))) await copyFolder(join(project, "deploy/sample", part), target);
  }
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

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
