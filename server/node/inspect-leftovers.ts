/**
 * What seems left over on a node, from the disk and the mount table alone. It is evidence, not a verdict: a pod that is just starting
 * looks the same for a moment, so nothing here says that anything may be deleted.
 */
import { messageOf } from "@/lib/errors";
import { dirName, joinPath } from "@/lib/go-path";
import type { ReportedLeftover } from "@/lib/node-report";
import type { LookedAt } from "@/server/node/inspect";
import { isAtOrBelow, type MountRows } from "@/server/node/mount-rows";
import { namesOf, type OnUnread } from "@/server/node/reconstruct";
import type { KubeletVolumeHost } from "@/server/volume/host";
import { escapeQualifiedName } from "@/server/volume/paths";
import { csiPluginName } from "@/server/volume/plugins/csi/source";
import { isMissingVolumeData, loadVolumeData } from "@/server/volume/plugins/csi/volume-data";

export interface LeftoverInput {
  readonly host: KubeletVolumeHost;
  readonly rows: MountRows;
  readonly looked: readonly LookedAt[];
  /** Targets of the mounts that belong to a volume. */
  readonly shown: ReadonlySet<string>;
  readonly onUnread: OnUnread;
}

export async function findLeftovers(input: LeftoverInput): Promise<readonly ReportedLeftover[]> {
  return [...inPods(input), ...globalMounts(input), ...(await stagedData(input)), ...(await deviceData(input))];
}

/** A pod with nothing mounted at all, as one line; else its volumes with nothing behind them. */
function inPods({ host, rows, looked }: LeftoverInput): readonly ReportedLeftover[] {
  return [...Map.groupBy(looked, ({ volume }) => volume.podUID)].flatMap(([podUID, volumes]) => {
    const idle = volumes.flatMap(({ volume, idle: why }) => (why === undefined ? [] : [{ podUID, path: volume.path, why }]));
    if (idle.length < volumes.length || rows.ofPod(podUID).length > 0) return idle;
    const [only] = idle;
    const why = idle.length === 1 && only ? `of its one volume: ${only.why}` : `nothing stands behind its ${idle.length} volumes`;
    return [{ podUID, path: joinPath(host.getPodsDir(), podUID), why }];
  });
}

function globalMounts({ host, rows, shown }: LeftoverInput): readonly ReportedLeftover[] {
  const base = host.getPluginDir("kubernetes.io");
  const targets = new Set(rows.ofPlugins.map((row) => row.mountPoint).filter((target) => isAtOrBelow(target, base) && !shown.has(target)));
  return [...targets].map((path) => ({ path, why: "mounted, and no volume in a pod's folder uses it" }));
}

/** Folders where CSI volumes were staged, `<driver>/<hash>`. Those with a mount were told above. */
async function stagedData(input: LeftoverInput): Promise<readonly ReportedLeftover[]> {
  const { host, looked, onUnread } = input;
  const base = host.getPluginDir(csiPluginName);
  const used = new Set(looked.flatMap(({ volume }) => (volume.deviceMountPath === undefined ? [] : [dirName(volume.deviceMountPath)])));
  const found: ReportedLeftover[] = [];
  for (const driver of await namesOf(host.ports.files, base, { kind: "directory", onUnread })) {
    if (driver === "volumeDevices") continue;
    for (const name of await namesOf(host.ports.files, joinPath(base, driver), { kind: "directory", onUnread })) {
      const path = joinPath(base, driver, name);
      if (used.has(path) || isMountedBelow(input, path)) continue;
      found.push({ path, why: `nothing is staged there${await volumeIn(host, path)}` });
    }
  }
  return found;
}

/** Folders of raw block volumes, by the escaped name of the volume. */
async function deviceData(input: LeftoverInput): Promise<readonly ReportedLeftover[]> {
  const { host, looked, onUnread } = input;
  const base = host.getVolumeDevicePluginDir(csiPluginName);
  const block = looked.filter(({ volume }) => volume.mode === "Block" && volume.pluginName === csiPluginName);
  const used = new Set(["staging", "publish", ...block.map(({ volume }) => escapeQualifiedName(volume.specName))]);
  const found: ReportedLeftover[] = [];
  for (const name of await namesOf(host.ports.files, base, { kind: "directory", onUnread })) {
    const path = joinPath(base, name);
    if (used.has(name) || isMountedBelow(input, path)) continue;
    found.push({ path, why: `no pod maps it${await volumeIn(host, joinPath(path, "data"))}` });
  }
  return found;
}

function isMountedBelow({ rows }: LeftoverInput, path: string): boolean {
  return rows.ofPlugins.some((row) => isAtOrBelow(row.mountPoint, path));
}

/** What the data file in a folder names, as the end of a sentence. */
async function volumeIn(host: KubeletVolumeHost, dir: string): Promise<string> {
  try {
    const { driverName, volumeHandle } = await loadVolumeData(host.ports.files, dir);
    return `; its vol_data.json names volume ${volumeHandle} of driver ${driverName}`;
  } catch (error) {
    return isMissingVolumeData(error) ? "" : `; ${messageOf(error)}`;
  }
}
