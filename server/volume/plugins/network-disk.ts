/**
 * What kubernetes.io/iscsi and kubernetes.io/fc share: a disk on the network that each node finds for itself, mounted once per node
 * and bound into pods. Source: pkg/volume/{iscsi,fc} (plugin, attacher, disk_manager) of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import { goQuote } from "@/lib/go-text";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { VolumeError, wrap } from "@/server/volume/errors";
import { isKubeletVolumeHost, type VolumeHost } from "@/server/volume/host";
import { newMetricsBlock, type MetricsProvider } from "@/server/volume/metrics";
import { cleanupMountPoint, cleanupTools, removePath } from "@/server/volume/mount-cleanup";
import { joinMountOptions, mountOptionFromSpec } from "@/server/volume/mount-options";
import { escapeQualifiedName } from "@/server/volume/paths";
import type {
  AttachableVolumePlugin,
  BlockVolumePlugin,
  PersistentVolumePlugin,
  PluginSources,
  ReconstructedVolume,
} from "@/server/volume/plugin";
import { bindMount, isMounted, isMountedOrMakeDir, mounterOf } from "@/server/volume/plugins/bind-mount";
import { findGlobalMapPath } from "@/server/volume/plugins/block-map-path";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { addSELinuxMountOption } from "@/server/volume/selinux";
import { newSpecFromPersistentVolume, newSpecFromVolume, specName, type Spec } from "@/server/volume/spec";
import type {
  Attacher,
  BlockVolume,
  BlockVolumeMapper,
  CustomBlockVolumeUnmapper,
  Detacher,
  Mounter,
  MounterArgs,
  Unmounter,
} from "@/server/volume/volume";
import { setVolumeOwnership } from "@/server/volume/volume-ownership";

/** One disk as a spec describes it. */
export interface NetworkDisk {
  readonly fsType: string;
  readonly readOnly: boolean;
  /** What names it below the plugin's folder, such as `iface-default/10.0.0.1:3260-iqn.x-lun-0`. */
  readonly relativePath: string;
}

export type ReconstructedSource = Pick<Volume, "iscsi" | "fc">;

export interface NetworkDiskKind {
  readonly pluginName: string;
  readonly sources: PluginSources;
  readonly decidingField: string;
  readonly supportsBlockMetrics: boolean;
  /** The step that an error of unmountDevice names. */
  readonly unmounting: "detach disk" | "unmount";
  canSupport(spec: Spec): boolean;
  getVolumeName(spec: Spec): string;
  /** Throws VolumeError when the spec is of another kind or names no disk; `purpose` is a word of the text. */
  diskOf(spec: Spec, purpose: "mounter" | "mapper"): NetworkDisk;
  /** What mounting checks beyond the disk itself: secrets, the volume's mode. */
  checkMounter(host: VolumeHost, spec: Spec, pod: Pod): Promise<void>;
  checkMapper(host: VolumeHost, spec: Spec, pod: Pod | undefined): Promise<void>;
  /** Throws where volumeSpecToMounter fails for a disk that is there. */
  checkPaths(spec: Spec): void;
  metrics(host: VolumeHost, path: string): MetricsProvider;
  /** The device of an attached disk. */
  findDevice(host: VolumeHost, spec: Spec, pod: Pod | undefined): Promise<string>;
  /** The source behind a global mount or map path. */
  parseGlobalPath(path: string, what: "mount" | "map"): ReconstructedSource;
}

export type NetworkDiskPlugin = PersistentVolumePlugin & AttachableVolumePlugin & BlockVolumePlugin;

