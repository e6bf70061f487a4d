/**
 * kubernetes.io/local-volume: a directory or block device of the node as a persistent volume. Source: pkg/volume/local/local.go of
 * v1.37.2. Growing is real: the file system of a block device is grown through the host's block tools.
 */
import { messageOf } from "@/lib/errors";
import { cleanPath, isPathWithin, joinPath } from "@/lib/go-path";
import type { Pod } from "@/lib/kube/pods";
import type { LocalVolumeSource } from "@/lib/kube/volumes";
import { AsyncLock } from "@/server/volume/async-lock";
import { nilDereference, VolumeError, wrap } from "@/server/volume/errors";
import { isKubeletVolumeHost, type KubeletVolumeHost, type VolumeHost } from "@/server/volume/host";
import { newMetricsBlock, newMetricsStatFS } from "@/server/volume/metrics";
import { cleanupMountPoint, cleanupTools, removePath } from "@/server/volume/mount-cleanup";
import { joinMountOptions, mountOptionFromSpec } from "@/server/volume/mount-options";
import { escapeQualifiedName } from "@/server/volume/paths";
import type {
  BlockVolumePlugin,
  DeviceMountableVolumePlugin,
  NodeExpandableVolumePlugin,
  NodeResizeOptions,
  PersistentVolumePlugin,
  ReconstructedVolume,
} from "@/server/volume/plugin";
import { bindMount, isMounted, isMountedOrMakeDir, mounterOf } from "@/server/volume/plugins/bind-mount";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { newSpecFromPersistentVolume, specName, type Spec } from "@/server/volume/spec";
import type {
  BlockVolume,
  BlockVolumeUnmapper,
  CustomBlockVolumeMapper,
  DeviceMounter,
  DeviceUnmounter,
  Mounter,
  MounterArgs,
  Unmounter,
} from "@/server/volume/volume";
import { hasFilesystemToGrow } from "@/server/volume/volume-mode";
import { setVolumeOwnership } from "@/server/volume/volume-ownership";

const pluginName = "kubernetes.io/local-volume";
const defaultFSType = "ext4";

type LocalVolumePlugin = PersistentVolumePlugin & DeviceMountableVolumePlugin & NodeExpandableVolumePlugin & BlockVolumePlugin;

export function newLocalVolumePlugin(): LocalVolumePlugin {
  const { init, host } = newHostSlot(pluginName);
  /** One set up at a time per source: the check of other pods' groups and the mount belong together. */
  const locks = new Map<string, AsyncLock>();

  function lockOf(globalPath: string): AsyncLock {
    const lock = locks.get(globalPath) ?? new AsyncLock();
    locks.set(globalPath, lock);
    return lock;
  }

  return {
    init,
    getPluginName: () => pluginName,
    getVolumeName: async (spec) => specName(spec),
    canSupport: (spec) => spec.persistentVolume?.spec.local !== undefined,
    requiresRemount: async () => false,
    supportsMountOption: () => true,
    supportsSELinuxContextMount: async () => false,
    getAccessModes: () => ["ReadWriteOnce"],
    decidingField: "local",
    sources: { persistentVolume: ["local"] },
    about: { kind: "in-tree" },

    async newMounter(spec, pod) {
      sourceOf(spec);
      const globalPath = await globalLocalPath(host(), spec);
      if (!pod) throw nilDereference("pod");
      return newMounter({ host: kubeletHost(host()), spec, pod, globalPath, lock: lockOf(globalPath) });
    },
    async newUnmounter(name, podUID) {
      return newUnmounter(host(), name, podUID);
    },
    constructVolumeSpec: (volumeName, volumePath) => constructVolumeSpec(host(), volumeName, volumePath),

    newDeviceMounter: async () => newDeviceMounter(host()),
    newDeviceUnmounter: async () => newDeviceUnmounter(host()),
    getDeviceMountRefs: (deviceMountPath) => mounterOf(host()).getMountRefs(deviceMountPath),
    canDeviceMount: async () => true,

    requiresFSResize: () => true,
    nodeExpand: (options) => nodeExpand(host(), options),

    newBlockVolumeMapper: async (spec, pod) => newMapper(host(), spec, pod),
    newBlockVolumeUnmapper: async (name, podUID) => newBlockVolume(host(), name, podUID),
    async constructBlockVolumeSpec(_podUID, volumeName) {
      return reconstructed(volumeName, "", "Block");
    },
  } satisfies LocalVolumePlugin;
}

function sourceOf(spec: Spec): LocalVolumeSource {
  const source = spec.persistentVolume?.spec.local;
  if (!source) throw new VolumeError("Spec does not reference a Local volume type");
  return source;
}

function kubeletHost(host: VolumeHost): KubeletVolumeHost {
  if (isKubeletVolumeHost(host)) return host;
  throw new VolumeError("plugin volume host does not implement KubeletVolumeHost interface");
}

