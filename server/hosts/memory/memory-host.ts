/** A whole node in memory: every port, a mounter and the KubeletHost over them. For unit tests and goldens. */
import type { ResourceList } from "@/lib/kube/meta";
import type { Node } from "@/lib/kube/nodes";
import type { CSIDriver } from "@/lib/kube/storage";
import { PortHostUtils, missingPath } from "@/server/hosts/host-utils";
import { nodeHash } from "@/server/hosts/hash";
import { KubeletHost } from "@/server/hosts/kubelet-host";
import type { NodeApi } from "@/server/hosts/kubelet-host";
import type { FindPluginBySpec } from "@/server/hosts/wrapper";
import { VolumeError } from "@/server/volume/errors";
import type { HostFileType, HostUtils, MountInterface, MountPoint } from "@/server/volume/mount";
import type { Clock, Exec, HostPorts, Log, Random } from "@/server/volume/ports";
import { MemoryEventRecorder, MemoryKubeClient, memoryLister } from "./api";
import type { MemoryApiObjects } from "./api";
import { MemoryBlockTools } from "./block-tools";
import { MemoryExec } from "./exec";
import type { Program } from "./exec";
import { FakeClock } from "./fake-clock";
import { MemoryFiles } from "./files";
import type { Seed } from "./files";
import { MemoryLog } from "./memory-log";
import type { MountFailures, MountLog } from "./mount-log";
import { MemoryMounter } from "./mounter";
import { RecordingMounter } from "./recording-mounter";
import { SeededRandom } from "./seeded-random";
import { MemoryTree } from "./tree";
import { MemoryWatcher } from "./watcher";

export interface MemoryHostOptions extends MemoryApiObjects {
  /** `/var/lib/kubelet` unless named. */
  readonly rootDir?: string;
  readonly nodeName?: string;
  readonly nodeAllocatable?: ResourceList;
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly volumesAttached?: readonly { name: string; devicePath: string }[];
  /** What every look at the node throws. */
  readonly nodeError?: unknown;
  readonly csiDrivers?: readonly CSIDriver[];
  /** True: a kubelet without an API. */
  readonly noKubeClient?: boolean;
  /** Replaces parts of the API: tokens, trust anchors, certificates. */
  readonly api?: Partial<NodeApi>;
  readonly findPluginBySpec?: FindPluginBySpec;
  readonly files?: Readonly<Record<string, Seed>>;
  readonly programs?: Readonly<Record<string, Program>>;
  readonly clock?: FakeClock;
  readonly memoryBytes?: bigint;
  /**
   * `real` (default): mounts cover directories, as in Linux. `recorded`: they only stand in a table, as with the fake mounter that
   * Kubernetes' own tests, and so the goldens, use.
   */
  readonly mounting?: "real" | "recorded";
  /** Rows of the table of a recorded mounter. */
  readonly mounts?: readonly (Partial<MountPoint> & { readonly device: string; readonly path: string })[];
  readonly mountFailures?: MountFailures;
  readonly skipMountPointCheck?: boolean;
  /** What statfs says of a folder and below, whatever is mounted. */
  readonly fileSystemTypes?: Readonly<Record<string, string>>;
  /** Everything outside is refused with EACCES; undefined: nothing is. */
  readonly allowedPaths?: readonly string[];
  /** Block devices that may be used; undefined: all. */
  readonly allowedDevices?: readonly string[];
  /** What HostUtils says; without an entry it looks at the tree, unless `fileTypeOfOthers` is set. */
  readonly fileTypes?: Readonly<Record<string, HostFileType>>;
  readonly fileTypeOfOthers?: HostFileType;
  /** Group of a path; a path without an entry fails with `ownerError` when that is set. */
  readonly groups?: Readonly<Record<string, number>>;
  readonly ownerError?: unknown;
  /** Undefined: SELinux is off and every context is "". */
  readonly seLinuxContexts?: Readonly<Record<string, string>>;
  readonly seLinuxContextError?: unknown;
}

export interface MemoryHost {
  readonly host: KubeletHost;
  readonly tree: MemoryTree;
  readonly files: MemoryFiles;
  readonly mounter: MountInterface & { readonly log: MountLog };
  readonly hostUtils: HostUtils;
  readonly blockTools: MemoryBlockTools;
  readonly exec: MemoryExec;
  readonly watcher: MemoryWatcher;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly ports: HostPorts;
  readonly kubeClient: MemoryKubeClient;
  readonly events: MemoryEventRecorder;
  readonly kubeletErrors: unknown[];
}

const defaultRoot = "/var/lib/kubelet";

/** What a host in memory takes from outside: fixed ones make tests repeat, real ones make a simulated node live. */
export interface GivenPorts<C extends Clock, L extends Log, E extends Exec> {
  readonly clock: C;
  readonly random: Random;
  readonly log: L;
  readonly exec: E;
}

