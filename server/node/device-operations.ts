/**
 * The device half of a volume: attach and global mount, which the pods of a node share, and the way back. Nobody else attaches
 * here: a node that stands alone is its own attach controller.
 * Source: pkg/volume/util/operationexecutor/operation_generator.go (GenerateAttachVolumeFunc, GenerateMountVolumeFunc,
 * GenerateUnmountDeviceFunc, GenerateDetachVolumeFunc) of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goList, goQuote } from "@/lib/go-text";
import type { DeviceMount } from "@/server/node/actual-state";
import { operationMessage, step, successReasons } from "@/server/node/events";
import type { OperationContext } from "@/server/node/operation-context";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import { VolumeError } from "@/server/volume/errors";
import { hasMountRefs } from "@/server/volume/paths";
import { specName } from "@/server/volume/spec";
import type { Attacher } from "@/server/volume/volume";

const waitForAttachMs = 600_000;

/** The device as it stands after attaching; `devicePath` is "" for what is not attachable. */
export async function attachDevice(context: OperationContext, volume: ResolvedVolume): Promise<DeviceMount> {
  const { actual, manager, host } = context;
  const { uniqueName, spec, pod } = volume;
  const name = specName(spec);
  const known = actual.device(uniqueName) ?? newDevice(volume);
  if (!volume.attachable) return known;
  const plugin = await step("AttachVolume.FindAttachablePluginBySpec failed", name, () => manager.findAttachablePluginBySpec(spec));
  if (!plugin) return known;
  const attacher = await step("AttachVolume.NewAttacher failed", name, () => plugin.newAttacher());
  let attached = { ...known, spec };
  if (await isStillAttached(context, attached, attacher)) {
    attached = { ...attached, attached: "yes" };
    actual.putDevice(attached);
  } else {
    const devicePath = await step("AttachVolume.Attach failed", name, () => attachNoted(context, known, () => attacher.attach(spec, host.getNodeName())));
    attached = { ...attached, attached: "yes", devicePath };
    actual.putDevice(attached);
    const message = operationMessage("AttachVolume.Attach succeeded", name);
    context.event(pod, { type: "Normal", reason: successReasons["AttachVolume.Attach succeeded"], message });
  }
  // Not noted before the device is mounted: a retry waits for what attach named.
  const devicePath = await step("MountVolume.WaitForAttach failed", name, () =>
    attacher.waitForAttach(spec, attached.devicePath, pod, waitForAttachMs),
  );
  return { ...attached, devicePath };
}

/**
 * Of what an earlier process noted as attached the plugin is asked: the machine may have started anew since. What is in doubt, or what a
 * plugin can't tell, is attached anew.
 */
async function isStillAttached({ host }: OperationContext, { attached, spec, devicePath, uniqueName }: DeviceMount, attacher: Attacher): Promise<boolean> {
  if (attached !== "perhaps" || devicePath === "") return attached === "yes";
  try {
    return (await attacher.volumesAreAttached([spec], host.getNodeName()))?.get(spec) ?? false;
  } catch (error) {
    host.ports.log.error("a plugin does not tell whether a volume is attached", error, { volume: uniqueName });
    return false;
  }
}

/** Whatever its end: what may be attached stays noted until it is detached. A refusal has attached nothing, and undone nothing. */
async function attachNoted({ actual, attachments, point }: OperationContext, device: DeviceMount, attach: () => Promise<string>): Promise<string> {
  const { uniqueName } = device;
  await attachments.put(uniqueName, "");
  actual.putDevice({ ...device, attached: "perhaps", devicePath: "" });
  point("mount-before-attach");
  const devicePath = await attach().catch(async (error: unknown) => {
    if (codeOf(error) === "refused") {
      actual.putDevice(device);
      if (device.attached === "no") await attachments.remove(uniqueName);
      else await attachments.put(uniqueName, device.devicePath);
    }
    throw error;
  });
  point("mount-after-attach");
  await attachments.put(uniqueName, devicePath);
  return devicePath;
}

/** Mounts the device once for all pods of the node. Idempotent: plugins look at the mount table first. */
export async function mountDevice(context: OperationContext, volume: ResolvedVolume, device: DeviceMount): Promise<DeviceMount> {
  const { actual, manager } = context;
  const { spec, pod } = volume;
  const name = specName(spec);
  if (device.deviceMountPath !== undefined && device.certainty === "certain") return device;
  const mounter = await step("MountVolume.GetDeviceMountPath failed", name, async () =>
    (await manager.findDeviceMountablePluginBySpec(spec))?.newDeviceMounter(),
  );
  if (!mounter) return device;
  const deviceMountPath = await step("MountVolume.GetDeviceMountPath failed", name, () => mounter.getDeviceMountPath(spec));
  context.point("mount-before-device");
  const args = { fsGroup: pod.spec.securityContext?.fsGroup };
  try {
    await step("MountVolume.MountDevice failed", name, () => mounter.mountDevice(spec, device.devicePath, deviceMountPath, args));
  } catch (error) {
    markDeviceAfter(context, { ...device, deviceMountPath }, error);
    throw error;
  }
  const mounted: DeviceMount = { ...device, deviceMountPath, certainty: "certain" };
  actual.putDevice(mounted);
  context.point("mount-after-device");
  return mounted;
}

