/**
 * kubernetes.io/fc: names, paths, reconstruction and bind mounts. Finding the disk needs a host bus adapter, which this program does
 * not scan: WaitForAttach fails as the kubelet's does where there is none.
 * Source: pkg/volume/fc/{fc,fc_util,attacher}.go of v1.37.2.
 */
import { baseName } from "@/lib/go-path";
import { goList } from "@/lib/go-text";
import type { FCVolumeSource } from "@/lib/kube/volumes";
import { messageOf } from "@/lib/errors";
import { VolumeError, wrap } from "@/server/volume/errors";
import { metricsNil } from "@/server/volume/metrics";
import {
  lunOf,
  newNetworkDiskPlugin,
  type NetworkDisk,
  type NetworkDiskPlugin,
  type ReconstructedSource,
} from "@/server/volume/plugins/network-disk";
import type { Spec } from "@/server/volume/spec";
import { getVolumeMode } from "@/server/volume/volume-mode";

export function newFcPlugin(): NetworkDiskPlugin {
  return newNetworkDiskPlugin({
    pluginName: "kubernetes.io/fc",
    sources: { volume: ["fc"], persistentVolume: ["fc"] },
    decidingField: "fc",
    supportsBlockMetrics: false,
    unmounting: "unmount",
    canSupport: (spec) => spec.volume?.fc !== undefined || spec.persistentVolume?.spec.fc !== undefined,
    getVolumeName,
    diskOf,
    async checkMounter(_host, spec) {
      getVolumeMode(spec);
    },
    checkMapper: async () => {},
    checkPaths: (spec) => void getVolumeMode(spec),
    metrics: () => metricsNil,
    async findDevice(_host, spec) {
      diskOf(spec, "mounter");
      getVolumeMode(spec);
      throw new VolumeError("no fc disk found");
    },
    parseGlobalPath,
  });
}

function sourceOf(spec: Spec): FCVolumeSource {
  const source = spec.volume?.fc ?? spec.persistentVolume?.spec.fc;
  if (!source) throw new VolumeError("Spec does not reference a FibreChannel volume type");
  return source;
}

/** "" for a source that names no disk: an error only later. */
function getVolumeName(spec: Spec): string {
  const { targetWWNs = [], wwids = [], lun } = sourceOf(spec);
  if (targetWWNs.length > 0 && hasLun(lun)) return `${goList(targetWWNs)}:${lun}`;
  return wwids.length > 0 ? goList(wwids) : "";
}

function diskOf(spec: Spec, purpose: "mounter" | "mapper"): NetworkDisk {
  const source = sourceOf(spec);
  return {
    fsType: source.fsType ?? "",
    readOnly: spec.volume?.fc ? (source.readOnly ?? false) : spec.readOnly,
    relativePath: nameOfDisk(source, purpose),
  };
}

function nameOfDisk({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, purpose: "mounter" | "mapper"): string {
  if (targetWWNs.length > 0 && hasLun(lun)) return `${targetWWNs.join("-")}-lun-${lun}`;
  if (wwids.length === 0) throw new VolumeError(`fc: no fc disk information found. failed to make a new ${purpose}`);
  // Names without a unit number still come first, with nothing after `-lun-`.
  if (targetWWNs.length > 0) return `${targetWWNs.join("-")}-lun-`;
  return wwids.map((wwid) => wwid.replaceAll(" ", "_")).join("-");
}

function hasLun(lun: number | null | undefined): lun is number {
  return lun !== undefined && lun !== null;
}

function parseGlobalPath(path: string): ReconstructedSource {
  try {
    return { fc: parseName(baseName(path)) };
  } catch (error) {
    throw wrap(`failed to retrieve volume plugin information from globalPDPath: ${messageOf(error)}`, error);
  }
}

/** `wwn-wwn-lun-0`, `wwid-wwid` or a single wwid; the unit number is 0 where the name has none. */
function parseName(name: string): FCVolumeSource {
  const parts = name.split("-");
  if (parts.length < 2 || parts.at(-2) !== "lun") return { wwids: parts, lun: 0 };
  const targetWWNs = parts.slice(0, -2);
  if (targetWWNs.length === 0) throw new VolumeError(`no wwn in: ${name}`);
  return { targetWWNs, lun: lunOf(parts.at(-1) ?? "") };
}
