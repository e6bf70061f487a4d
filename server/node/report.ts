/** The node's report (lib/node-report.ts): what is on disk and in the mount table against what should be there. */
import { messageOf } from "@/lib/errors";
import type { MountState, NodeReport, ReportedDisk, ReportedMount, ReportedVolume } from "@/lib/node-report";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import { lookAtMounts } from "@/server/node/lost-mounts";
import { isOperationFailure } from "@/server/node/events";
import { listFlexDrivers, listPluginSockets } from "@/server/node/inspect-drivers";
import { isAtOrBelow } from "@/server/node/mount-rows";
import type { PendingOperations } from "@/server/node/pending-operations";
import type { NodePicture } from "@/server/node/reconciler";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import type { KubeletVolumeHost } from "@/server/volume/host";
import { newMetricsStatFS } from "@/server/volume/metrics";
import type { MountInfo } from "@/server/volume/mount";
import { escapeQualifiedName } from "@/server/volume/paths";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { specName } from "@/server/volume/spec";
import type { Metrics } from "@/server/volume/volume";

export interface ReportInput {
  readonly host: KubeletVolumeHost;
  readonly manager: VolumePluginManager;
  readonly root: string;
  readonly flexVolumeDir: string;
  readonly mounter: NodeReport["mounter"];
  readonly picture: NodePicture;
  readonly actual: ActualState;
  readonly operations: PendingOperations;
}

/** What the parts of one report share: one look at the mount table. */
interface Look extends ReportInput {
  /** Rows at and below the root. */
  readonly table: readonly MountInfo[];
  readonly lost: ReadonlyMap<PodMount, string>;
}

/**
 * Reads the mount table once and each mounted volume's metrics; what can't be read is said in `problem`. Drivers and sockets are
 * listed: none is run or dialled.
 */
export async function makeReport(input: ReportInput): Promise<NodeReport> {
  const { host, picture, root } = input;
  const { table: all, lost } = await lookAtMounts(input);
  const table = all.filter((row) => isAtOrBelow(row.mountPoint, root));
  const takenAt = timeText(host.ports.clock.nowMs());
  const look: Look = { ...input, table, lost };
  const volumes = await Promise.all([
    ...picture.resolved.map((volume) => wantedVolume(look, volume)),
    ...picture.unprocessed.map((volume) => unprocessedVolume(look, volume)),
    ...unwantedMounts(input).map((mount) => unwantedVolume(look, mount)),
    ...picture.unknownFolders.map((folder) => ({ ...unknownVolume(folder), mounts: mountsAt(table, [folder.path]) })),
  ]);
  const unread: { path: string; why: string }[] = [];
  const onUnread = (path: string, error: unknown) => void unread.push({ path, why: messageOf(error) });
  const pluginSockets = await listPluginSockets(host.ports.files, root, onUnread);
  const flexDrivers = await listFlexDrivers(host.ports.files, input.flexVolumeDir, onUnread);
  const shown = new Set(volumes.flatMap((volume) => volume.mounts.map((mount) => mount.target)));
  return {
    nodeName: host.getNodeName(),
    takenAt,
    root,
    mounter: input.mounter,
    disk: await diskOf(input),
    volumes,
    otherMounts: table.map(reportedMount).filter((mount) => !shown.has(mount.target)),
    leftovers: picture.leftovers,
    unread,
    pluginSockets,
    flexDrivers,
  };
}

/** What a simulated node has is memory of this process: it has no disk. */
async function diskOf({ host, root, mounter }: ReportInput): Promise<ReportedDisk> {
  if (mounter === "simulated") return { problem: "this node is simulated and has no disk" };
  try {
    const { statsAt: _, ...disk } = reportedStats(await newMetricsStatFS(host.ports, root).getMetrics());
    return disk;
  } catch (error) {
    return { problem: `the file system of its root can't be read: ${messageOf(error)}` };
  }
}

