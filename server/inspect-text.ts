/** A node's report for a person at a terminal: what is wrong first, then the volumes pod by pod, one line for each that is well. */
import { withoutControls } from "@/lib/controls";
import { columns } from "@/server/print";
import type { NodeReport, ReportedMount, ReportedVolume } from "@/lib/node-report";

export interface TextOptions {
  /** Mount lines of healthy volumes, and mounts that belong to no volume. */
  readonly verbose: boolean;
}

export function inspectText(report: NodeReport, { verbose }: TextOptions): string {
  const sections = [
    headOf(report),
    section("Problems", problemsOf(report)),
    section("Could not be read", (report.unread ?? []).flatMap(({ path, why }) => [path, `  ${why}`])),
    section("May be left over (a pod that is just starting looks the same)", leftoversOf(report)),
    ...podsOf(report, verbose),
    section("Plugin sockets", report.pluginSockets.map(({ path, driver }) => (driver === undefined ? path : `${path}  ${driver}`))),
    section("FlexVolume drivers", report.flexDrivers.map(({ name, path }) => `${name}  ${path}`)),
    section("Other mounts", verbose ? report.otherMounts.map(({ line }) => line) : []),
  ];
  return sections.filter((lines) => lines.length > 0).map((lines) => `${lines.map(withoutControls).join("\n")}\n`).join("\n");
}

function headOf({ nodeName, root, takenAt, volumes, podFolders = [], otherMounts, leftovers = [], unread = [], flexDrivers }: NodeReport): readonly string[] {
  const problems = [...volumes, ...flexDrivers].filter(({ problem }) => problem !== undefined).length;
  const mounts = new Set(volumes.flatMap((volume) => volume.mounts.map(({ target }) => target))).size;
  return [
    `${nodeName}  ${root}  ${takenAt}`,
    `${count(volumes.length, "volume")} of ${count(podFolders.length, "pod folder")}, ${count(mounts, "mount")} and ${count(otherMounts.length, "other mount")}; ` +
      `${count(problems, "problem")}, ${count(leftovers.length, "leftover")}, ${count(unread.length, "unread folder")}`,
  ];
}

function count(number: number, noun: string): string {
  return `${number === 0 ? "no" : number} ${noun}${number === 1 ? "" : "s"}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function problemsOf({ volumes, flexDrivers }: NodeReport): readonly string[] {
  return [...volumes, ...flexDrivers].flatMap(({ path, problem }) => (problem === undefined ? [] : [path, ...indented(problem)]));
}

/** A problem may have lines of its own. */
function indented(text: string): readonly string[] {
  return text.split("\n").map((line) => `  ${line}`);
}

function leftoversOf({ leftovers = [] }: NodeReport): readonly string[] {
  return leftovers.flatMap(({ path, why }) => [path, `  ${why}`]);
}

function podsOf({ volumes, podFolders = [] }: NodeReport, verbose: boolean): readonly (readonly string[])[] {
  const byPod = Map.groupBy(volumes, ({ podUID }) => podUID);
  const empty = podFolders.filter(({ podUID }) => !byPod.has(podUID)).map(({ podUID }) => podUID);
  const cells = columns(volumes.map((volume) => cellsOf(volume).map(withoutControls)));
  const rows = new Map(volumes.map((volume, index) => [volume, cells[index] ?? ""]));
  const pods = [...byPod].map(([podUID, own]) => section(`Pod ${podUID}`, own.flatMap((volume) => [rows.get(volume) ?? "", ...detailsOf(volume, verbose)])));
  return [...pods, section("Pods without a volume folder", empty)];
}

function cellsOf(volume: ReportedVolume): readonly string[] {
  const [mount] = volume.mounts;
  return [
    volume.problem === undefined ? " " : "!",
    volume.specName,
    volume.pluginName,
    volume.mode === "Block" ? `${volume.state}, block` : volume.state,
    mount?.fsType ?? "",
    mount?.source ?? "",
    usage(volume),
  ];
}

function usage({ usedBytes, capacityBytes }: ReportedVolume): string {
  return usedBytes === undefined || capacityBytes === undefined ? "" : `${binary(usedBytes)} of ${binary(capacityBytes)}`;
}

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Three digits are enough to see it by; the exact number is in the JSON. */
function binary(bytes: string): string {
  let size = Number(bytes);
  let unit = 0;
  for (; size >= 1000 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size >= 100 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit] ?? ""}`;
}

function detailsOf(volume: ReportedVolume, verbose: boolean): readonly string[] {
  if (!verbose && volume.problem === undefined && volume.state === "mounted") return [];
  const { path, deviceMountPath, dataFile, mounts } = volume;
  return [
    `      folder  ${path}`,
    ...(deviceMountPath === undefined ? [] : [`      global  ${deviceMountPath}`]),
    ...(dataFile ? [`      data    ${dataFile.path}  ${[dataFile.driverName, dataFile.volumeHandle].filter(Boolean).join(" ")}`] : []),
    ...mounts.map(mountLine),
  ];
}

function mountLine({ line }: ReportedMount): string {
  return `      mount   ${line}`;
}