export function newNetworkDiskPlugin(kind: NetworkDiskKind): NetworkDiskPlugin {
  const { pluginName } = kind;
  const { init, host } = newHostSlot(pluginName);

  return {
    init,
    getPluginName: () => pluginName,
    getVolumeName: async (spec) => kind.getVolumeName(spec),
    canSupport: (spec) => kind.canSupport(spec),
    requiresRemount: async () => false,
    supportsMountOption: () => true,
    supportsSELinuxContextMount: async () => true,
    getAccessModes: () => ["ReadWriteOnce", "ReadOnlyMany"],
    decidingField: kind.decidingField,
    sources: kind.sources,
    about: { kind: "in-tree", seLinuxMount: "yes" },

    newMounter: (spec, pod) => newMounter(kind, host(), spec, pod),
    newUnmounter: async (name, podUID) => newUnmounter(kind, host(), name, podUID),
    constructVolumeSpec: (volumeName, volumePath) => constructVolumeSpec(kind, host(), volumeName, volumePath),

    canAttach: async () => true,
    canDeviceMount: async () => true,
    verifyExhaustedResource: () => false,
    newAttacher: async () => newAttacher(kind, host()),
    newDeviceMounter: async () => newAttacher(kind, host()),
    newDetacher: async () => newDetacher(kind, host()),
    newDeviceUnmounter: async () => newDetacher(kind, host()),
    getDeviceMountRefs: (deviceMountPath) => mounterOf(host()).getMountRefs(deviceMountPath),

    newBlockVolumeMapper: (spec, pod) => newMapper(kind, host(), spec, pod),
    newBlockVolumeUnmapper: async (name, podUID) => newUnmapper(kind, host(), name, podUID),
    async constructBlockVolumeSpec(podUID, volumeName, mapPath) {
      const uidPath = await findGlobalMapPath(host().ports.files, host().getVolumeDevicePluginDir(pluginName), mapPath, podUID);
      const source = kind.parseGlobalPath(parentOf(uidPath), "map");
      return newSpecFromPersistentVolume({ metadata: { name: volumeName }, spec: { ...source, volumeMode: "Block" } }, false);
    },
  } satisfies NetworkDiskPlugin;
}

/** filepath.Dir, with "." for the path that was not found. */
function parentOf(path: string): string {
  return path === "" ? "." : joinPath(path, "..");
}

function globalMountPath(kind: NetworkDiskKind, host: VolumeHost, spec: Spec): string {
  const { relativePath } = kind.diskOf(spec, "mounter");
  kind.checkPaths(spec);
  return joinPath(host.getPluginDir(kind.pluginName), relativePath);
}

function globalMapPath(kind: NetworkDiskKind, host: VolumeHost, spec: Spec): string {
  const { relativePath } = kind.diskOf(spec, "mounter");
  kind.checkPaths(spec);
  return joinPath(host.getVolumeDevicePluginDir(kind.pluginName), relativePath);
}

function podVolumeDir(kind: NetworkDiskKind, host: VolumeHost, podUID: string, volumeName: string): string {
  return host.getPodVolumeDir(podUID, escapeQualifiedName(kind.pluginName), volumeName);
}

async function newMounter(kind: NetworkDiskKind, host: VolumeHost, spec: Spec, pod: Pod | undefined): Promise<Mounter> {
  if (!pod) throw new VolumeError("nil pod");
  const disk = kind.diskOf(spec, "mounter");
  await kind.checkMounter(host, spec, pod);
  const { readOnly } = disk;
  const source = joinPath(host.getPluginDir(kind.pluginName), disk.relativePath);
  const path = podVolumeDir(kind, host, pod.metadata.uid ?? "", specName(spec));
  let mountedWithContext = false;

  async function setUpAt(dir: string, args: MounterArgs): Promise<void> {
    if (!(await isMounted(mounterOf(host), dir, "likely"))) {
      const options = joinMountOptions(mountOptionFromSpec(spec), readOnly ? ["bind", "ro"] : ["bind"]);
      await bindMount(host, { source, dir, options, check: "likely" });
      const { fsGroup, fsGroupChangePolicy } = args;
      if (!readOnly) await setVolumeOwnership(host, { dir, fsGroup, fsGroupChangePolicy, readOnly });
    }
    mountedWithContext = (args.seLinuxLabel ?? "") !== "";
  }

  return {
    getPath: () => path,
    getMetrics: () => kind.metrics(host, path).getMetrics(),
    getAttributes: () => ({ readOnly, managed: !readOnly, seLinuxRelabel: !mountedWithContext }),
    setUp: (args) => setUpAt(path, args),
    setUpAt,
  };
}

function newUnmounter(kind: NetworkDiskKind, host: VolumeHost, volumeName: string, podUID: string): Unmounter {
  const path = podVolumeDir(kind, host, podUID, volumeName);
  const tearDownAt = (dir: string): Promise<void> => cleanupMountPoint(cleanupTools(host), dir, { extensive: false });
  return {
    getPath: () => path,
    getMetrics: () => kind.metrics(host, path).getMetrics(),
    tearDown: () => tearDownAt(path),
    tearDownAt,
  };
}