/** What an error says of the device: uncertain stays to be looked at, a transient one changes nothing, any other means "not mounted". */
function markDeviceAfter({ actual }: OperationContext, device: DeviceMount, error: unknown): void {
  const code = codeOf(error);
  const known = actual.device(device.uniqueName) ?? device;
  if (code === "uncertain") actual.putDevice({ ...device, certainty: "uncertain" });
  else if (code !== "transient" && device.attached !== "no") actual.putDevice({ ...known, deviceMountPath: undefined, certainty: "certain" });
  else if (code !== "transient") actual.removeDevice(device.uniqueName);
}

function newDevice(volume: Pick<ResolvedVolume, "uniqueName" | "pluginName" | "spec" | "mode">): DeviceMount {
  const { uniqueName, pluginName, spec, mode } = volume;
  return { uniqueName, pluginName, spec, mode, devicePath: "", attached: "no", deviceMountPath: undefined, certainty: "certain" };
}

/** Unmounts the global mount when no pod's mount refers to it, then detaches. */
export async function unmountDevice(context: OperationContext, device: DeviceMount): Promise<void> {
  const { actual, manager } = context;
  const name = specName(device.spec);
  const plugin = await step("UnmountDevice failed", name, () => manager.findDeviceMountablePluginByName(device.pluginName));
  const { deviceMountPath, devicePath } = device;
  if (plugin && deviceMountPath !== undefined) {
    await step("UnmountDevice failed", name, async () => {
      const references = await plugin.getDeviceMountRefs(deviceMountPath);
      if (hasMountRefs(deviceMountPath, references)) {
        throw new VolumeError(`the device mount path ${goQuote(deviceMountPath)} is still mounted by other references ${goList(references)}`);
      }
      const unmounter = await plugin.newDeviceUnmounter();
      context.point("unmount-before-device");
      actual.putDevice({ ...device, certainty: "uncertain" });
      await unmounter.unmountDevice(deviceMountPath);
      await refuseWhileOpen(context, devicePath);
    });
    context.point("unmount-after-device");
  }
  actual.putDevice({ ...device, deviceMountPath: undefined, certainty: "certain" });
  await detachDevice(context, device);
  actual.removeDevice(device.uniqueName);
}

/** A device that is still mounted elsewhere, or held by a program, is not taken from it (isDeviceOpened). */
async function refuseWhileOpen(context: OperationContext, devicePath: string): Promise<void> {
  if (devicePath === "" || !(await isOpen(context, devicePath))) return;
  throw new VolumeError("the device is in use when it was no longer expected to be in use");
}

/** A driver's device that this host may not touch is not looked at. */
async function isOpen({ host }: OperationContext, devicePath: string): Promise<boolean> {
  const hostUtils = host.getHostUtil();
  try {
    return (await hostUtils.pathIsDevice(devicePath)) && (await hostUtils.deviceOpened(devicePath));
  } catch (error) {
    if (codeOf(error) === "EACCES") return false;
    throw error;
  }
}

/** Once it was asked for, whatever its end, the volume has to be attached anew before it is used. */
async function detachDevice(context: OperationContext, device: DeviceMount): Promise<void> {
  if (device.attached === "no") return;
  const name = specName(device.spec);
  await context.attachments.put(device.uniqueName, "");
  context.actual.putDevice({ ...device, attached: "perhaps", devicePath: "", deviceMountPath: undefined, certainty: "certain" });
  context.point("unmount-before-detach");
  await step("DetachVolume.Detach failed", name, async () => {
    const plugin = await context.manager.findAttachablePluginByName(device.pluginName);
    if (!plugin) return;
    const detacher = await plugin.newDetacher();
    const volumeName = await plugin.getVolumeName(device.spec).catch((error: unknown) => {
      throw new VolumeError(`the volume's name is not known: ${messageOf(error)}`, "volume-error", error);
    });
    await detacher.detach(volumeName, context.host.getNodeName());
  });
  context.point("unmount-after-detach");
  await context.attachments.remove(device.uniqueName);
}
