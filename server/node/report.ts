/** The node's report (lib/node-report.ts): what is on disk and in the mount table against what should be there. */
import { messageOf } from "@/lib/errors";
import type { MountState, NodeReport, ReportedMount, ReportedVolume } from "@/lib/node-report";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import { isOperationFailure } from "@/server/node/events";
import { listFlexDrivers, listPluginSockets } from "@/server/node/inspect-drivers";
import type { PendingOperations } from "@/server/node/pending-operations";
import type { NodePicture } from "@/server/node/reconciler";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import type { KubeletVolumeHost } from "@/server/volume/host";
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

/**
 * Reads the mount table once and each mounted volume's metrics; what can't be read is said in `problem`. Drivers and sockets are
 * listed: none is run or dialled.
 */
export async function makeReport(input: ReportInput): Promise<NodeReport> {
  const { host, picture, root } = input;
  const table = ((await host.getMounter()?.mountInfo()) ?? []).filter((row) => row.mountPoint === root || row.mountPoint.startsWith(`${root}/`));
  const takenAt = timeText(host.ports.clock.nowMs());
  const volumes = await Promise.all([
    ...picture.resolved.map((volume) => wantedVolume(input, table, volume)),
    ...picture.unprocessed.map((volume) => unprocessedVolume(input, volume)),
    ...unwantedMounts(input).map((mount) => unwantedVolume(input, table, mount)),
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
    volumes,
    otherMounts: table.map(reportedMount).filter((mount) => !shown.has(mount.target)),
    leftovers: picture.leftovers,
    unread,
    pluginSockets,
    flexDrivers,
  };
}

async function wantedVolume(input: ReportInput, table: readonly MountInfo[], volume: ResolvedVolume): Promise<ReportedVolume> {
  const { host, actual } = input;
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
    ...(await asFound(input, table, { uniqueName: volume.uniqueName, path: place, mount })),
  };
}

async function unwantedVolume(input: ReportInput, table: readonly MountInfo[], mount: PodMount): Promise<ReportedVolume> {
  const { podUID, specName: name, pluginName, uniqueName, mode, path, volumeName } = mount;
  const pod = input.picture.desired.pods.get(podUID);
  return {
    podUID,
    ...(pod ? { podNamespace: pod.metadata.namespace, podName: pod.metadata.name } : {}),
    specName: name,
    ...(volumeName === undefined ? {} : { volumeName }),
    pluginName,
    uniqueName,
    mode,
    wanted: false,
    ...(await asFound(input, table, { uniqueName, path, mount })),
  };
}

type Found = Pick<ReportedVolume, "path" | "deviceMountPath" | "found" | "state" | "mounts" | "operation" | "problem"> & Stats;
export type Stats = Pick<ReportedVolume, "capacityBytes" | "usedBytes" | "availableBytes" | "inodes" | "inodesUsed" | "statsAt">;

async function asFound(
  input: ReportInput,
  table: readonly MountInfo[],
  at: { readonly uniqueName: string; readonly path: string; readonly mount: PodMount | undefined },
): Promise<Found> {
  const deviceMountPath = input.actual.device(at.uniqueName)?.deviceMountPath;
  const operation = input.operations.report(at.uniqueName);
  const running = input.operations.isRunning(at.uniqueName);
  const stats = at.mount?.certainty === "certain" && at.mount.mode === "Filesystem" ? await statsOf(input, at.mount) : {};
  return {
    path: at.path,
    ...(deviceMountPath === undefined ? {} : { deviceMountPath }),
    found: (await input.host.ports.files.lstat(at.path).catch(() => undefined)) !== undefined,
    state: stateOf(at.mount, operation, running),
    mounts: mountsAt(table, [at.path, ...(deviceMountPath === undefined ? [] : [deviceMountPath])]),
    ...(operation ? { operation } : {}),
    ...stats,
  };
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

function unprocessedVolume(input: ReportInput, { pod, volumeName, message }: NodePicture["unprocessed"][number]): ReportedVolume {
  const podUID = pod.metadata.uid ?? "";
  const wanted = input.picture.desired.wanted.find((each) => each.podUID === podUID && each.volumeName === volumeName);
  const mount = input.actual.mounts().find((each) => each.podUID === podUID && each.volumeName === volumeName);
  return {
    podUID,
    podNamespace: pod.metadata.namespace,
    podName: pod.metadata.name,
    specName: wanted ? specName(wanted.spec) : volumeName,
    volumeName,
    pluginName: mount?.pluginName ?? "",
    mode: wanted?.mode ?? "Filesystem",
    path: mount?.path ?? "",
    wanted: true,
    found: mount !== undefined,
    state: mount?.certainty === "certain" ? "mounted" : "not mounted",
    mounts: [],
    problem: message,
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