/** Attaching is done by the node that mounts, so the controller's half has nothing to do. */
function newAttacher(kind: NetworkDiskKind, host: VolumeHost): Attacher {
  return {
    attach: async () => "",
    volumesAreAttached: async (specs) => new Map(specs.map((spec) => [spec, true])),
    waitForAttach: (spec, _devicePath, pod) => kind.findDevice(host, spec, pod),
    getDeviceMountPath: async (spec) => globalMountPath(kind, host, spec),
    async mountDevice(spec, devicePath, deviceMountPath, args) {
      if (await isMountedOrMakeDir(host, deviceMountPath)) return;
      const { fsType, readOnly } = kind.diskOf(spec, "mounter");
      const access = readOnly ? ["ro"] : [];
      const system = args.seLinuxLabel ? addSELinuxMountOption(access, args.seLinuxLabel) : access;
      const options = mountOptionFromSpec(spec, ...system);
      try {
        await mounterOf(host).formatAndMount({ source: devicePath, target: deviceMountPath, fsType, options });
      } catch (error) {
        await removeQuietly(host, deviceMountPath);
        throw error;
      }
    },
  };
}

/** Nothing is logged in to from here, so unmounting is all there is to undo. */
function newDetacher(kind: NetworkDiskKind, host: VolumeHost): Detacher {
  return {
    detach: async () => {},
    async unmountDevice(deviceMountPath) {
      try {
        await cleanupMountPoint(cleanupTools(host), deviceMountPath, { extensive: false });
      } catch (error) {
        throw wrap(`${shortName(kind)}: failed to ${kind.unmounting}: ${deviceMountPath}\nError: ${messageOf(error)}`, error);
      }
    },
  };
}

function shortName(kind: NetworkDiskKind): string {
  return kind.pluginName.slice("kubernetes.io/".length);
}

async function removeQuietly(host: VolumeHost, path: string): Promise<void> {
  try {
    await removePath(host.ports.files, path);
  } catch (error) {
    host.ports.log.error("could not remove the folder of a failed mount", error, { path });
  }
}

function newBlockVolume(kind: NetworkDiskKind, host: VolumeHost, volumeName: string, podUID: string): BlockVolume {
  return {
    getGlobalMapPath: async (spec) => globalMapPath(kind, host, spec),
    getPodDeviceMapPath: () => ({ dir: host.getPodVolumeDeviceDir(podUID, escapeQualifiedName(kind.pluginName)), name: volumeName }),
    supportsMetrics: () => kind.supportsBlockMetrics,
    getMetrics: () => newMetricsBlock(host.ports, "").getMetrics(),
  };
}

async function newMapper(kind: NetworkDiskKind, host: VolumeHost, spec: Spec, pod: Pod | undefined): Promise<BlockVolumeMapper> {
  await kind.checkMapper(host, spec, pod);
  kind.diskOf(spec, "mapper");
  const podUID = pod?.metadata.uid ?? "";
  const block = newBlockVolume(kind, host, specName(spec), podUID);
  const path = await block.getGlobalMapPath(spec).catch((error: unknown) => {
    throw wrap(`failed to get device path: ${messageOf(error)}`, error);
  });
  return { ...block, getMetrics: () => newMetricsBlock(host.ports, joinPath(path, podUID)).getMetrics() };
}

function newUnmapper(kind: NetworkDiskKind, host: VolumeHost, volumeName: string, podUID: string): CustomBlockVolumeUnmapper {
  return {
    ...newBlockVolume(kind, host, volumeName, podUID),
    async tearDownDevice(mapPath) {
      try {
        await removePath(host.ports.files, mapPath);
      } catch (error) {
        throw wrap(`${shortName(kind)}: failed to delete the directory: ${mapPath}\nError: ${messageOf(error)}`, error);
      }
    },
    unmapPodDevice: async () => {},
  };
}

/** Reads the source from the name of the global mount that shares the pod's file system. */
async function constructVolumeSpec(
  kind: NetworkDiskKind,
  host: VolumeHost,
  volumeName: string,
  volumePath: string,
): Promise<ReconstructedVolume> {
  const pluginDir = host.getPluginDir(kind.pluginName);
  const references = await mounterOf(host).getMountRefs(volumePath);
  const global = references.find((reference) => reference.includes(pluginDir));
  if (global === undefined) throw new VolumeError("couldn't fetch globalPDPath. failed to obtain volume spec");
  const source = kind.parseGlobalPath(global, "mount");
  if (!isKubeletVolumeHost(host)) throw new VolumeError("plugin volume host does not implement KubeletVolumeHost interface");
  const seLinuxMountContext = await host.getHostUtil().getSELinuxMountContext(volumePath);
  return { spec: newSpecFromVolume({ name: volumeName, ...source }), seLinuxMountContext };
}

/** strconv.Atoi, cut to an int32 as Go's conversion does. Throws VolumeError with strconv's text. */
export function lunOf(text: string): number {
  const fail = (why: string): VolumeError => new VolumeError(`strconv.Atoi: parsing ${goQuote(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw fail("invalid syntax");
  const value = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, value) !== value) throw fail("value out of range");
  return Number(BigInt.asIntN(32, value));
}

