/**
 * Maps a raw block volume: a link to the device in the pod's folder, and the device itself bound below the global map path.
 * Source: pkg/volume/util/operationexecutor/operation_generator.go (GenerateMapVolumeFunc, GenerateUnmapVolumeFunc,
 * GenerateUnmapDeviceFunc) and pkg/volume/util/volumepathhandler of v1.37.2. The kubelet's extra loop device, a lock against
 * foreign detaching, is left out: nobody else detaches here.
 */
import { joinPath } from "@/lib/go-path";
import { goQuote } from "@/lib/go-text";
import type { DeviceMount, PodMount } from "@/server/node/actual-state";
import { attachDevice } from "@/server/node/device-operations";
import { operationMessage, step, successReasons } from "@/server/node/events";
import { checkAffinity } from "@/server/node/mount-operations";
import { makePodFolders } from "@/server/node/folders";
import { traceOf } from "@/server/node/lost-mounts";
import type { OperationContext } from "@/server/node/operation-context";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import { VolumeError } from "@/server/volume/errors";
import { specName } from "@/server/volume/spec";
import type { BlockVolumeMapper, BlockVolumeUnmapper, CustomBlockVolumeMapper, CustomBlockVolumeUnmapper } from "@/server/volume/volume";

export async function mapVolume(context: OperationContext, volume: ResolvedVolume): Promise<void> {
  const { actual, manager } = context;
  const { spec, pod, podUID, uniqueName, pluginName, volumeName } = volume;
  const name = specName(spec);
  const plugin = await step("MapVolume.FindMapperPluginBySpec failed", name, () => requiredMapper(manager.findMapperPluginBySpec(spec)));
  await checkAffinity(context, volume, "MapVolume.NodeAffinity check failed");
  await makePodFolders(context.host, podUID);
  const mapper = await step("MapVolume.NewBlockVolumeMapper initialization failed", name, () => plugin.newBlockVolumeMapper(spec, pod));
  const attached = await attachDevice(context, volume);
  const globalMapPath = await step("MapVolume.GetGlobalMapPath failed", name, () => mapper.getGlobalMapPath(spec));
  let { devicePath } = attached;
  if (isCustomMapper(mapper)) {
    await step("MapVolume.SetUpDevice failed", name, () => mapper.setUpDevice());
    context.point("map-after-device");
    const mapped = await step("MapVolume.MapPodDevice failed", name, () => mapper.mapPodDevice());
    if (mapped !== "") devicePath = mapped;
  }
  if (devicePath === "") await step("MapVolume.MapBlockVolume failed", name, () => Promise.reject(new VolumeError("Device path of the volume is empty")));
  const { dir, name: linkName } = mapper.getPodDeviceMapPath();
  const path = joinPath(dir, linkName);
  actual.putDevice({ ...attached, devicePath, deviceMountPath: globalMapPath, certainty: "certain" });
  await step("MapVolume.MapBlockVolume failed", name, () => mapBlock(context, { devicePath, globalMapPath, podUID, link: path }));
  const mount: PodMount = {
    podUID,
    uniqueName,
    pluginName,
    specName: name,
    volumeName,
    spec,
    mode: "Block",
    path,
    certainty: "certain",
    reconstructed: false,
    remountRequired: false,
    trace: await traceOf(context.host, path, joinPath(globalMapPath, podUID)),
  };
  actual.putMount(mount);
  context.point("map-after-bind");
  const message = operationMessage("MapVolume.MapPodDevice succeeded", name, `globalMapPath ${goQuote(globalMapPath)}`);
  context.event(pod, { type: "Normal", reason: successReasons["MapVolume.MapPodDevice succeeded"], message });
  await step("MountVolume.Setup failed while expanding volume", name, () =>
    context.expandDuringMount(volume, mount, { devicePath, deviceStagePath: globalMapPath, deviceMountPath: mount.path }),
  );
}

async function requiredMapper<T>(finding: Promise<T | undefined>): Promise<T> {
  const plugin = await finding;
  if (plugin === undefined) throw new VolumeError("no block volume plugin matched");
  return plugin;
}

