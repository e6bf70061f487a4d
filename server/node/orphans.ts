/**
 * Folders of pods that the API no longer knows. Below `volumes` nothing but empty folders is ever removed.
 * Source: pkg/kubelet/kubelet_volumes.go (cleanupOrphanedPodDirs) of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { joinPath } from "@/lib/go-path";
import type { KubeletVolumeHost } from "@/server/volume/host";

export interface Leftover {
  readonly podUID: string;
  readonly path: string;
  readonly why: string;
}

interface OrphanParts {
  readonly host: KubeletVolumeHost;
  /** Called with the name of every step that leaves a trace. */
  readonly point: (name: string) => void;
}

interface Known {
  /** Pods that the API knows, or that still have mounts. */
  readonly isKept: (podUID: string) => boolean;
  /** What stayed the last time: it is not said again. */
  readonly known: readonly Leftover[];
}

/** Removes what may be removed, and says of the rest why it stays. */
export async function removeOrphans(parts: OrphanParts, { isKept, known }: Known): Promise<readonly Leftover[]> {
  const { host } = parts;
  const { files, log } = host.ports;
  const podsDir = host.getPodsDir();
  const leftovers: Leftover[] = [];
  const entries = await files.readDir(podsDir).catch(() => []);
  for (const { name: podUID, kind } of entries) {
    if (kind !== "directory" || isKept(podUID)) continue;
    const path = joinPath(podsDir, podUID);
    const why = await removePodFolder(parts, podUID, path);
    if (why === undefined) continue;
    leftovers.push({ podUID, path, why });
    if (!known.some((each) => each.podUID === podUID && each.why === why)) log.warn("Orphaned pod found, but volumes are not cleaned up", { podUID, why });
  }
  return leftovers;
}

async function removePodFolder({ host, point }: OrphanParts, podUID: string, path: string): Promise<string | undefined> {
  const { files } = host.ports;
  const orphan = `orphaned pod ${goQuote(podUID)} found, but`;
  const mounted = (await host.getMounter()?.list())?.some((mount) => mount.path.startsWith(`${path}/`));
  if (mounted) return "Pod found, but volumes are still mounted on disk";
  try {
    await removeEmptyTree(host, joinPath(path, "volumes"));
  } catch (error) {
    return `${orphan} failed to rmdir() volume: ${messageOf(error)}`;
  }
  point("orphan-after-volumes");
  try {
    for (const { name } of await files.readDir(path)) await files.removeAll(joinPath(path, name));
    await files.rmdir(path);
    point("orphan-after-folder");
    return undefined;
  } catch (error) {
    return codeOf(error) === "ENOENT" ? undefined : `${orphan} error occurred when trying to remove the pod directory: ${messageOf(error)}`;
  }
}

/** plugin folders and volume folders, two levels deep. */
async function removeEmptyTree({ ports: { files } }: KubeletVolumeHost, volumes: string): Promise<void> {
  if (!(await files.lstat(volumes))) return;
  for (const plugin of await files.readDir(volumes)) {
    const dir = joinPath(volumes, plugin.name);
    for (const volume of await files.readDir(dir)) await files.rmdir(joinPath(dir, volume.name));
    await files.rmdir(dir);
  }
  await files.rmdir(volumes);
}
