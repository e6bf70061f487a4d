/**
 * A node that is only looked at: everything below any root may be read, nothing is changed, no program runs but the child that reads
 * foreign mounts. Plugins work on it as far as they only ask.
 */
import { fileError, linkError } from "@/server/hosts/file-errors";
import { nodeHash } from "@/server/hosts/hash";
import { systemClock, systemRandom } from "@/server/hosts/clock";
import { PortHostUtils } from "@/server/hosts/host-utils";
import { KubeletHost } from "@/server/hosts/kubelet-host";
import type { NodeApi } from "@/server/hosts/kubelet-host";
import type { FindPluginBySpec } from "@/server/hosts/wrapper";
import { VolumeError } from "@/server/volume/errors";
import type { KubeletVolumeHost } from "@/server/volume/host";
import type { MountInterface } from "@/server/volume/mount";
import type { BlockTools, Exec, Files, Log, Watcher } from "@/server/volume/ports";
import { Access } from "./access";
import { LinuxFiles } from "./files";
import { ForeignCalls } from "./foreign-call";
import { LinuxMounter } from "./mounter";
import { MountReader } from "./mount-reader";
import { PlainReads } from "./plain-reads";

export interface ReadOnlyHostOptions {
  /** A kubelet's root; links to it are followed. */
  readonly root: string;
  readonly nodeName: string;
  readonly log: Log;
  readonly findPluginBySpec: FindPluginBySpec;
  /** How long one call on a mount that may hang is waited for. */
  readonly foreignTimeoutMs?: number;
  /** For tests: another mount table, and another program in place of the child. */
  readonly mounts?: MountReader;
  readonly foreignCommand?: readonly [string, ...string[]];
}

export interface ReadOnlyHost {
  /** Without links, as the mount table has it. */
  readonly root: string;
  readonly kubelet: KubeletVolumeHost;
  /** Ends the children; one that hangs in the kernel is left. */
  close(): void;
}

/** Throws FileError ENOENT, ENOTDIR, EACCES when the root is no folder that can be reached. */
export async function createReadOnlyHost(options: ReadOnlyHostOptions): Promise<ReadOnlyHost> {
  const { log, mounts = new MountReader() } = options;
  // Everything is open to reading, so that links lead wherever they lead and each step of the way is checked for foreign mounts.
  const access = await Access.create({ root: "/" });
  const foreignCalls = new ForeignCalls({ log, timeoutMs: options.foreignTimeoutMs, command: options.foreignCommand });
  const linuxFiles = new LinuxFiles({ access, mounts, foreignCalls, exec: noPrograms, log });
  const files = readOnlyFiles(linuxFiles, new PlainReads(linuxFiles, mounts));
  const mounter = readOnlyMounter(new LinuxMounter({ access, files: linuxFiles, mounts, exec: noPrograms, blockTools: noBlockTools }));
  try {
    const root = await folderAt(files, options.root);
    const kubelet = new KubeletHost({
      rootDir: root,
      nodeName: options.nodeName,
      ports: {
        files,
        exec: noPrograms,
        blockTools: noBlockTools,
        watcher: noWatcher,
        clock: systemClock,
        random: systemRandom,
        hash: nodeHash,
        log,
      },
      mounter,
      hostUtils: new PortHostUtils({
        files,
        mounter,
        seLinuxEnabled: async () => (await mounter.mountInfo()).some((row) => row.fsType === "selinuxfs"),
        deviceOpened: (path) => Promise.reject(fileError("open", path, "EROFS")),
      }),
      node: { getNode: notAsked, getNodeAnyWay: notAsked },
      findPluginBySpec: options.findPluginBySpec,
      api: unaskedApi,
    });
    return { root, kubelet, close: () => foreignCalls.close() };
  } catch (error) {
    foreignCalls.close();
    throw error;
  }
}

async function folderAt(files: Files, path: string): Promise<string> {
  const root = await files.realPath(path);
  const stat = await files.stat(root);
  if (stat?.kind !== "directory") throw fileError("open", path, stat === undefined ? "ENOENT" : "ENOTDIR");
  return root;
}

/** Every changing call throws FileError EROFS before anything is looked at. `reads`: a shorter way for the calls that are made most. */
export function readOnlyFiles(inner: Files, reads: Pick<Files, "stat" | "lstat" | "readDir" | "readFile" | "readText"> = inner): Files {
  const refuse = (op: string) => (path: string) => Promise.reject(fileError(op, path, "EROFS"));
  return {
    stat: (path) => reads.stat(path),
    lstat: (path) => reads.lstat(path),
    readDir: (path) => reads.readDir(path),
    readFile: (path) => reads.readFile(path),
    readText: (path) => reads.readText(path),
    readLink: (path) => inner.readLink(path),
    statfs: (path) => inner.statfs(path),
    usage: (path) => inner.usage(path),
    realPath: (path) => inner.realPath(path),
    writeFile: refuse("open"),
    createFile: refuse("open"),
    mkdirAll: refuse("mkdir"),
    chmod: refuse("chmod"),
    chown: refuse("lchown"),
    symlink: (from, to) => Promise.reject(linkError({ op: "symlink", from, to }, "EROFS")),
    rename: (from, to) => Promise.reject(linkError({ op: "rename", from, to }, "EROFS")),
    unlink: refuse("remove"),
    rmdir: refuse("remove"),
    removeAll: refuse("unlinkat"),
  };
}

/** Reads the mount table; every changing call throws FileError EROFS. */
export function readOnlyMounter(inner: MountInterface): MountInterface {
  return {
    list: () => inner.list(),
    mountInfo: () => inner.mountInfo(),
    isLikelyNotMountPoint: (path) => inner.isLikelyNotMountPoint(path),
    isMountPoint: (path) => inner.isMountPoint(path),
    getMountRefs: (path) => inner.getMountRefs(path),
    canSafelySkipMountPointCheck: () => inner.canSafelySkipMountPointCheck(),
    mount: ({ target }) => Promise.reject(fileError("mount", target, "EROFS")),
    formatAndMount: ({ target }) => Promise.reject(fileError("mount", target, "EROFS")),
    unmount: (target) => Promise.reject(fileError("umount", target, "EROFS")),
    unmountWithForce: (target) => Promise.reject(fileError("umount", target, "EROFS")),
  };
}

const noPrograms: Exec = {
  run: (command) => Promise.reject(fileError("fork/exec", command, "EACCES")),
};

const noBlockTools: BlockTools = {
  probe: (device) => Promise.reject(fileError("open", device, "EACCES")),
  sizeBytes: (device) => Promise.reject(fileError("open", device, "EACCES")),
  format: (device) => Promise.reject(fileError("open", device, "EROFS")),
  check: (device) => Promise.reject(fileError("open", device, "EROFS")),
  grow: (device) => Promise.reject(fileError("open", device, "EROFS")),
};

const noWatcher: Watcher = {
  watch: (path) => Promise.reject(fileError("inotify_add_watch", path, "EACCES")),
};

function notAsked(): Promise<never> {
  return Promise.reject(new VolumeError("a look at a node asks no API", "refused"));
}

/** Plugins want a client to be there before they name a path; none of its calls is ever made for that. */
const unaskedApi: NodeApi = {
  kubeClient: {
    getSecret: notAsked,
    getConfigMap: notAsked,
    getVolumeAttachment: notAsked,
    createPod: notAsked,
    deletePod: notAsked,
  },
  getSecret: notAsked,
  getConfigMap: notAsked,
  getServiceAccountToken: notAsked,
  deleteServiceAccountToken: () => undefined,
};
