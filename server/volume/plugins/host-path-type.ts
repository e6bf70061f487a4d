/** Checks what lies at a host path. Source: pkg/volume/hostpath/host_path.go (checkType) of v1.37.2. */
import { codeOf, messageOf } from "@/lib/errors";
import { baseName, dirName, joinPath } from "@/lib/go-path";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { HostFileType, HostUtils } from "@/server/volume/mount";
import type { Files } from "@/server/volume/ports";

interface WantedType {
  readonly type: HostFileType;
  /** As errors call it. */
  readonly name: string;
  /** Makes what is missing. */
  readonly create?: (files: Files, path: string) => Promise<void>;
}

async function makeDirectory(files: Files, path: string): Promise<void> {
  try {
    await files.mkdirAll(joinPath(await resolve(files, dirName(path)), baseName(path)), 0o755);
  } catch (error) {
    // A link that points nowhere is there, and the real one leaves it at that.
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

async function makeFile(files: Files, path: string): Promise<void> {
  await files.createFile(await resolve(files, path), 0o644);
}

/** Where a path leads though its end is missing: the host itself follows no link when it makes something. */
async function resolve(files: Files, path: string): Promise<string> {
  const parent = dirName(path);
  const stat = await files.lstat(path).catch(() => undefined);
  if (stat?.kind === "symlink") {
    const target = await files.readLink(path);
    return resolve(files, target.startsWith("/") ? target : joinPath(await resolve(files, parent), target));
  }
  if (stat || parent === path) return stat ? files.realPath(path) : path;
  return joinPath(await resolve(files, parent), baseName(path));
}

const wantedTypes: ReadonlyMap<string, WantedType> = new Map([
  ["DirectoryOrCreate", { type: "Directory", name: "directory", create: makeDirectory }],
  ["Directory", { type: "Directory", name: "directory" }],
  ["FileOrCreate", { type: "File", name: "file", create: makeFile }],
  ["File", { type: "File", name: "file" }],
  ["Socket", { type: "Socket", name: "socket file" }],
  ["CharDevice", { type: "CharDevice", name: "character device" }],
  ["BlockDevice", { type: "BlockDevice", name: "block device" }],
]);

export interface HostPathTools {
  readonly files: Files;
  readonly hostUtils: HostUtils;
}

/** Throws VolumeError when something else lies there, or nothing that may be made. The type "" asks for nothing. */
export async function checkHostPathType(tools: HostPathTools, path: string, pathType: string): Promise<void> {
  if (pathType === "") return;
  const wanted = wantedTypes.get(pathType);
  if (!wanted) throw new VolumeError(`${pathType} is an invalid volume type`);
  if (wanted.create && (await isMissing(tools.hostUtils, path)) && (await isMade(() => wanted.create?.(tools.files, path)))) return;

  const found = await tools.hostUtils.getFileType(path).catch((error: unknown) => {
    throw wrap(`hostPath type check failed, ${path} is not a ${wanted.name}, unable to determine its type: ${messageOf(error)}`, error);
  });
  if (found !== wanted.type) throw new VolumeError(`hostPath type check failed: ${path} is not a ${wanted.name}, it's a ${found}`);
}

/** False when something came there meanwhile, which is left as it is. */
async function isMade(make: () => Promise<void> | undefined): Promise<boolean> {
  try {
    await make();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Only what is surely missing is made. */
async function isMissing(hostUtils: HostUtils, path: string): Promise<boolean> {
  try {
    return !(await hostUtils.pathExists(path));
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}
