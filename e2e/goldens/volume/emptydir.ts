import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { goldenMounts, modeText } from "@/e2e/goldens/volume/setup-state";
import type { ResourceList } from "@/lib/kube/meta";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { parseQuantity } from "@/lib/quantity";
import { createMemoryHost, type MemoryHost, type Seed } from "@/server/hosts/memory";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newSpecFromVolume } from "@/server/volume/spec";

interface Question {
  readonly volume: Volume;
  readonly pod: Pod;
  readonly nodeAllocatable?: ResourceList;
  readonly nodeAllocatableErr?: string;
  readonly dirExists?: boolean;
  readonly dirMode?: string;
  readonly readyFileExists?: boolean;
  readonly dirIsMountPoint?: boolean;
  readonly dirFilesystem?: "tmpfs" | "hugetlbfs";
  readonly mountTableOpts?: readonly string[];
  readonly mountErr?: string;
  readonly mountPointCheckErr?: string;
  readonly mountListErr?: string;
  readonly emptyDirVolumeModeGate?: boolean;
  readonly fsGroup?: number;
  readonly newSize?: string;
}

const podDir = "/var/lib/kubelet/pods";
/** Mode of the root of a file system that the answers found in place of a plain directory. */
const rootModes = { tmpfs: 0o1777, hugetlbfs: 0o755 };

export const adapter: Adapter = {
  async answer(line) {
    const question = line.in as unknown as Question;
    const uid = question.pod.metadata.uid ?? "";
    const dir = `${podDir}/${uid}/volumes/kubernetes.io~empty-dir/${question.volume.name}`;
    const readyDir = `${podDir}/${uid}/plugins/kubernetes.io~empty-dir/${question.volume.name}`;
    const memory = hostOf(question, dir, readyDir);
    if (line.fn === "ResizeEphemeralVolume") return resize(memory, question);
    return line.fn === "TearDown" ? tearDown(memory, question, { dir, readyDir }) : setUp(memory, question, { dir, readyDir });
  },
};

function hostOf(question: Question, dir: string, readyDir: string): MemoryHost {
  const { dirFilesystem, mountErr, mountListErr, mountPointCheckErr, nodeAllocatableErr } = question;
  const mode = question.dirMode === undefined ? 0o755 : Number.parseInt(question.dirMode, 8);
  const files: Record<string, Seed> = {
    ...(question.dirExists && { [dir]: { kind: "directory", mode: dirFilesystem ? rootModes[dirFilesystem] : mode } }),
    ...(question.readyFileExists && { [`${readyDir}/ready`]: "" }),
  };
  const memory = createMemoryHost({
    mounting: "recorded",
    files,
    nodeAllocatable: question.nodeAllocatable,
    nodeError: nodeAllocatableErr === undefined ? undefined : new Error(nodeAllocatableErr),
    fileSystemTypes: dirFilesystem && { [dir]: dirFilesystem },
    mounts: question.dirIsMountPoint
      ? [{ device: dirFilesystem ?? "dev", path: dir, type: dirFilesystem ?? "", options: question.mountTableOpts ?? [] }]
      : [],
    mountFailures: {
      mount: () => (mountErr === undefined ? undefined : new Error(mountErr)),
      mountPointCheck: mountPointCheckErr === undefined ? {} : { [dir]: new Error(mountPointCheckErr) },
      list: mountListErr === undefined ? undefined : new Error(mountListErr),
    },
  });
  Object.assign(memory.mounter, { supportsTmpfsNoswap: async () => true });
  // The answers come from a host that hands the node's error on as it is.
  const { host } = memory;
  if (nodeAllocatableErr !== undefined) host.getNodeAllocatable = () => Promise.reject(new Error(nodeAllocatableErr));
  return memory;
}

interface Places {
  readonly dir: string;
  readonly readyDir: string;
}

async function setUp(memory: MemoryHost, question: Question, { dir, readyDir }: Places): Promise<Answer> {
  const plugin = newEmptyDirPlugin({ features: { emptyDirVolumeMode: question.emptyDirVolumeModeGate } });
  await plugin.init(memory.host);
  let path: string | undefined;
  const { err } = await answerOf(async () => {
    const mounter = await plugin.newMounter(newSpecFromVolume(question.volume), question.pod);
    path = mounter?.getPath();
    await mounter?.setUp({ fsGroup: question.fsGroup });
  });
  const mounts = goldenMounts(memory);
  if (path === undefined) return { out: { stage: "NewMounter", mounts }, ...(err !== undefined && { err }) };
  const stat = await memory.files.lstat(dir);
  const out = {
    stage: "SetUp",
    path,
    mounts,
    dirMode: stat ? modeText(stat.mode) : null,
    ready: (await memory.files.stat(`${readyDir}/ready`)) !== undefined,
    ...(stat && question.fsGroup !== undefined && { dirGid: stat.gid }),
  };
  return { out, ...(err !== undefined && { err }) };
}

async function tearDown(memory: MemoryHost, question: Question, { dir, readyDir }: Places): Promise<Answer> {
  const plugin = newEmptyDirPlugin();
  await plugin.init(memory.host);
  const { err } = await answerOf(async () => {
    const unmounter = await plugin.newUnmounter(question.volume.name, question.pod.metadata.uid ?? "");
    await unmounter?.tearDown();
  });
  const out = {
    mounts: goldenMounts(memory),
    dirExists: (await memory.files.lstat(dir)) !== undefined,
    readyDirExists: (await memory.files.lstat(readyDir)) !== undefined,
  };
  return { out, ...(err !== undefined && { err }) };
}

async function resize(memory: MemoryHost, question: Question): Promise<Answer> {
  const plugin = newEmptyDirPlugin();
  await plugin.init(memory.host);
  const newSize = question.newSize === undefined ? undefined : parseQuantity(question.newSize);
  const { err } = await answerOf(() => plugin.resizeEphemeralVolume(newSpecFromVolume(question.volume), question.pod, newSize));
  return { out: { mounts: goldenMounts(memory) }, ...(err !== undefined && { err }) };
}