type SourceKind = "directory" | "block device";

/** Throws when the path is missing or is anything else. */
async function kindOfSource(host: VolumeHost, path: string): Promise<SourceKind> {
  const type = await kubeletHost(host).getHostUtil().getFileType(path);
  if (type === "Directory") return "directory";
  if (type === "BlockDevice") return "block device";
  throw new VolumeError("only directory and block device are supported");
}

/** Checked on its own where the real code reads the persistent volume without a look. */
function pathOfSource(spec: Spec): string {
  if (!spec.persistentVolume) throw nilDereference("the persistent volume of the spec");
  const path = spec.persistentVolume.spec.local?.path ?? "";
  if (path === "") throw new VolumeError("local volume source is nil or local path is not set");
  return path;
}

/** Where block devices are mounted for all pods. */
function deviceMountsDir(host: VolumeHost): string {
  return joinPath(host.getPluginDir(pluginName), "mounts");
}

/** What pods bind from: the directory itself, or the global mount of a device. */
async function globalLocalPath(host: VolumeHost, spec: Spec): Promise<string> {
  const path = pathOfSource(spec);
  if ((await kindOfSource(host, path)) === "directory") return path;
  return joinPath(deviceMountsDir(host), specName(spec));
}

function podVolumeDir(host: VolumeHost, podUID: string, volumeName: string): string {
  return host.getPodVolumeDir(podUID, escapeQualifiedName(pluginName), volumeName);
}

interface MounterParts {
  readonly host: KubeletVolumeHost;
  readonly spec: Spec;
  readonly pod: Pod;
  readonly globalPath: string;
  readonly lock: AsyncLock;
}

function newMounter(parts: MounterParts): Mounter {
  const { host, spec, pod, lock } = parts;
  const path = podVolumeDir(host, pod.metadata.uid ?? "", specName(spec));
  const setUpAt = (dir: string, args: MounterArgs): Promise<void> => lock.run(() => setUp(parts, dir, args));
  return {
    getPath: () => path,
    getMetrics: () => newMetricsStatFS(host.ports, path).getMetrics(),
    getAttributes: () => ({ readOnly: spec.readOnly, managed: !spec.readOnly, seLinuxRelabel: true }),
    setUp: (args) => setUpAt(path, args),
    setUpAt,
  };
}

async function setUp(parts: MounterParts, dir: string, args: MounterArgs): Promise<void> {
  const { host, spec, globalPath } = parts;
  const mounter = mounterOf(host);
  if (globalPath.split("/").includes("..")) throw new VolumeError(`invalid path: ${globalPath} must not contain '..'`);
  if (await isMounted(mounter, dir, "exact")) return;

  const references = await otherMounts(parts, args.fsGroup);
  const options = joinMountOptions(spec.readOnly ? ["bind", "ro"] : ["bind"], mountOptionFromSpec(spec));
  await bindMount(host, { source: joinPath("/", globalPath), dir, options, check: "exact" });

  // The group is set once, by the first pod that mounts the volume.
  if (spec.readOnly || references.length > 0) return;
  const { fsGroup, fsGroupChangePolicy } = args;
  await setVolumeOwnership(host, { dir, fsGroup, fsGroupChangePolicy, readOnly: spec.readOnly });
}

/** Where else the source is mounted; only in pods when a group is asked for, and then with a warning when theirs differs. */
async function otherMounts(parts: MounterParts, fsGroup: number | undefined): Promise<readonly string[]> {
  const { host, globalPath } = parts;
  if (fsGroup === undefined) {
    return mounterOf(host).getMountRefs(globalPath).catch(() => []);
  }
  const references = await mounterOf(host).getMountRefs(globalPath);
  const podsDir = `${cleanPath(host.getPodsDir())}/`;
  const inPods = references.filter((reference) => reference.startsWith(podsDir));
  if (inPods.length > 0) await warnOfOtherGroup(parts, fsGroup);
  return inPods;
}

async function warnOfOtherGroup({ host, spec, pod, globalPath }: MounterParts, fsGroup: number): Promise<void> {
  const owner = await host
    .getHostUtil()
    .getOwner(globalPath)
    .catch((error: unknown) => {
      throw new VolumeError(`failed to check fsGroup for ${globalPath} (${messageOf(error)})`, "volume-error", error);
    });
  if (owner.gid === fsGroup) return;
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  host
    .getEventRecorder()
    ?.event(
      { kind: "Pod", namespace, name, uid },
      "Warning",
      "AlreadyMountedVolume",
      `The requested fsGroup is ${fsGroup}, but the volume ${specName(spec)} has GID ${owner.gid}. The volume may not be shareable.`,
    );
}

