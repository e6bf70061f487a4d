/** Files of the payload volumes: content, mode and owner. Source: MakePayload and CollectData of v1.37.2. */
import { codeOf } from "@/lib/errors";
import type { KeyToPath } from "@/lib/kube/volumes";
import type { FileProjection, Payload } from "@/server/volume/atomic-writer";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeFeatures } from "@/server/volume/plugins/features";

/** What holds for a file that says nothing itself. */
export interface FileDefaults {
  readonly mode: number;
  /** Absent unless the gate AtomicWriteVolumeUserFields is on. */
  readonly user?: number;
  /** Whether a file's own `user` counts. */
  readonly usersCount: boolean;
}

/** Throws VolumeError without a mode: the API server sets one, so a volume without it never passed there. */
export function fileDefaults(source: { defaultMode?: number; defaultUser?: number }, features: VolumeFeatures | undefined): FileDefaults {
  if (source.defaultMode === undefined) throw new VolumeError("no defaultMode used, not even the default value for it");
  const usersCount = features?.atomicWriteVolumeUserFields ?? false;
  return { mode: source.defaultMode, usersCount, ...(usersCount && { user: source.defaultUser }) };
}

export function fileOf(data: Uint8Array | string, own: { mode?: number; user?: number }, defaults: FileDefaults): FileProjection {
  const fsUser = userOf(own.user, defaults);
  return { data, mode: own.mode ?? defaults.mode, ...(fsUser !== undefined && { fsUser }) };
}

export function userOf(own: number | undefined, defaults: FileDefaults): number | undefined {
  return (defaults.usersCount ? own : undefined) ?? defaults.user;
}

export interface KeyedData {
  readonly values: ReadonlyMap<string, Uint8Array | string>;
  /** Only these, when any are listed. */
  readonly items: readonly KeyToPath[] | undefined;
  readonly optional: boolean;
  /** The text for a listed key that is not there. */
  readonly missing: (key: string) => string;
}

/** The files of a config map or a secret. Throws VolumeError for a listed key that is missing and not optional. */
export function keyedPayload({ values, items, optional, missing }: KeyedData, defaults: FileDefaults): Payload {
  if (!items?.length) return new Map([...values].map(([key, data]) => [key, fileOf(data, {}, defaults)]));
  const payload = new Map<string, FileProjection>();
  for (const item of items) {
    const data = values.get(item.key);
    if (data !== undefined) payload.set(item.path, fileOf(data, item, defaults));
    else if (!optional) throw new VolumeError(missing(item.key));
  }
  return payload;
}

/** The object, or nothing where it is optional and not there. */
export async function getOptional<T>(optional: boolean, get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    if (optional && codeOf(error) === "not-found") return undefined;
    throw error;
  }
}
