/**
 * kubernetes.io/csi: which volumes it serves, under which names and paths, and what CSIDriver objects say of them. No driver is
 * registered with this program, so mounting ends with the kubelet's text for an absent driver.
 * Source: pkg/volume/csi/csi_plugin.go of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type {
  AttachableVolumePlugin,
  BlockVolumePlugin,
  NodeExpandableVolumePlugin,
  NodeResizeOptions,
  ReconstructedVolume,
} from "@/server/volume/plugin";
import { mounterOf } from "@/server/volume/plugins/bind-mount";
import { newAttacher } from "@/server/volume/plugins/csi/attacher";
import { newMapper, newUnmapper } from "@/server/volume/plugins/csi/block";
import { noDriver } from "@/server/volume/plugins/csi/driver-client";
import { requiresRepublish, skipsAttach, supportsSELinuxMount } from "@/server/volume/plugins/csi/driver-objects";
import { newMounter, newUnmounter } from "@/server/volume/plugins/csi/mounter";
import { blockPaths } from "@/server/volume/plugins/csi/names";
import { csiPluginName, log, persistentSourceFromSpec, sourceFromSpec } from "@/server/volume/plugins/csi/source";
import { loadVolumeData, type VolumeData } from "@/server/volume/plugins/csi/volume-data";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { newSpecFromPersistentVolume, newSpecFromVolume, type Spec } from "@/server/volume/spec";

export type CSIPlugin = AttachableVolumePlugin & NodeExpandableVolumePlugin & BlockVolumePlugin;

export function newCsiPlugin(): CSIPlugin {
  const { init, host } = newHostSlot(csiPluginName);

  return {
    init,
    getPluginName: () => csiPluginName,
    getVolumeName: async (spec) => volumeNameOf(spec),
    canSupport: (spec) => spec.persistentVolume?.spec.csi !== undefined || spec.volume?.csi !== undefined,
    requiresRemount: async (spec) => requiresRepublish(host(), spec),
    supportsMountOption: () => true,
    supportsSELinuxContextMount: (spec) => supportsSELinuxMount(host(), spec),
    decidingField: "csi",
    sources: { volume: ["csi"], persistentVolume: ["csi"] },
    about: { kind: "in-tree", seLinuxMount: "per driver" },

    newMounter: async (spec, pod) => newMounter(host(), spec, pod),
    newUnmounter: (name, podUID) => newUnmounter(host(), name, podUID),
    constructVolumeSpec: (_volumeName, volumePath) => constructVolumeSpec(host(), volumePath),

    canAttach: (spec) => canAttach(host(), spec),
    canDeviceMount: async (spec) => sourceFromSpec(spec).mode === "Persistent",
    /** True would ask for a new count of what the node can attach, which only a registered driver can give. */
    verifyExhaustedResource: () => false,
    newAttacher: async () => newAttacher(host()),
    newDetacher: async () => newAttacher(host()),
    newDeviceMounter: async () => newAttacher(host()),
    newDeviceUnmounter: async () => newAttacher(host()),
    getDeviceMountRefs: (deviceMountPath) => mounterOf(host()).getMountRefs(deviceMountPath),

    requiresFSResize: () => true,
    nodeExpand: async (options) => nodeExpand(options),

    newBlockVolumeMapper: (spec, pod) => newMapper(host(), spec, pod),
    newBlockVolumeUnmapper: (name, podUID) => newUnmapper(host(), name, podUID),
    constructBlockVolumeSpec: (_podUID, volumeName, mapPath) => constructBlockVolumeSpec(host(), volumeName, mapPath),
  } satisfies CSIPlugin;
}

function volumeNameOf(spec: Spec): string {
  try {
    const { driver, volumeHandle } = persistentSourceFromSpec(spec);
    return `${driver}^${volumeHandle}`;
  } catch (error) {
    throw wrap(log(`plugin.GetVolumeName failed to extract volume source from spec: ${messageOf(error)}`), error);
  }
}

async function canAttach(host: VolumeHost, spec: Spec): Promise<boolean> {
  const source = sourceFromSpec(spec);
  if (source.mode === "Ephemeral") return false;
  return !(await skipsAttach(host, source.persistentVolume.driver));
}

function nodeExpand({ volumeSpec }: NodeResizeOptions): never {
  throw noDriver(expandedDriver(volumeSpec), "");
}

function expandedDriver(spec: Spec): string {
  try {
    return persistentSourceFromSpec(spec).driver;
  } catch (error) {
    throw new VolumeError(log(`Expander.NodeExpand failed to get CSI persistent source: ${messageOf(error)}`), "volume-error", error);
  }
}

async function constructVolumeSpec(host: VolumeHost, volumePath: string): Promise<ReconstructedVolume> {
  const data = await loadVolumeData(host.ports.files, volumePath).catch((error: unknown) => {
    throw wrap(log(`plugin.ConstructVolumeSpec failed loading volume data using [${volumePath}]: ${messageOf(error)}`), error);
  });
  const { specVolID, driverName, volumeLifecycleMode, seLinuxMountContext } = data;
  if (volumeLifecycleMode === "Ephemeral") {
    return { spec: newSpecFromVolume({ name: specVolID, csi: { driver: driverName } }), seLinuxMountContext };
  }
  return { spec: persistentSpec(specVolID, data, "Filesystem"), seLinuxMountContext };
}

async function constructBlockVolumeSpec(host: VolumeHost, volumeName: string, mapPath: string): Promise<Spec> {
  const data = await loadVolumeData(host.ports.files, blockPaths.data(host, volumeName)).catch((error: unknown) => {
    throw wrap(log(`plugin.ConstructBlockVolumeSpec failed loading volume data using [${mapPath}]: ${messageOf(error)}`), error);
  });
  return persistentSpec(data.specVolID, data, "Block");
}

function persistentSpec(name: string, { driverName: driver, volumeHandle }: VolumeData, volumeMode: string): Spec {
  return newSpecFromPersistentVolume({ metadata: { name }, spec: { csi: { driver, volumeHandle }, volumeMode } }, false);
}
