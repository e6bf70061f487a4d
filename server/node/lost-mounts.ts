/**
 * Volumes that were set up and whose mount, or folder, somebody else took away since. A kubelet keeps no eye on this: it goes by what its
 * own operations did (pkg/kubelet/volumemanager/cache/actual_state_of_world.go of v1.37.2), and mounts again only for a new pod, after
 * its own restart, or at the next sync of a plugin that requires remounts. So does this node; it only says what is gone.
 */
import type { ActualState, PodMount, SetUpTrace } from "@/server/node/actual-state";
import type { PendingOperations } from "@/server/node/pending-operations";
import type { VolumeHost } from "@/server/volume/host";
import type { MountInfo } from "@/server/volume/mount";

export interface LostInput {
  readonly host: VolumeHost;
  readonly actual: Pick<ActualState, "mounts">;
  readonly operations: Pick<PendingOperations, "isRunning">;
}

export interface MountLook {
  readonly table: readonly MountInfo[];
  /** What is gone of each, in words. */
  readonly lost: ReadonlyMap<PodMount, string>;
}

/** undefined where it can't be looked at now: then nothing is ever said to be lost. `mountPoint`: where its mount is, if it has one. */
export async function traceOf(host: VolumeHost, path: string, mountPoint: string): Promise<SetUpTrace | undefined> {
  try {
    const table = await readTable(host);
    const isMounted = table.some((row) => row.mountPoint === mountPoint);
    return { mountPoint: isMounted ? mountPoint : undefined, hasPath: await isThere(host, path) };
  } catch (error) {
    host.ports.log.error("could not look at a volume after its set-up", error, { path });
    return undefined;
  }
}

/** One look at the mount table. A volume with an operation under way, or one that ended meanwhile, is not judged. */
export async function lookAtMounts({ host, actual, operations }: LostInput): Promise<MountLook> {
  const settled = () => actual.mounts().filter(({ certainty, uniqueName }) => certainty === "certain" && !operations.isRunning(uniqueName));
  const before = settled();
  const table = await readTable(host);
  const targets = new Set(table.map((row) => row.mountPoint));
  const judged = await Promise.all(before.map(async (mount) => [mount, await whyLost(host, targets, mount)] as const));
  const after = new Set(settled());
  return { table, lost: new Map(judged.flatMap(([mount, why]) => (why !== undefined && after.has(mount) ? [[mount, why] as const] : []))) };
}

async function whyLost(host: VolumeHost, targets: ReadonlySet<string>, { mode, path, trace }: PodMount): Promise<string | undefined> {
  if (!trace) return undefined;
  const { mountPoint, hasPath } = trace;
  if (mountPoint !== undefined && !targets.has(mountPoint)) return `nothing is mounted at ${mountPoint} any more`;
  // A mount is not looked into: its server may be gone.
  if (!hasPath || (mountPoint !== undefined && mode === "Filesystem")) return undefined;
  return (await isThere(host, path).catch(() => true)) ? undefined : `${path} is not there any more`;
}

async function isThere(host: VolumeHost, path: string): Promise<boolean> {
  return (await host.ports.files.lstat(path)) !== undefined;
}

async function readTable(host: VolumeHost): Promise<readonly MountInfo[]> {
  return (await host.getMounter()?.mountInfo()) ?? [];
}