async function wantedVolume(look: Look, volume: ResolvedVolume): Promise<ReportedVolume> {
  const { host, actual } = look;
  const mount = actual.podMount(volume.podUID, volume.uniqueName);
  const name = specName(volume.spec);
  const folder = escapeQualifiedName(volume.pluginName);
  const place = mount?.path ?? (volume.mode === "Block" ? `${host.getPodVolumeDeviceDir(volume.podUID, folder)}/${name}` : host.getPodVolumeDir(volume.podUID, folder, name));
  return {
    podUID: volume.podUID,
    podNamespace: volume.pod.metadata.namespace,
    podName: volume.pod.metadata.name,
    specName: name,
    volumeName: volume.volumeName,
    pluginName: volume.pluginName,
    uniqueName: volume.uniqueName,
    mode: volume.mode,
    wanted: true,
    ...(await asFound(look, { uniqueName: volume.uniqueName, path: place, mount })),
  };
}

async function unwantedVolume(look: Look, mount: PodMount): Promise<ReportedVolume> {
  const { podUID, specName: name, pluginName, uniqueName, mode, path, volumeName } = mount;
  const pod = look.picture.desired.pods.get(podUID);
  return {
    podUID,
    ...(pod ? { podNamespace: pod.metadata.namespace, podName: pod.metadata.name } : {}),
    specName: name,
    ...(volumeName === undefined ? {} : { volumeName }),
    pluginName,
    uniqueName,
    mode,
    wanted: false,
    ...(await asFound(look, { uniqueName, path, mount })),
  };
}

type Found = Pick<ReportedVolume, "path" | "deviceMountPath" | "found" | "state" | "setUpAgain" | "mounts" | "operation" | "problem"> & Stats;
export type Stats = Pick<ReportedVolume, "capacityBytes" | "usedBytes" | "availableBytes" | "inodes" | "inodesUsed" | "statsAt">;

interface Place {
  readonly uniqueName: string;
  readonly path: string;
  readonly mount: PodMount | undefined;
}

async function asFound(look: Look, { uniqueName, path, mount }: Place): Promise<Found> {
  const deviceMountPath = look.actual.device(uniqueName)?.deviceMountPath;
  const operation = look.operations.report(uniqueName);
  const running = look.operations.isRunning(uniqueName);
  const lost = mount && look.lost.get(mount);
  const state = lost === undefined ? stateOf(mount, operation, running) : "lost";
  const isMeasured = state === "mounted" && mount?.mode === "Filesystem";
  return {
    path,
    ...(deviceMountPath === undefined ? {} : { deviceMountPath }),
    found: look.table.some((row) => row.mountPoint === path) || (await isThere(look, path)),
    state,
    ...(mount && lost !== undefined ? { problem: lost, setUpAgain: await whenSetUpAgain(look, mount) } : {}),
    mounts: mountsAt(look.table, [path, ...(deviceMountPath === undefined ? [] : [deviceMountPath])]),
    ...(operation ? { operation } : {}),
    ...(isMeasured ? await statsOf(look, mount) : {}),
  };
}

async function isThere({ host }: Look, path: string): Promise<boolean> {
  return (await host.ports.files.lstat(path).catch(() => undefined)) !== undefined;
}

async function whenSetUpAgain({ manager }: Look, { pluginName, spec }: PodMount): Promise<ReportedVolume["setUpAgain"]> {
  const isRemounted = await manager.findPluginByName(pluginName).then((plugin) => plugin.requiresRemount(spec)).catch(() => false);
  return isRemounted ? "at the next sync" : "for a new pod";
}

function stateOf(mount: PodMount | undefined, operation: ReportedVolume["operation"], running: boolean): MountState {
  const unmounts = operation?.name.startsWith("Unm") ?? false;
  if (running && unmounts) return "unmounting";
  if (running && mount?.certainty !== "certain") return "mounting";
  if (mount?.certainty === "certain") return "mounted";
  if (mount) return operation?.lastError === undefined ? "uncertain" : "failed";
  return operation?.lastError === undefined ? "not mounted" : "failed";
}

