/**
 * VolumePlugin and every extension interface of the seed, each with its type guard: "can it?" is "is it there?".
 * A Go type assertion becomes a guard. What does I/O is async; canSupport is synchronous and reads only the spec.
 * Source: pkg/volume/plugins.go.
 */
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Quantity } from "@/lib/quantity";
import type { PersistentVolumeSource, VolumeSource } from "@/lib/kube/volumes";
import type { VolumeHost } from "@/server/volume/host";
import type { Spec } from "@/server/volume/spec";
import type {
  Attacher,
  BlockVolumeMapper,
  BlockVolumeUnmapper,
  Deleter,
  Detacher,
  DeviceMounter,
  DeviceUnmounter,
  Mounter,
  Provisioner,
  Unmounter,
} from "@/server/volume/volume";

/** The StorageClass parameter that names the file system wanted. */
export const volumeParameterFSType = "fstype";

export const probeAddOrUpdate = 2;
export const probeRemove = 4;

/** One change seen by a prober. `plugin` is undefined on remove; other operation numbers are reported and ignored. */
export interface ProbeEvent {
  readonly plugin?: VolumePlugin;
  readonly pluginName: string;
  readonly op: number;
}

export interface ProbeResult {
  readonly events: readonly ProbeEvent[];
  /** The failed drivers, aggregated; the events of the others count all the same. */
  readonly error?: unknown;
  /** Ours: the failed drivers one by one, for pages. */
  readonly failures?: readonly ProbeFailure[];
}

/** A driver that a probe found and could not make a plugin of. */
export interface ProbeFailure {
  readonly pluginName: string;
  /** Where it lies on the host. */
  readonly path?: string;
  readonly message: string;
}

export interface DynamicPluginProber {
  init(): Promise<void>;
  probe(): Promise<ProbeResult>;
  /** Ours: calls back whenever the next probe may have something to tell, so that pages move without a find. */
  onChange?(listener: () => void): void;
}

/** recyclerclient.RecycleEventRecorder: the caller passes what it gets on to the persistent volume. */
export type RecycleEventRecorder = (type: "Normal" | "Warning", message: string) => void;