function isCustomMapper(mapper: BlockVolumeMapper): mapper is CustomBlockVolumeMapper {
  return "setUpDevice" in mapper && "mapPodDevice" in mapper;
}

function isCustomUnmapper(unmapper: BlockVolumeUnmapper): unmapper is CustomBlockVolumeUnmapper {
  return "tearDownDevice" in unmapper && "unmapPodDevice" in unmapper;
}

interface BlockMap {
  readonly devicePath: string;
  readonly globalMapPath: string;
  readonly podUID: string;
  readonly link: string;
}

/** Idempotent: a link or a bind that is there stays. */
async function mapBlock({ host, point }: OperationContext, map: BlockMap): Promise<void> {
  const { files } = host.ports;
  const mounter = host.getMounter();
  if (!mounter) throw new VolumeError("this host has no mounter");
  await files.mkdirAll(map.link.slice(0, map.link.lastIndexOf("/")), 0o750);
  const there = await files.lstat(map.link);
  const isRight = there !== undefined && (await files.readLink(map.link)) === map.devicePath;
  if (there && !isRight) await files.unlink(map.link);
  // The link first: by it a restarted process finds a half-made map.
  if (!isRight) await files.symlink(map.devicePath, map.link);
  point("map-after-link");
  const bound = joinPath(map.globalMapPath, map.podUID);
  await files.mkdirAll(map.globalMapPath, 0o750);
  if (!(await files.lstat(bound))) await files.writeFile(bound, "", 0o640);
  if (!(await mounter.isMountPoint(bound))) await mounter.mount({ source: map.devicePath, target: bound, fsType: "", options: ["bind"] });
}

export async function unmapVolume(context: OperationContext, mount: PodMount): Promise<void> {
  const { actual, manager, host } = context;
  await step("UnmapVolume.UnmapPodDevice failed", mount.specName, async () => {
    const plugin = await requiredMapper(manager.findMapperPluginByName(mount.pluginName));
    const unmapper = await plugin.newBlockVolumeUnmapper(mount.specName, mount.podUID);
    actual.putMount({ ...mount, certainty: "uncertain" });
    context.point("unmap-before-unbind");
    const bound = joinPath(await unmapper.getGlobalMapPath(mount.spec), mount.podUID);
    if (await host.ports.files.lstat(bound)) {
      const mounter = host.getMounter();
      if (await mounter?.isMountPoint(bound)) await mounter?.unmount(bound);
      await unlinkIfThere(context, bound);
    }
    context.point("unmap-after-unbind");
    // The link last: by it a restarted process finds what is left to do.
    const { dir, name } = unmapper.getPodDeviceMapPath();
    await unlinkIfThere(context, joinPath(dir, name));
    if (isCustomUnmapper(unmapper)) await unmapper.unmapPodDevice();
  });
  actual.removeMount(mount.podUID, mount.uniqueName);
  context.point("unmap-after-unlink");
}

async function unlinkIfThere({ host }: OperationContext, path: string): Promise<void> {
  if (await host.ports.files.lstat(path)) await host.ports.files.unlink(path);
}

/** The device half: the global map folder goes when no pod is bound in it any more. */
export async function unmapDevice(context: OperationContext, device: DeviceMount): Promise<void> {
  const { actual, manager, host } = context;
  const name = specName(device.spec);
  await step("UnmapDevice.TearDownDevice failed", name, async () => {
    const plugin = await requiredMapper(manager.findMapperPluginByName(device.pluginName));
    const unmapper = await plugin.newBlockVolumeUnmapper(name, "");
    const path = device.deviceMountPath ?? (await unmapper.getGlobalMapPath(device.spec));
    const { files } = host.ports;
    const left = (await files.lstat(path)) ? await files.readDir(path) : undefined;
    if (left && left.length > 0) throw new VolumeError(`the device "${path}" is still referenced from other Pods [${left.map((entry) => entry.name).join(" ")}]`);
    if (isCustomUnmapper(unmapper)) await unmapper.tearDownDevice(path, device.devicePath);
    if (left) await files.rmdir(path);
  });
  actual.removeDevice(device.uniqueName);
  context.point("unmap-after-device");
}
