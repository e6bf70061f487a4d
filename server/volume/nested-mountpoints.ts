/**
 * Directories inside a data volume on which the runtime mounts another volume of the same container. The volume is read-only for it, so they
 * are made beforehand. Source: pkg/volume/util/nested_volumes.go (MakeNestedMountpoints) of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { cleanPath } from "@/lib/go-path";
import type { Container, Pod } from "@/lib/kube/pods";
import { compareText } from "@/lib/names";
import { VolumeError } from "@/server/volume/errors";
import type { Files } from "@/server/volume/ports";

export interface NestedVolume {
  readonly name: string;
  /** Where the volume lies on the host. */
  readonly dir: string;
  readonly pod: Pod;
}

/** Throws VolumeError for a mount path that leaves the container's root, and when a directory can't be made. */
export async function makeNestedMountpoints(files: Files, { name, dir, pod }: NestedVolume): Promise<void> {
  for (const nested of nestedMountpoints(name, pod)) {
    try {
      await files.mkdirAll(`${dir}/${nested}`, 0o755);
    } catch (error) {
      throw new VolumeError(`unable to create nested volume mountpoints: ${messageOf(error)}`, "volume-error", error);
    }
  }
}

/** Paths below the volume, of init containers first; per mount of the volume only the first level is there. */
export function nestedMountpoints(volumeName: string, pod: Pod): readonly string[] {
  return [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].flatMap((container) => ofContainer(volumeName, container));
}

function ofContainer(volumeName: string, container: Container): readonly string[] {
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath }) => ({ name, path: cleanPath(mountPath) }));
  const paths = mounts.map(({ path }) => path).sort(compareText);
  return mounts.filter(({ name }) => name === volumeName).flatMap(({ path }) => directlyBelow(path, paths));
}

function directlyBelow(mountPath: string, sortedPaths: readonly string[]): readonly string[] {
  if (mountPath.startsWith("../")) throw new VolumeError(`invalid container mount point ${mountPath}`);
  const first: string[] = [];
  for (const path of sortedPaths) {
    if (path.startsWith(`${mountPath}/`) && !first.some((found) => path.startsWith(`${found}/`))) first.push(path);
  }
  return first.map((path) => path.slice(mountPath.length + 1));
}