export interface VolumeOptions {
  readonly persistentVolumeReclaimPolicy: string;
  readonly mountOptions: readonly string[];
  readonly pvName: string;
  readonly pvc: PersistentVolumeClaim;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface NodeResizeOptions {
  readonly volumeSpec: Spec;
  readonly devicePath: string;
  readonly deviceMountPath: string;
  readonly deviceStagePath: string;
  readonly newSize: Quantity;
  readonly oldSize: Quantity;
}

/** Configuration a plugin is made with (VolumeConfig of the seed). Recycler times are whole seconds. */
export interface VolumeConfig {
  /** Shared and changed by recycling, as in the seed's users. */
  readonly recyclerPodTemplate?: Pod;
  readonly recyclerMinimumTimeout?: number;
  readonly recyclerTimeoutIncrement?: number;
  readonly pvName?: string;
  readonly otherAttributes?: Readonly<Record<string, string>>;
  readonly provisioningEnabled?: boolean;
}

export interface ReconstructedVolume {
  /** undefined where the plugin cannot tell (the image plugin). */
  readonly spec?: Spec;
  readonly seLinuxMountContext: string;
}

export interface VolumePlugin {
  init(host: VolumeHost | undefined): Promise<void>;
  getPluginName(): string;
  getVolumeName(spec: Spec): Promise<string>;
  canSupport(spec: Spec): boolean;
  requiresRemount(spec: Spec): Promise<boolean>;
  newMounter(spec: Spec, pod: Pod | undefined): Promise<Mounter | undefined>;
  newUnmounter(name: string, podUID: string): Promise<Unmounter | undefined>;
  constructVolumeSpec(volumeName: string, volumePath: string): Promise<ReconstructedVolume>;
  supportsMountOption(): boolean;
  supportsSELinuxContextMount(spec: Spec): Promise<boolean>;
  /** Ours: the field of a spec that canSupport reads, for `explain` (such as `hostPath` or `flexVolume.driver`). */
  readonly decidingField?: string;
  /** Ours: without these sources canSupport says no. Lets a match ask only the plugins that may say yes. */
  readonly sources?: PluginSources;
  /** Ours: what pages say of a plugin and its methods cannot tell. */
  readonly about?: PluginAbout;
}

/** The fields of a spec of which at least one must be set for canSupport to say yes. */
export interface PluginSources {
  readonly volume?: readonly (keyof VolumeSource)[];
  readonly persistentVolume?: readonly (keyof PersistentVolumeSource)[];
  /** Only sources that name this driver. */
  readonly driver?: string;
}

export interface PluginAbout {
  readonly kind?: "in-tree" | "FlexVolume";
  /** Where a probed driver lies on the host. */
  readonly driverPath?: string;
  /** supportsSELinuxContextMount where it does not depend on the spec; no when absent. */
  readonly seLinuxMount?: "yes" | "no" | "per driver";
  /** What its interfaces can't tell: a feature gate that is locked off, in a sentence. */
  readonly note?: string;
}

export interface PersistentVolumePlugin extends VolumePlugin {
  getAccessModes(): readonly string[];
}

export interface RecyclableVolumePlugin extends VolumePlugin {
  recycle(pvName: string, spec: Spec, recorder: RecycleEventRecorder): Promise<void>;
}

export interface DeletableVolumePlugin extends VolumePlugin {
  newDeleter(spec: Spec): Promise<Deleter>;
}

export interface ProvisionableVolumePlugin extends VolumePlugin {
  newProvisioner(options: VolumeOptions): Promise<Provisioner>;
}

export interface DeviceMountableVolumePlugin extends VolumePlugin {
  newDeviceMounter(): Promise<DeviceMounter>;
  newDeviceUnmounter(): Promise<DeviceUnmounter>;
  getDeviceMountRefs(deviceMountPath: string): Promise<readonly string[]>;
  canDeviceMount(spec: Spec): Promise<boolean>;
}

export interface AttachableVolumePlugin extends DeviceMountableVolumePlugin {
  newAttacher(): Promise<Attacher>;
  newDetacher(): Promise<Detacher>;
  canAttach(spec: Spec): Promise<boolean>;
  verifyExhaustedResource(spec: Spec): boolean;
}

export interface ExpandableVolumePlugin extends VolumePlugin {
  expandVolumeDevice(spec: Spec, newSize: Quantity, oldSize: Quantity): Promise<Quantity>;
  requiresFSResize(): boolean;
}

export interface NodeExpandableVolumePlugin extends VolumePlugin {
  requiresFSResize(): boolean;
  /** True when the file system now has the new size. */
  nodeExpand(options: NodeResizeOptions): Promise<boolean>;
}

export interface ResizableEphemeralVolumePlugin extends VolumePlugin {
  resizeEphemeralVolume(spec: Spec, pod: Pod, newSize: Quantity | undefined): Promise<void>;
}

export interface BlockVolumePlugin extends VolumePlugin {
  newBlockVolumeMapper(spec: Spec, pod: Pod | undefined): Promise<BlockVolumeMapper>;
  newBlockVolumeUnmapper(name: string, podUID: string): Promise<BlockVolumeUnmapper>;
  constructBlockVolumeSpec(podUID: string, volumeName: string, mapPath: string): Promise<Spec>;
}

/** The methods that make each extension interface, by the interface's name in the seed. */
export const extensionInterfaces = {
  PersistentVolumePlugin: ["getAccessModes"],
  RecyclableVolumePlugin: ["recycle"],
  DeletableVolumePlugin: ["newDeleter"],
  ProvisionableVolumePlugin: ["newProvisioner"],
  AttachableVolumePlugin: [
    "newDeviceMounter",
    "newDeviceUnmounter",
    "getDeviceMountRefs",
    "canDeviceMount",
    "newAttacher",
    "newDetacher",
    "canAttach",
    "verifyExhaustedResource",
  ],
  DeviceMountableVolumePlugin: ["newDeviceMounter", "newDeviceUnmounter", "getDeviceMountRefs", "canDeviceMount"],
  ExpandableVolumePlugin: ["expandVolumeDevice", "requiresFSResize"],
  NodeExpandableVolumePlugin: ["nodeExpand", "requiresFSResize"],
  ResizableEphemeralVolumePlugin: ["resizeEphemeralVolume"],
  BlockVolumePlugin: ["newBlockVolumeMapper", "newBlockVolumeUnmapper", "constructBlockVolumeSpec"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ExtensionInterface = keyof typeof extensionInterfaces;

function has(plugin: VolumePlugin, extension: ExtensionInterface): boolean {
  return extensionInterfaces[extension].every((method) => typeof Reflect.get(plugin, method) === "function");
}

/** The extension interfaces a plugin has, in the order of the table above. */
export function interfacesOf(plugin: VolumePlugin): readonly ExtensionInterface[] {
  return extensionNames.filter((extension) => has(plugin, extension));
}

const extensionNames = Object.keys(extensionInterfaces) as readonly ExtensionInterface[];

export const isPersistentPlugin = (plugin: VolumePlugin): plugin is PersistentVolumePlugin =>
  has(plugin, "PersistentVolumePlugin");
export const isRecyclablePlugin = (plugin: VolumePlugin): plugin is RecyclableVolumePlugin =>
  has(plugin, "RecyclableVolumePlugin");
export const isDeletablePlugin = (plugin: VolumePlugin): plugin is DeletableVolumePlugin =>
  has(plugin, "DeletableVolumePlugin");
export const isProvisionablePlugin = (plugin: VolumePlugin): plugin is ProvisionableVolumePlugin =>
  has(plugin, "ProvisionableVolumePlugin");
export const isAttachablePlugin = (plugin: VolumePlugin): plugin is AttachableVolumePlugin =>
  has(plugin, "AttachableVolumePlugin");
export const isDeviceMountablePlugin = (plugin: VolumePlugin): plugin is DeviceMountableVolumePlugin =>
  has(plugin, "DeviceMountableVolumePlugin");
export const isExpandablePlugin = (plugin: VolumePlugin): plugin is ExpandableVolumePlugin =>
  has(plugin, "ExpandableVolumePlugin");
export const isNodeExpandablePlugin = (plugin: VolumePlugin): plugin is NodeExpandableVolumePlugin =>
  has(plugin, "NodeExpandableVolumePlugin");
export const isResizableEphemeralPlugin = (plugin: VolumePlugin): plugin is ResizableEphemeralVolumePlugin =>
  has(plugin, "ResizableEphemeralVolumePlugin");
export const isBlockPlugin = (plugin: VolumePlugin): plugin is BlockVolumePlugin => has(plugin, "BlockVolumePlugin");
