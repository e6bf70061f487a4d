/**
 * A FlexVolume driver as a plugin. Source: pkg/volume/flexvolume/{plugin,plugin-defaults,expander,expander-defaults}.go of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import type { Quantity } from "@/lib/quantity";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { unescapeQualifiedName } from "@/server/volume/paths";
import type {
  AttachableVolumePlugin,
  ExpandableVolumePlugin,
  NodeExpandableVolumePlugin,
  NodeResizeOptions,
  PersistentVolumePlugin,
} from "@/server/volume/plugin";
import { mounterOf } from "@/server/volume/plugins/bind-mount";
import { newAttacher, newDetacher } from "@/server/volume/plugins/flexvolume/attacher";
import { FlexVolumeDriver, noCapabilities, type DriverRunner } from "@/server/volume/plugins/flexvolume/driver-call";
import { isCommandNotSupported, type DriverCapabilities } from "@/server/volume/plugins/flexvolume/driver-status";
import { optionsArgument } from "@/server/volume/plugins/flexvolume/flex-spec";
import { newMounter, newUnmounter } from "@/server/volume/plugins/flexvolume/mounter";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { newSpecFromVolume, specName, type Spec } from "@/server/volume/spec";
import { hasFilesystemToGrow } from "@/server/volume/volume-mode";

/** Only a folder's name: no plugin is registered under it. */
const flexVolumeDirName = "kubernetes.io/flexvolume";

export type FlexVolumePlugin = PersistentVolumePlugin & ExpandableVolumePlugin & NodeExpandableVolumePlugin;
export type AttachableFlexVolumePlugin = FlexVolumePlugin & AttachableVolumePlugin;

/** What the parts of one plugin share. */
export interface FlexVolumeCore {
  /** `vendor/driver`, or `driver` alone. */
  readonly driverName: string;
  readonly driver: FlexVolumeDriver;
  readonly capabilities: DriverCapabilities;
  readonly host: () => VolumeHost;
  /** Where the device is mounted for all pods; asks the driver for the volume's name. */
  deviceMountPath(spec: Spec): Promise<string>;
}

/**
 * Runs the driver's `init` and makes the plugin that its capabilities ask for. `dirName` is the driver's folder below `pluginDir`,
 * such as `vendor~driver`. Throws what the call throws.
 */
export async function newFlexVolumePlugin(
  pluginDir: string,
  dirName: string,
  runner: DriverRunner,
): Promise<FlexVolumePlugin | AttachableFlexVolumePlugin> {
  const driverName = unescapeQualifiedName(dirName);
  const driver = new FlexVolumeDriver(executablePath(pluginDir, dirName), runner);
  const { capabilities } = await driver.call("init", [], runner.initTimeoutMs);
  if (!capabilities) throw noCapabilities();
  const { init, host } = newHostSlot(driverName);
  const core: FlexVolumeCore = {
    driverName,
    driver,
    capabilities,
    host,
    deviceMountPath: (spec) => deviceMountPath(core, spec),
  };
  const plugin = basePlugin(core, init);
  return capabilities.attach ? { ...plugin, ...attachMethods(core) } : plugin;
}

/** The executable is named like the last part of the driver's name. */
export function executablePath(pluginDir: string, dirName: string): string {
  const name = unescapeQualifiedName(dirName).split("/").at(-1) ?? "";
  return joinPath(pluginDir, dirName, name);
}

function basePlugin(core: FlexVolumeCore, init: FlexVolumePlugin["init"]): FlexVolumePlugin {
  const { driverName, capabilities } = core;
  return {
    init,
    getPluginName: () => driverName,
    getVolumeName: (spec) => getVolumeName(core, spec),
    canSupport: (spec) => (spec.volume?.flexVolume ?? spec.persistentVolume?.spec.flexVolume)?.driver === driverName,
    requiresRemount: async () => false,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    getAccessModes: () => ["ReadWriteOnce", "ReadOnlyMany"],
    decidingField: "flexVolume.driver",
    sources: { volume: ["flexVolume"], persistentVolume: ["flexVolume"], driver: driverName },
    about: { kind: "FlexVolume", driverPath: core.driver.executable },

    newMounter: async (spec, pod) => newMounter(core, spec, pod),
    newUnmounter: async (name, podUID) => newUnmounter(core, name, podUID),
    async constructVolumeSpec(volumeName) {
      return { spec: newSpecFromVolume({ name: volumeName, flexVolume: { driver: driverName } }), seLinuxMountContext: "" };
    },

    requiresFSResize: () => capabilities.requiresFSResize,
    expandVolumeDevice: (spec, newSize, oldSize) => expandVolumeDevice(core, spec, { newSize, oldSize }),
    nodeExpand: (options) => nodeExpand(core, options),
  } satisfies FlexVolumePlugin;
}

function attachMethods(core: FlexVolumeCore): Omit<AttachableVolumePlugin, keyof FlexVolumePlugin> {
  return {
    canAttach: async () => true,
    canDeviceMount: async () => true,
    verifyExhaustedResource: () => false,
    newAttacher: async () => newAttacher(core),
    newDeviceMounter: async () => newAttacher(core),
    newDetacher: async () => newDetacher(core),
    newDeviceUnmounter: async () => newDetacher(core),
    getDeviceMountRefs: (path) => mounterOf(core.host()).getMountRefs(path),
  };
}

/** The driver is asked, and its answer is not used, as in the real code: the name is the spec's. */
async function getVolumeName({ driver }: FlexVolumeCore, spec: Spec): Promise<string> {
  try {
    await driver.call("getvolumename", optionsArgument(spec));
  } catch (error) {
    if (!isCommandNotSupported(error)) throw error;
  }
  return specName(spec);
}

async function deviceMountPath(core: FlexVolumeCore, spec: Spec): Promise<string> {
  const name = await getVolumeName(core, spec).catch((error: unknown) => {
    throw wrap(`GetVolumeName failed from getDeviceMountPath: ${messageOf(error)}`, error);
  });
  return joinPath(core.host().getPluginDir(flexVolumeDirName), core.driverName, "mounts", name);
}

interface Sizes {
  readonly newSize: Quantity;
  readonly oldSize: Quantity;
}

/** A driver without the command needs nothing done to the device. */
async function expandVolumeDevice(core: FlexVolumeCore, spec: Spec, sizes: Sizes): Promise<Quantity> {
  const path = await core.deviceMountPath(spec);
  try {
    await core.driver.call("expandvolume", [...optionsArgument(spec), path, ...sizeArguments(sizes)]);
  } catch (error) {
    if (!isCommandNotSupported(error)) throw error;
  }
  return sizes.newSize;
}

/** A driver without the command leaves the file system to us; a raw block volume has none. */
async function nodeExpand(core: FlexVolumeCore, options: NodeResizeOptions): Promise<boolean> {
  const { volumeSpec, devicePath, deviceMountPath: mountPath } = options;
  if (!volumeSpec.persistentVolume) throw new VolumeError(`PersistentVolume not found for spec: ${specName(volumeSpec)}`);
  try {
    await core.driver.call("expandfs", [...optionsArgument(volumeSpec), devicePath, mountPath, ...sizeArguments(options)]);
  } catch (error) {
    if (!isCommandNotSupported(error)) throw error;
    if (hasFilesystemToGrow(volumeSpec)) await core.host().ports.blockTools.grow(devicePath, mountPath);
  }
  return true;
}

/** Bytes, rounded up. */
function sizeArguments({ newSize, oldSize }: Sizes): readonly string[] {
  return [newSize.value().toString(), oldSize.value().toString()];
}
