/**
 * Mounts a file system volume for a pod and takes it away again.
 * Source: pkg/volume/util/operationexecutor/operation_generator.go (GenerateMountVolumeFunc, GenerateUnmountVolumeFunc) of v1.37.2.
 */
import { codeOf } from "@/lib/errors";
import type { PodMount } from "@/server/node/actual-state";
import { checkNodeAffinity } from "@/server/node/binding";
import { attachDevice, mountDevice } from "@/server/node/device-operations";
import { OperationFailure, step, type FailurePrefix } from "@/server/node/events";
import { makePodFolders } from "@/server/node/folders";
import { traceOf } from "@/server/node/lost-mounts";
import type { OperationContext } from "@/server/node/operation-context";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import { VolumeError } from "@/server/volume/errors";
import { checkMountOptionSupport } from "@/server/volume/mount-options";
import type { VolumePlugin } from "@/server/volume/plugin";
import { specName } from "@/server/volume/spec";
import type { Mounter } from "@/server/volume/volume";

/** Steps: find the plugin, check where and how it may be mounted, attach, mount the device, set up the pod's path, grow. */
export async function mountVolume(context: OperationContext, volume: ResolvedVolume): Promise<void> {
  const { actual, manager } = context;
  const { spec, pod, podUID, uniqueName } = volume;
  const name = specName(spec);
  const known = actual.podMount(podUID, uniqueName);
  const plugin = await step("MountVolume.FindPluginBySpec failed", name, () => manager.findPluginBySpec(spec));
  await checkAffinity(context, volume, "MountVolume.NodeAffinity check failed");
  await makePodFolders(context.host, podUID);
  const mounter = await newMounter(plugin, volume);
  await step("MountVolume.MountOptionSupport check failed", name, () => checkMountOptionSupport(spec, plugin));
  let device = await attachDevice(context, volume);
  if (volume.deviceMountable) device = await mountDevice(context, volume, device);
  const mount = podMountOf(volume, mounter.getPath());
  context.point("mount-before-set-up");
  try {
    await mounter.setUp({
      fsGroup: pod.spec.securityContext?.fsGroup,
      fsGroupChangePolicy: pod.spec.securityContext?.fsGroupChangePolicy,
      isRemount: known?.certainty === "certain" && known.remountRequired,
      reconstructedVolume: known?.reconstructed ?? false,
    });
  } catch (error) {
    markMountAfter(context, mount, error);
    throw new OperationFailure("MountVolume.SetUp failed", name, error);
  }
  actual.putMount({ ...mount, trace: await traceOf(context.host, mount.path, mount.path) });
  context.point("mount-after-set-up");
  const paths = { devicePath: device.devicePath, deviceStagePath: device.deviceMountPath ?? "", deviceMountPath: mount.path };
  await step("MountVolume.Setup failed while expanding volume", name, () => context.expandDuringMount(volume, mount, paths));
}

async function newMounter(plugin: VolumePlugin, { spec, pod }: ResolvedVolume): Promise<Mounter> {
  return step("MountVolume.NewMounter initialization failed", specName(spec), async () => {
    const mounter = await plugin.newMounter(spec, pod);
    if (!mounter) throw new VolumeError(`plugin ${plugin.getPluginName()} gave no mounter`);
    return mounter;
  });
}

export async function checkAffinity(context: OperationContext, { spec }: ResolvedVolume, prefix: FailurePrefix): Promise<void> {
  const { persistentVolume } = spec;
  if (!persistentVolume?.spec.nodeAffinity?.required) return;
  await step(prefix, specName(spec), async () => checkNodeAffinity(persistentVolume, await context.host.getNodeLabels()));
}

function podMountOf(volume: ResolvedVolume, path: string): PodMount {
  const { podUID, uniqueName, pluginName, spec, mode, volumeName } = volume;
  const common = { podUID, uniqueName, pluginName, specName: specName(spec), volumeName, spec, mode, path };
  return { ...common, certainty: "certain", reconstructed: false, remountRequired: false };
}

/** A final error of a new mount leaves nothing; one of a remount leaves what was mounted. */
function markMountAfter({ actual }: OperationContext, mount: PodMount, error: unknown): void {
  const known = actual.podMount(mount.podUID, mount.uniqueName);
  const code = codeOf(error);
  if (code === "uncertain") actual.putMount({ ...mount, certainty: "uncertain" });
  else if (code !== "transient" && known?.certainty === "uncertain" && !known.reconstructed) actual.removeMount(mount.podUID, mount.uniqueName);
}

/** Throws OperationFailure, and leaves the volume uncertain, when it could not be taken away. */
export async function unmountVolume(context: OperationContext, mount: PodMount): Promise<void> {
  const { actual, manager } = context;
  await step("UnmountVolume.TearDown failed", mount.specName, async () => {
    const plugin = await manager.findPluginByName(mount.pluginName);
    const unmounter = await plugin.newUnmounter(mount.specName, mount.podUID);
    if (!unmounter) throw new VolumeError(`plugin ${mount.pluginName} gave no unmounter`);
    context.point("unmount-before-tear-down");
    try {
      await unmounter.tearDown();
    } catch (error) {
      actual.putMount({ ...mount, certainty: "uncertain" });
      throw error;
    }
  });
  actual.removeMount(mount.podUID, mount.uniqueName);
  context.point("unmount-after-tear-down");
}
