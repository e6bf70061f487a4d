/**
 * The report of a node that is only looked at: what lies below a kubelet's root and in the mount table, with no API beside it. Works
 * over the ports, and calls none that changes anything.
 */
import { messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import type { NodeReport, ReportedDataFile, ReportedLeftover, ReportedVolume } from "@/lib/node-report";
import { listFlexDrivers, listPluginSockets } from "@/server/node/inspect-drivers";
import { findLeftovers } from "@/server/node/inspect-leftovers";
import { isAtOrBelow, MountRows } from "@/server/node/mount-rows";
import { constructSpec, globalPathOf, namesOf, scanPodFolders, sharesDevice, type FoundFolder } from "@/server/node/reconstruct";
import { reportedMount, reportedStats, type Stats } from "@/server/node/report";
import { sharedName } from "@/server/node/resolve-volume";
import { wrap } from "@/server/volume/errors";
import type { KubeletVolumeHost } from "@/server/volume/host";
import { newMetricsStatFS } from "@/server/volume/metrics";
import type { MountInfo } from "@/server/volume/mount";
import { escapeQualifiedName } from "@/server/volume/paths";
import { isBlockPlugin, type VolumePlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { blockPaths } from "@/server/volume/plugins/csi/names";
import { csiPluginName } from "@/server/volume/plugins/csi/source";
import { isMissingVolumeData, loadVolumeData } from "@/server/volume/plugins/csi/volume-data";
import { isReady } from "@/server/volume/ready-marker";
import type { Spec } from "@/server/volume/spec";
import { getUniqueVolumeNameFromSpecWithPod } from "@/server/volume/unique-name";

export interface InspectInput {
  readonly host: KubeletVolumeHost;
  /** With the kubelet's plugins and no prober: drivers are listed, never run. */
  readonly manager: VolumePluginManager;
  /** Without links, as the mount table has it. */
  readonly root: string;
  readonly flexVolumeDir: string;
}

/** A volume with the evidence that is not part of the report. */
export interface LookedAt {
  readonly volume: ReportedVolume;
  /** Why it seems left over, where it does. */
  readonly idle: string | undefined;
}

/** What one look shares between its volumes. */
interface Look extends InspectInput {
  readonly rows: MountRows;
  readonly flexDrivers: NodeReport["flexDrivers"];
}

const emptyDirName = "kubernetes.io/empty-dir";
/** A volume of these is a plain folder, unless it asked for memory; its ready marker says that it was set up. */
const plainFolders: ReadonlySet<string> = new Set([emptyDirName, "kubernetes.io/git-repo", "kubernetes.io/configmap"]);
/** Calls under way at once; a mount that hangs holds up none but itself. */
const callsAtOnce = 64;

/** What can't be read is listed in `unread`, or in the `problem` of its volume. Throws only when there is no mount table. */
export async function inspectNode(input: InspectInput): Promise<NodeReport> {
  const { host, root } = input;
  const { files, clock } = host.ports;
  const takenAt = new Date(clock.nowMs()).toISOString();
  const unread: { path: string; why: string }[] = [];
  const onUnread = (path: string, error: unknown): void => {
    if (!unread.some((known) => known.path === path)) unread.push({ path, why: messageOf(error) });
  };
  const table = (await host.getMounter()?.mountInfo()) ?? [];
  const rows = new MountRows(table, root);
  const flexDrivers = await listFlexDrivers(files, input.flexVolumeDir, onUnread);
  const pods = await namesOf(files, host.getPodsDir(), { kind: "directory", onUnread });
  const podFolders = pods.map((podUID) => ({ podUID, path: joinPath(host.getPodsDir(), podUID) }));
  const folders = await scanPodFolders(files, host.getPodsDir(), onUnread);
  const looked = await inTurns(folders, (folder) => lookAt({ ...input, rows, flexDrivers }, folder));
  const volumes = looked.map(({ volume }) => volume);
  const shown = new Set(volumes.flatMap((volume) => volume.mounts.map((mount) => mount.target)));
  const leftovers: readonly ReportedLeftover[] = await findLeftovers({ host, rows, looked, shown, onUnread });
  return {
    nodeName: host.getNodeName(),
    takenAt,
    root,
    mounter: "none",
    volumes,
    otherMounts: rows.all.filter((row) => !shown.has(row.mountPoint)).map(reportedMount),
    podFolders,
    leftovers,
    unread,
    pluginSockets: await listPluginSockets(files, root, onUnread),
    flexDrivers,
  };
}

async function lookAt(look: Look, folder: FoundFolder): Promise<LookedAt> {
  const { podUID, pluginName, specName, mode, path } = folder;
  const { host, rows } = look;
  const problems: string[] = [];
  const known = await identify(look, folder).catch((error: unknown) => {
    problems.push(messageOf(error));
    return undefined;
  });
  const mountPath = mountPathOf(folder);
  const top = rows.top(mountPath);
  const deviceMountPath = known?.deviceMountPath ?? (top && (await sharedMountOf(host, mountPath)));
  const mounts = mountsOf(look, folder, { deviceMountPath, globalMapPath: known?.globalMapPath });
  const dataFile = await dataFileOf(host, folder);
  const standing = await standingOf(look, folder, { mounts, dataFile, globalMapPath: known?.globalMapPath });
  const stats = top && mode === "Filesystem" ? await statsOf(host, mountPath, problems) : {};
  const volume: ReportedVolume = {
    podUID,
    specName,
    pluginName,
    ...(known?.uniqueName === undefined ? {} : { uniqueName: known.uniqueName }),
    mode,
    path,
    ...(deviceMountPath === undefined ? {} : { deviceMountPath }),
    ...(dataFile ? { dataFile } : {}),
    found: true,
    state: standing.state,
    mounts: mounts.map(reportedMount),
    ...stats,
    ...(problems.length === 0 ? {} : { problem: problems.join("; ") }),
  };
  return { volume, idle: standing.idle };
}

/**
 * Where a volume's mount is looked for: the driver of a CSI volume mounts below the folder.
 * Source: pkg/kubelet/kubelet_getters.go (getPodVolumePathListFromDisk) of v1.37.2.
 */
function mountPathOf({ pluginName, path }: FoundFolder): string {
  return pluginName === csiPluginName ? joinPath(path, "mount") : path;
}

interface Identity {
  readonly uniqueName?: string;
  readonly deviceMountPath?: string;
  readonly globalMapPath?: string;
}

/** What the folder's plugin makes of it; nothing for a driver that is only listed. Throws with the kubelet's texts. */
async function identify(look: Look, folder: FoundFolder): Promise<Identity> {
  const { manager, host } = look;
  const { podUID, pluginName, mode } = folder;
  const plugin = await manager.findPluginByName(pluginName).catch((error: unknown) => {
    if (look.flexDrivers.some(({ name }) => name === pluginName)) return undefined;
    if (pluginName.startsWith("kubernetes.io/")) throw error;
    throw wrap(`${messageOf(error)}; no FlexVolume driver of this name lies in ${look.flexVolumeDir}`, error);
  });
  if (!plugin) return {};
  const spec = await constructSpec(plugin, folder);
  const shared = await sharesDevice(manager, spec);
  const uniqueName = shared ? await sharedName(plugin, spec) : getUniqueVolumeNameFromSpecWithPod(podUID, plugin, spec);
  if (mode === "Block") return { uniqueName, globalMapPath: await globalMapPathOf(plugin, spec, folder) };
  const deviceMountPath = shared ? await globalPathOf(manager, spec) : undefined;
  const isThere = deviceMountPath !== undefined && (look.rows.top(deviceMountPath) !== undefined || (await exists(host, deviceMountPath)));
  return { uniqueName, ...(isThere ? { deviceMountPath } : {}) };
}

/** By the unmapper: a mapper writes the volume's data file. */
async function globalMapPathOf(plugin: VolumePlugin, spec: Spec, { podUID, specName }: FoundFolder): Promise<string | undefined> {
  if (!isBlockPlugin(plugin)) return undefined;
  const unmapper = await plugin.newBlockVolumeUnmapper(specName, podUID);
  return unmapper?.getGlobalMapPath(spec);
}

async function exists(host: KubeletVolumeHost, path: string): Promise<boolean> {
  const stat = await host.ports.files.lstat(path).catch(() => undefined);
  return stat !== undefined;
}

/** Where the plugin can't say: the mount below the plugins' folder that shows the same file system. */
async function sharedMountOf(host: KubeletVolumeHost, mountPath: string): Promise<string | undefined> {
  const references = (await host.getMounter()?.getMountRefs(mountPath).catch(() => [])) ?? [];
  return references.find((reference) => isAtOrBelow(reference, host.getPluginDir("")));
}

/** Rows in the volume's folder, of its subpaths, and of what it shares with other pods. */
function mountsOf(look: Look, folder: FoundFolder, shared: Pick<Identity, "deviceMountPath" | "globalMapPath">): readonly MountInfo[] {
  const { host, rows } = look;
  const { podUID, pluginName, specName, mode, path } = folder;
  const inPod = [path, joinPath(host.getPodsDir(), podUID, "volume-subpaths", specName)];
  const outside = shared.deviceMountPath === undefined ? [] : [shared.deviceMountPath];
  if (mode === "Block") {
    const devices = host.getVolumeDevicePluginDir(pluginName);
    outside.push(joinPath(devices, "staging", specName), joinPath(devices, "publish", specName, podUID));
    if (shared.globalMapPath !== undefined) outside.push(joinPath(shared.globalMapPath, podUID));
  }
  const within = (among: readonly MountInfo[], places: readonly string[]) =>
    among.filter((row) => places.some((place) => isAtOrBelow(row.mountPoint, place)));
  return [...within(rows.ofPod(podUID), inPod), ...within(rows.ofPlugins, outside)];
}

/** undefined where there is no file; without texts where it can't be read, which the volume's problem says. */
async function dataFileOf(host: KubeletVolumeHost, { pluginName, specName, mode, path: folder }: FoundFolder): Promise<ReportedDataFile | undefined> {
  if (pluginName !== csiPluginName) return undefined;
  const dir = mode === "Block" ? blockPaths.data(host, specName) : folder;
  const path = joinPath(dir, "vol_data.json");
  try {
    const { driverName, volumeHandle, attachmentID, nodeName, volumeLifecycleMode } = await loadVolumeData(host.ports.files, dir);
    const texts = Object.entries({ driverName, volumeHandle, attachmentID, nodeName, volumeLifecycleMode });
    return { path, ...Object.fromEntries(texts.filter(([, text]) => text !== "")) };
  } catch (error) {
    return isMissingVolumeData(error) ? undefined : { path };
  }
}

interface Evidence {
  readonly mounts: readonly MountInfo[];
  readonly dataFile: ReportedDataFile | undefined;
  readonly globalMapPath: string | undefined;
}

async function standingOf(look: Look, folder: FoundFolder, evidence: Evidence): Promise<Pick<ReportedVolume, "state"> & Pick<LookedAt, "idle">> {
  const idle = await whyIdle(look, folder, evidence);
  if (idle !== undefined) return { state: "not mounted", idle };
  const unclear = folder.mode === "Block" && evidence.globalMapPath === undefined;
  return { state: unclear ? "uncertain" : "mounted", idle: undefined };
}

/** Why nothing stands behind the folder; undefined where something does, or where that can't be told. */
async function whyIdle({ host, rows }: Look, folder: FoundFolder, { mounts, dataFile, globalMapPath }: Evidence): Promise<string | undefined> {
  const { podUID, pluginName, specName, mode } = folder;
  if (mode === "Block") {
    const isMapped = globalMapPath === undefined || mounts.some((row) => row.mountPoint === joinPath(globalMapPath, podUID));
    return isMapped ? undefined : "its device is not mapped";
  }
  const mountPath = mountPathOf(folder);
  if (rows.top(mountPath)) return undefined;
  if (!plainFolders.has(pluginName)) {
    return dataFile ? `vol_data.json is there, and nothing is mounted at ${mountPath}` : "nothing is mounted there";
  }
  const marked = pluginName === emptyDirName ? specName : `wrapped_${specName}`;
  const marker = joinPath(host.getPodPluginDir(podUID, escapeQualifiedName(emptyDirName)), marked);
  return (await isReady(host.ports, marker)) ? undefined : "nothing is mounted there, and its set-up left no ready marker";
}

async function statsOf(host: KubeletVolumeHost, mountPath: string, problems: string[]): Promise<Stats> {
  try {
    return reportedStats(await newMetricsStatFS(host.ports, mountPath).getMetrics());
  } catch (error) {
    problems.push(`its use can't be read: ${messageOf(error)}`);
    return {};
  }
}

/** Several at once, results in the order of the items. */
async function inTurns<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, items.length) }, work));
  return results;
}
