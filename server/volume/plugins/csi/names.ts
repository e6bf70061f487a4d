/** Names and paths of CSI volumes. Source: pkg/volume/csi/{csi_util,csi_mounter,csi_block,csi_attacher}.go of v1.37.2. */
import { messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { escapeQualifiedName } from "@/server/volume/paths";
import { csiPluginName, driverNameFromSpec, log, persistentSourceFromSpec } from "@/server/volume/plugins/csi/source";
import type { Spec } from "@/server/volume/spec";

/** The name of the VolumeAttachment. */
export function attachmentName(host: VolumeHost, volumeHandle: string, driver: string, nodeName: string): string {
  return `csi-${host.ports.hash.sha256Hex(`${volumeHandle}${driver}${nodeName}`)}`;
}

/** The pod's folder of a volume: the data file lies in it, the driver mounts below it. */
function podVolumeDir(host: VolumeHost, podUID: string, volumeName: string): string {
  return host.getPodVolumeDir(podUID, escapeQualifiedName(csiPluginName), escapeQualifiedName(volumeName));
}

export function podMountPath(host: VolumeHost, podUID: string, volumeName: string): string {
  return joinPath(podVolumeDir(host, podUID, volumeName), "mount");
}

/** Where a volume is staged for all pods. Throws VolumeError for a spec without driver or handle. */
export function deviceMountPath(host: VolumeHost, spec: Spec): string {
  try {
    const { driver, volumeHandle } = stagedSource(spec);
    return joinPath(host.getPluginDir(csiPluginName), driver, host.ports.hash.sha256Hex(volumeHandle), "globalmount");
  } catch (error) {
    throw wrap(log(`attacher.GetDeviceMountPath failed to make device mount path: ${messageOf(error)}`), error);
  }
}

function stagedSource(spec: Spec): { readonly driver: string; readonly volumeHandle: string } {
  const driver = driverNameFromSpec(spec);
  if (driver === "") throw new VolumeError("makeDeviceMountPath failed, csi source driver name is empty");
  const { volumeHandle } = persistentSource(spec);
  if (volumeHandle === "") throw new VolumeError("makeDeviceMountPath failed, CSIPersistentVolumeSource volume handle is empty");
  return { driver, volumeHandle };
}

function persistentSource(spec: Spec): ReturnType<typeof persistentSourceFromSpec> {
  try {
    return persistentSourceFromSpec(spec);
  } catch (error) {
    throw wrap(log(`makeDeviceMountPath failed to get CSIPersistentVolumeSource: ${messageOf(error)}`), error);
  }
}

/** Paths of a raw block volume below the plugin's folder for devices. */
export const blockPaths = {
  globalMap: (host: VolumeHost, volumeName: string): string => joinPath(devicesDir(host), escapeQualifiedName(volumeName), "dev"),
  data: (host: VolumeHost, volumeName: string): string => joinPath(devicesDir(host), escapeQualifiedName(volumeName), "data"),
  /** The name is not escaped here, as in the real plugin. */
  staging: (host: VolumeHost, volumeName: string): string => joinPath(devicesDir(host), "staging", volumeName),
};

function devicesDir(host: VolumeHost): string {
  return host.getVolumeDevicePluginDir(csiPluginName);
}