function newUnmounter(host: VolumeHost, volumeName: string, podUID: string): Unmounter {
  const path = podVolumeDir(host, podUID, volumeName);
  const tearDownAt = (dir: string): Promise<void> => cleanupMountPoint(cleanupTools(host), dir, { extensive: true });
  return {
    getPath: () => path,
    getMetrics: () => newMetricsStatFS(host.ports, path).getMetrics(),
    tearDown: () => tearDownAt(path),
    tearDownAt,
  };
}

function newDeviceMounter(host: VolumeHost): DeviceMounter {
  return {
    getDeviceMountPath: (spec) => globalLocalPath(host, spec),
    async mountDevice(spec, _devicePath, deviceMountPath) {
      const path = pathOfSource(spec);
      // The plugin is not attachable, so the device is the one of the volume itself.
      if ((await kindOfSource(host, path)) === "block device") await mountBlockDevice(host, spec, deviceMountPath);
    },
  };
}

async function mountBlockDevice(host: VolumeHost, spec: Spec, deviceMountPath: string): Promise<void> {
  if (await isMountedOrMakeDir(host, deviceMountPath)) return;
  const { path, fsType } = sourceOf(spec);
  const type = fsType ?? defaultFSType;
  const options = mountOptionFromSpec(spec, ...(spec.readOnly ? ["ro"] : []));
  try {
    await mounterOf(host).formatAndMount({ source: path, target: deviceMountPath, fsType: type, options });
  } catch (error) {
    await removePath(host.ports.files, deviceMountPath).catch((cause: unknown) => {
      host.ports.log.error("could not remove the folder of a failed mount", cause, { path: deviceMountPath });
    });
    throw wrap(
      `local: failed to mount device ${path} at ${deviceMountPath} (fstype: ${type}), error ${messageOf(error)}`,
      error,
    );
  }
}

/** A directory's device mount path is the directory itself, which is never touched. */
function newDeviceUnmounter(host: VolumeHost): DeviceUnmounter {
  return {
    async unmountDevice(deviceMountPath) {
      if (!isPathWithin(deviceMountPath, deviceMountsDir(host))) return;
      await cleanupMountPoint(cleanupTools(host), deviceMountPath, { extensive: false });
    },
  };
}

async function nodeExpand(host: VolumeHost, options: NodeResizeOptions): Promise<boolean> {
  const { volumeSpec, deviceMountPath } = options;
  if (!hasFilesystemToGrow(volumeSpec)) return true;
  const { path } = sourceOf(volumeSpec);
  if ((await kindOfSource(host, path)) === "directory") return true;
  await host.ports.blockTools.grow(path, deviceMountPath);
  return true;
}

/** The device behind the global mount that shares the pod's file system; "" for a directory, which needs no clean-up of its own. */
async function constructVolumeSpec(host: VolumeHost, volumeName: string, volumePath: string): Promise<ReconstructedVolume> {
  const mounter = mounterOf(host);
  const references = await mounter.getMountRefs(volumePath);
  const global = references.find((reference) => isPathWithin(reference, deviceMountsDir(host)));
  const mounts = global === undefined ? [] : await mounter.list();
  const device = mounts.find((mount) => mount.path === global)?.device ?? "";
  return { spec: reconstructed(volumeName, device, "Filesystem"), seLinuxMountContext: "" };
}

function reconstructed(name: string, path: string, volumeMode: string): Spec {
  return newSpecFromPersistentVolume({ metadata: { name }, spec: { local: { path }, volumeMode } }, false);
}

function newBlockVolume(host: VolumeHost, volumeName: string, podUID: string): BlockVolumeUnmapper & BlockVolume {
  const escaped = escapeQualifiedName(pluginName);
  return {
    getGlobalMapPath: async (spec) => globalMapPath(host, spec),
    getPodDeviceMapPath: () => ({ dir: host.getPodVolumeDeviceDir(podUID, escaped), name: volumeName }),
    supportsMetrics: () => true,
    getMetrics: () => newMetricsBlock(host.ports, "").getMetrics(),
  };
}

/** Unlike other plugins' it is made of the escaped name. */
function globalMapPath(host: VolumeHost, spec: Spec): string {
  return joinPath(host.getVolumeDevicePluginDir(escapeQualifiedName(pluginName)), specName(spec));
}

function newMapper(host: VolumeHost, spec: Spec, pod: Pod | undefined): CustomBlockVolumeMapper {
  const { path } = sourceOf(spec);
  if (!pod) throw nilDereference("pod");
  const podUID = pod.metadata.uid ?? "";
  return {
    ...newBlockVolume(host, specName(spec), podUID),
    getMetrics: () => newMetricsBlock(host.ports, joinPath(globalMapPath(host, spec), podUID)).getMetrics(),
    getStagingPath: () => "",
    setUpDevice: async () => "",
    mapPodDevice: async () => joinPath("/", path),
  };
}
