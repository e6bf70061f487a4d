/**
 * The mount port: k8s.io/mount-utils' Interface and pkg/volume/util/hostutil's HostUtils, in the parts plugins use.
 */

/** One row of the mount table. `device` is the source as mountinfo shows it. */
export interface MountPoint {
  readonly device: string;
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** One row of /proc/self/mountinfo, octal escapes undone. */
export interface MountInfo {
  readonly id: number;
  readonly parentId: number;
  /** major:minor */
  readonly device: string;
  readonly root: string;
  readonly mountPoint: string;
  readonly mountOptions: readonly string[];
  /** Optional fields: `shared:2`, `master:1` ... */
  readonly propagation: readonly string[];
  readonly fsType: string;
  readonly source: string;
  readonly superOptions: readonly string[];
  /** The line as the kernel wrote it; absent where there is no kernel behind the table. */
  readonly line?: string;
}

export interface MountRequest {
  readonly source: string;
  readonly target: string;
  /** "" lets mount(8) find it. */
  readonly fsType: string;
  readonly options: readonly string[];
  /** Passed to mount, shown masked in errors. */
  readonly sensitiveOptions?: readonly string[];
}

/**
 * Mounts. A target outside the host's root, or a source outside what is allowed, is refused with `code: "EACCES"`. A failed
 * mount(8) throws VolumeError with mount-utils' text ("mount failed: %v\nMounting command: ...") and the tool's whole output.
 */
export interface MountInterface {
  mount(request: MountRequest): Promise<void>;
  unmount(target: string): Promise<void>;
  /** MounterForceUnmounter, where the host has it: forces the unmount when a plain one has not ended in the time given. */
  unmountWithForce?(target: string, afterMs: number): Promise<void>;
  list(): Promise<readonly MountPoint[]>;
  mountInfo(): Promise<readonly MountInfo[]>;
  /** mount.IsLikelyNotMountPoint, as with statx(2): sees bind mounts within one file system too. Throws FileError ENOENT. */
  isLikelyNotMountPoint(path: string): Promise<boolean>;
  /** mount.IsMountPoint: by the mount table, sees bind mounts. Throws FileError ENOENT. */
  isMountPoint(path: string): Promise<boolean>;
  /** Other mount points of the same file system and root (mount.GetMountRefs). */
  getMountRefs(path: string): Promise<readonly string[]>;
  /** SafeFormatAndMount.FormatAndMount: formats only an empty device. */
  formatAndMount(request: MountRequest): Promise<void>;
  canSafelySkipMountPointCheck(): boolean;
  /**
   * swap.IsTmpfsNoswapOptionSupported: a tmpfs of this host may carry `noswap` (kernel 6.4 or newer, and not in a user namespace).
   * Absent means no.
   */
  supportsTmpfsNoswap?(): Promise<boolean>;
}

/** hostutil.FileType values. */
export type HostFileType = "Directory" | "File" | "Socket" | "CharDevice" | "BlockDevice" | "";

/** hostutil.HostUtils. */
export interface HostUtils {
  deviceOpened(path: string): Promise<boolean>;
  pathIsDevice(path: string): Promise<boolean>;
  getDeviceNameFromMount(mountPath: string, pluginMountDir: string): Promise<string>;
  /** Follows links. Throws with the text of the real one (`path %q does not exist`). */
  getFileType(path: string): Promise<HostFileType>;
  pathExists(path: string): Promise<boolean>;
  evalHostSymlinks(path: string): Promise<string>;
  getOwner(path: string): Promise<{ readonly uid: number; readonly gid: number }>;
  getSELinuxSupport(path: string): Promise<boolean>;
  getMode(path: string): Promise<number>;
  getSELinuxMountContext(path: string): Promise<string>;
}