export function createMemoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const clock = options.clock ?? new FakeClock();
  const given = { clock, random: new SeededRandom(), log: new MemoryLog(), exec: new MemoryExec(options.programs) };
  const { tree, files, mounter, hostUtils, ports } = memoryPorts(options, given);
  const kubeClient = new MemoryKubeClient(options);
  const events = new MemoryEventRecorder();
  const kubeletErrors: unknown[] = [];
  const host = new KubeletHost({
    rootDir: options.rootDir ?? defaultRoot,
    nodeName: options.nodeName ?? "node-1",
    ports,
    mounter,
    hostUtils,
    node: { getNode: () => nodeOf(options), getNodeAnyWay: () => nodeOf(options) },
    findPluginBySpec: options.findPluginBySpec ?? noPlugins,
    api: options.noKubeClient === true ? undefined : apiOf(options, kubeClient),
    eventRecorder: events,
    onKubeletError: (error) => kubeletErrors.push(error),
  });
  files.seed({ [options.rootDir ?? defaultRoot]: { kind: "directory" }, ...options.files });
  return { host, tree, mounter, hostUtils, ...ports, ports, kubeClient, events, kubeletErrors };
}

/** The ports, the mounter and the HostUtils over one tree. */
export function memoryPorts<C extends Clock, L extends Log, E extends Exec>(options: MemoryHostOptions, given: GivenPorts<C, L, E>) {
  const { clock } = given;
  const tree = new MemoryTree(() => clock.nowMs());
  const files = new MemoryFiles({ tree, allowedPaths: options.allowedPaths, fileSystemTypes: options.fileSystemTypes });
  const blockTools = new MemoryBlockTools({ tree, allowed: options.allowedDevices, hasMounts: options.mounting !== "recorded" });
  const failures = options.mountFailures;
  const skipMountPointCheck = options.skipMountPointCheck;
  const mounter =
    options.mounting === "recorded"
      ? new RecordingMounter({ files, blockTools, mounts: options.mounts, failures, skipMountPointCheck })
      : new MemoryMounter({
          tree,
          blockTools,
          failures,
          memoryBytes: options.memoryBytes,
          allowedPaths: options.allowedPaths,
          skipMountPointCheck,
        });
  const ports = {
    files,
    blockTools,
    watcher: new MemoryWatcher(files, tree),
    hash: nodeHash,
    ...given,
  };
  return { tree, files, mounter, hostUtils: new FixedHostUtils(options, files, mounter), ports };
}

function apiOf(options: MemoryHostOptions, kubeClient: MemoryKubeClient): NodeApi {
  return {
    kubeClient,
    getSecret: (namespace, name) => kubeClient.getSecret(namespace, name),
    getConfigMap: (namespace, name) => kubeClient.getConfigMap(namespace, name),
    getServiceAccountToken: () => Promise.reject(new VolumeError("this host gives no tokens")),
    deleteServiceAccountToken: () => undefined,
    csiDriverLister: memoryLister("csidriver.storage.k8s.io", options.csiDrivers ?? []),
    csiDriversSynced: () => true,
    ...options.api,
  };
}

async function nodeOf(options: MemoryHostOptions): Promise<Node> {
  if (options.nodeError !== undefined) throw options.nodeError;
  return {
    metadata: { name: options.nodeName ?? "node-1", labels: { ...options.nodeLabels } },
    status: { allocatable: options.nodeAllocatable ?? {}, volumesAttached: [...(options.volumesAttached ?? [])] },
  };
}

async function noPlugins(): Promise<never> {
  throw new VolumeError("no volume plugin matched", "no-plugin-matched");
}

/** HostUtils over the tree, with the answers that a test fixes in front. */
class FixedHostUtils extends PortHostUtils {
  private readonly types: ReadonlyMap<string, HostFileType>;
  private readonly groups: ReadonlyMap<string, number>;
  private readonly contexts: ReadonlyMap<string, string>;

  constructor(
    private readonly fixed: MemoryHostOptions,
    files: MemoryFiles,
    mounter: MountInterface,
  ) {
    super({
      files,
      mounter,
      seLinuxEnabled: async () => fixed.seLinuxContexts !== undefined,
      deviceOpened: async () => false,
    });
    this.types = new Map(Object.entries(fixed.fileTypes ?? {}));
    this.groups = new Map(Object.entries(fixed.groups ?? {}));
    this.contexts = new Map(Object.entries(fixed.seLinuxContexts ?? {}));
  }

  override async getFileType(path: string): Promise<HostFileType> {
    const type = this.types.get(path) ?? this.fixed.fileTypeOfOthers;
    if (type === "") throw missingPath(path);
    return type ?? super.getFileType(path);
  }

  override async getOwner(path: string): Promise<{ readonly uid: number; readonly gid: number }> {
    const gid = this.groups.get(path);
    if (gid !== undefined) return { uid: 0, gid };
    if (this.fixed.ownerError !== undefined) throw this.fixed.ownerError;
    return super.getOwner(path);
  }

  override async getSELinuxMountContext(path: string): Promise<string> {
    if (this.fixed.seLinuxContextError !== undefined) throw this.fixed.seLinuxContextError;
    return this.contexts.get(path) ?? super.getSELinuxMountContext(path);
  }
}
