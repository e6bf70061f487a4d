/**
 * What a plugin hands back: mounters, attachers, mappers and their arguments.
 * Source: pkg/volume/volume.go and attach-related interfaces of v1.37.2. Paths are absolute on the host, sizes are bytes.
 */
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume } from "@/lib/kube/storage";
import type { Quantity } from "@/lib/quantity";
import type { Spec } from "@/server/volume/spec";

/** volume.Attributes. */
export interface Attributes {
  readonly readOnly: boolean;
  /** The kubelet owns the content and may change its group. */
  readonly managed: boolean;
  readonly seLinuxRelabel: boolean;
}

/** volume.Metrics; undefined where a file system reports nothing. */
export interface Metrics {
  readonly timeMs: number;
  readonly usedBytes?: bigint;
  readonly capacityBytes?: bigint;
  readonly availableBytes?: bigint;
  readonly inodesUsed?: bigint;
  readonly inodes?: bigint;
  readonly inodesFree?: bigint;
}

/** volume.MounterArgs. */
export interface MounterArgs {
  readonly fsUser?: number;
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: string;
  readonly desiredSize?: Quantity;
  readonly seLinuxLabel?: string;
  /** A change of data that was already set up once (requiresRemount). */
  readonly isRemount?: boolean;
  readonly reconstructedVolume?: boolean;
}

export interface MountedPath {
  getPath(): string;
  /** Throws VolumeError with the texts of pkg/volume/metrics_errors.go when metrics are not supported. */
  getMetrics(): Promise<Metrics>;
}

export interface Mounter extends MountedPath {
  getAttributes(): Attributes;
  /** Idempotent: a second call on a mounted volume changes nothing. */
  setUp(args: MounterArgs): Promise<void>;
  setUpAt(dir: string, args: MounterArgs): Promise<void>;
}

export interface Unmounter extends MountedPath {
  /** Idempotent: a volume that is not there is torn down. */
  tearDown(): Promise<void>;
  tearDownAt(dir: string): Promise<void>;
}

export interface Attacher extends DeviceMounter {
  attach(spec: Spec, nodeName: string): Promise<string>;
  /** undefined: the driver cannot tell, skip the check. Else per spec whether it is attached. */
  volumesAreAttached(specs: readonly Spec[], nodeName: string): Promise<ReadonlyMap<Spec, boolean> | undefined>;
  waitForAttach(spec: Spec, devicePath: string, pod: Pod | undefined, timeoutMs: number): Promise<string>;
}

export interface DeviceMounterArgs {
  readonly fsGroup?: number;
  readonly seLinuxLabel?: string;
}

export interface DeviceMounter {
  getDeviceMountPath(spec: Spec): Promise<string>;
  mountDevice(spec: Spec, devicePath: string, deviceMountPath: string, args: DeviceMounterArgs): Promise<void>;
}

export interface Detacher extends DeviceUnmounter {
  detach(volumeName: string, nodeName: string): Promise<void>;
}

export interface DeviceUnmounter {
  unmountDevice(deviceMountPath: string): Promise<void>;
}

/** A raw block volume: where its global map and its pod's device link live. */
export interface BlockVolume {
  getGlobalMapPath(spec: Spec): Promise<string>;
  getPodDeviceMapPath(): { readonly dir: string; readonly name: string };
  supportsMetrics(): boolean;
  getMetrics(): Promise<Metrics>;
}

export interface BlockVolumeMapper extends BlockVolume {
  getStagingPath?(): string;
}

/** Mappers that need work beyond the symbolic links of the kubelet. */
export interface CustomBlockVolumeMapper extends BlockVolumeMapper {
  setUpDevice(): Promise<string>;
  mapPodDevice(): Promise<string>;
  getStagingPath(): string;
}

export type BlockVolumeUnmapper = BlockVolume;

export interface CustomBlockVolumeUnmapper extends BlockVolumeUnmapper {
  tearDownDevice(mapPath: string, devicePath: string): Promise<void>;
  unmapPodDevice(): Promise<void>;
}

export interface Provisioner {
  provision(selectedNodeName: string | undefined): Promise<PersistentVolume>;
}

export interface Deleter extends MountedPath {
  delete(): Promise<void>;
}
