/** Attaching and device mounts. Source: pkg/volume/flexvolume/{attacher,attacher-defaults,detacher,detacher-defaults}.go of v1.37.2. */
import { codeOf } from "@/lib/errors";
import { cleanupMountPoint, cleanupTools, isCorruptedMount } from "@/server/volume/mount-cleanup";
import { isMountedOrMakeDir, mounterOf } from "@/server/volume/plugins/bind-mount";
import { isCommandNotSupported, type DriverStatus } from "@/server/volume/plugins/flexvolume/driver-status";
import type { DriverCommand } from "@/server/volume/plugins/flexvolume/driver-call";
import { flexVolumeOf, optionsArgument } from "@/server/volume/plugins/flexvolume/flex-spec";
import { isPathThere, removeLeftover } from "@/server/volume/plugins/flexvolume/leftovers";
import type { FlexVolumeCore } from "@/server/volume/plugins/flexvolume/plugin";
import type { Spec } from "@/server/volume/spec";
import type { Attacher, Detacher } from "@/server/volume/volume";

export function newAttacher(core: FlexVolumeCore): Attacher {
  return {
    async attach(spec, nodeName) {
      const status = await ifSupported(core, "attach", [...optionsArgument(spec), nodeName]);
      return status?.devicePath ?? "";
    },
    volumesAreAttached: (specs, nodeName) => volumesAreAttached(core, specs, nodeName),
    async waitForAttach(spec, devicePath, _pod, timeoutMs) {
      const args = [devicePath, ...optionsArgument(spec)];
      const status = await ifSupported(core, "waitforattach", args, timeoutMs > 0 ? timeoutMs : undefined);
      return status ? status.devicePath : devicePath;
    },
    getDeviceMountPath: (spec) => core.deviceMountPath(spec),
    mountDevice: (spec, devicePath, deviceMountPath) => mountDevice(core, spec, { devicePath, deviceMountPath }),
  };
}

/** undefined when the driver does not know the command. */
async function ifSupported(
  core: FlexVolumeCore,
  command: DriverCommand,
  args: readonly string[],
  timeoutMs?: number,
): Promise<DriverStatus | undefined> {
  try {
    return await core.driver.call(command, args, timeoutMs);
  } catch (error) {
    if (isCommandNotSupported(error)) return undefined;
    throw error;
  }
}

/** undefined as soon as the driver can't tell. */
async function volumesAreAttached(core: FlexVolumeCore, specs: readonly Spec[], nodeName: string): Promise<ReadonlyMap<Spec, boolean> | undefined> {
  const attached = new Map<Spec, boolean>();
  for (const spec of specs) {
    const status = await ifSupported(core, "isattached", [...optionsArgument(spec), nodeName]);
    if (!status) return undefined;
    attached.set(spec, status.attached);
  }
  return attached;
}

interface DeviceMount {
  readonly devicePath: string;
  readonly deviceMountPath: string;
}

/** A driver without the command leaves a device to us; without a device there is nothing to mount. */
async function mountDevice(core: FlexVolumeCore, spec: Spec, { devicePath, deviceMountPath }: DeviceMount): Promise<void> {
  const host = core.host();
  if (await isMountedOrMakeDir(host, deviceMountPath)) return;
  const status = await ifSupported(core, "mountdevice", [deviceMountPath, devicePath, ...optionsArgument(spec)]);
  if (status || devicePath === "") return;
  const { source, readOnly } = flexVolumeOf(spec);
  const fsType = source.fsType ?? "";
  await mounterOf(host).formatAndMount({ source: devicePath, target: deviceMountPath, fsType, options: [readOnly ? "ro" : "rw"] });
}

export function newDetacher(core: FlexVolumeCore): Detacher {
  return {
    async detach(volumeName, nodeName) {
      await ifSupported(core, "detach", [volumeName, nodeName]);
    },
    unmountDevice: (deviceMountPath) => unmountDevice(core, deviceMountPath),
  };
}

async function unmountDevice(core: FlexVolumeCore, path: string): Promise<void> {
  const host = core.host();
  if (!(await isThereOrCorrupted(core, path))) return;
  if (await isMountedOrCorrupted(core, path)) {
    const status = await ifSupported(core, "unmountdevice", [path]);
    if (!status) await cleanupMountPoint(cleanupTools(host), path, { extensive: false });
  }
  await removeLeftover(host, path);
}

/** A path that can't be read counts as missing, unless a broken mount lies there. */
async function isThereOrCorrupted(core: FlexVolumeCore, path: string): Promise<boolean> {
  try {
    return await isPathThere(core.host(), path);
  } catch (error) {
    return isCorruptedMount(error);
  }
}

async function isMountedOrCorrupted(core: FlexVolumeCore, path: string): Promise<boolean> {
  try {
    return !(await mounterOf(core.host()).isLikelyNotMountPoint(path));
  } catch (error) {
    if (isCorruptedMount(error)) return true;
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