async function statsOf(input: ReportInput, mount: PodMount): Promise<Stats & Pick<ReportedVolume, "problem">> {
  try {
    const plugin = await input.manager.findPluginByName(mount.pluginName);
    const pod = input.picture.desired.pods.get(mount.podUID);
    const metrics = await (await plugin.newMounter(mount.spec, pod))?.getMetrics();
    if (!metrics) return {};
    return reportedStats(metrics);
  } catch (error) {
    return isOperationFailure(error) ? {} : { problem: `its use can't be read: ${messageOf(error)}` };
  }
}

export function reportedStats(metrics: Metrics): Stats {
  return {
    statsAt: timeText(metrics.timeMs),
    ...text("capacityBytes", metrics.capacityBytes),
    ...text("usedBytes", metrics.usedBytes),
    ...text("availableBytes", metrics.availableBytes),
    ...text("inodes", metrics.inodes),
    ...text("inodesUsed", metrics.inodesUsed),
  };
}

function text<K extends string>(name: K, value: bigint | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [name]: value.toString() } as Record<K, string>);
}

async function unprocessedVolume(look: Look, { pod, volumeName, message }: NodePicture["unprocessed"][number]): Promise<ReportedVolume> {
  const podUID = pod.metadata.uid ?? "";
  const wanted = look.picture.desired.wanted.find((each) => each.podUID === podUID && each.volumeName === volumeName);
  const mount = look.actual.mounts().find((each) => each.podUID === podUID && each.volumeName === volumeName);
  const found = mount && (await asFound(look, { uniqueName: mount.uniqueName, path: mount.path, mount }));
  return {
    podUID,
    podNamespace: pod.metadata.namespace,
    podName: pod.metadata.name,
    specName: wanted ? specName(wanted.spec) : volumeName,
    volumeName,
    pluginName: mount?.pluginName ?? "",
    mode: wanted?.mode ?? mount?.mode ?? "Filesystem",
    wanted: true,
    ...(found ?? { path: "", found: false, state: "not mounted", mounts: [] }),
    problem: found?.problem === undefined ? message : `${message}; ${found.problem}`,
  };
}

/** Mounts that are neither wanted nor shown as unprocessed. */
function unwantedMounts({ picture, actual }: ReportInput): readonly PodMount[] {
  const wanted = new Set(picture.resolved.map((volume) => `${volume.podUID}\n${volume.uniqueName}`));
  const unprocessed = new Set(picture.unprocessed.map(({ pod, volumeName }) => `${pod.metadata.uid ?? ""}\n${volumeName}`));
  return actual.mounts().filter((mount) => !wanted.has(`${mount.podUID}\n${mount.uniqueName}`) && !unprocessed.has(`${mount.podUID}\n${mount.volumeName ?? ""}`));
}

function unknownVolume(folder: NodePicture["unknownFolders"][number]): Omit<ReportedVolume, "mounts"> {
  const { podUID, specName: name, pluginName, mode, path, problem } = folder;
  return { podUID, specName: name, pluginName, mode, path, found: true, state: "uncertain", problem };
}

function mountsAt(table: readonly MountInfo[], targets: readonly string[]): readonly ReportedMount[] {
  return table.filter((row) => targets.includes(row.mountPoint)).map(reportedMount);
}

/** Where no kernel wrote the line it is put together from its fields, escaped as mountinfo does. */
export function reportedMount(row: MountInfo): ReportedMount {
  const optional = row.propagation.length === 0 ? "" : ` ${row.propagation.join(" ")}`;
  const line =
    `${row.id} ${row.parentId} ${row.device} ${escaped(row.root)} ${escaped(row.mountPoint)} ${row.mountOptions.join(",")}${optional}` +
    ` - ${row.fsType} ${escaped(row.source)} ${row.superOptions.join(",")}`;
  const options = [...row.mountOptions, ...row.superOptions];
  return { target: row.mountPoint, source: row.source, fsType: row.fsType, options, line: row.line ?? line };
}

function escaped(field: string): string {
  return field.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
