import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { goldenMounts, kindAndMode } from "@/e2e/goldens/volume/setup-state";
import type { Pod } from "@/lib/kube/pods";
import { parseQuantity, Quantity } from "@/lib/quantity";
import { AttachDetachHost } from "@/server/hosts/attach-detach-host";
import { createMemoryHost, type MemoryHost, type Seed } from "@/server/hosts/memory";
import type { HostFileType, MountPoint } from "@/server/volume/mount";
import {
  isAttachablePlugin,
  isBlockPlugin,
  isDeviceMountablePlugin,
  isNodeExpandablePlugin,
  type VolumePlugin,
} from "@/server/volume/plugin";
import { newKubeletPlugins } from "@/server/volume/plugins";
import type { Spec } from "@/server/volume/spec";
import type { CustomBlockVolumeMapper } from "@/server/volume/volume";

interface Step {
  readonly op: string;
  readonly spec?: GoldenSpec;
  readonly podUID?: string;
  readonly volumeName?: string;
  readonly path?: string;
  readonly fsGroup?: number;
  readonly newSize?: string;
}

interface Question {
  readonly plugin: string;
  readonly tree?: Readonly<Record<string, string>>;
  readonly fileTypes?: Readonly<Record<string, HostFileType>>;
  readonly gidOf?: Readonly<Record<string, number>>;
  readonly mounts?: readonly (Partial<MountPoint> & { readonly device: string; readonly path: string })[];
  readonly mountErr?: string;
  readonly mountPointCheckErr?: Readonly<Record<string, string>>;
  readonly kubeletHost: boolean;
  readonly steps: readonly Step[];
}

const root = "/var/lib/kubelet";
const nodeName = "node-1";

export const adapter: Adapter = {
  async answer(line) {
    const question = line.in as unknown as Question;
    const memory = hostOf(question);
    const plugins = newKubeletPlugins();
    const plugin = plugins.find((candidate) => candidate.getPluginName() === question.plugin);
    if (!plugin) throw new Error(`no plugin ${question.plugin}`);
    await plugin.init(question.kubeletHost ? memory.host : new AttachDetachHost({ ports: memory.ports, csiNodeLister: undefined }));
    const steps: object[] = [];
    for (const step of question.steps) steps.push(await answerStep({ memory, plugin, step }));
    return { out: { steps } };
  },
};

function hostOf(question: Question): MemoryHost {
  const looksAtTree = question.plugin === "kubernetes.io/host-path";
  const { mountErr } = question;
  return createMemoryHost({
    mounting: "recorded",
    files: Object.fromEntries(Object.entries(question.tree ?? {}).map(([path, kind]) => [path, seedOf(kind)])),
    mounts: question.mounts,
    mountFailures: {
      mount: () => (mountErr === undefined ? undefined : new Error(mountErr)),
      mountPointCheck: Object.fromEntries(Object.entries(question.mountPointCheckErr ?? {}).map(([path, text]) => [path, new Error(text)])),
    },
    ...(!looksAtTree && { fileTypes: question.fileTypes, fileTypeOfOthers: "Directory" }),
    groups: question.gidOf,
    ownerError: new Error("owner is not known"),
  });
}

function seedOf(kind: string): Seed {
  if (kind.startsWith("link:")) return { kind: "symlink", target: kind.slice("link:".length) };
  if (kind === "char device") return { kind: "char-device", mode: 0o600 };
  if (kind === "block device") return { kind: "block-device", mode: 0o600 };
  if (kind === "fifo") return { kind, mode: 0o600 };
  if (kind === "socket") return { kind, mode: 0o755 };
  return { kind: kind === "directory" ? kind : "file" };
}

interface World {
  readonly memory: MemoryHost;
  readonly plugin: VolumePlugin;
  readonly step: Step;
}

interface Outcome {
  readonly answer: Answer;
  /** What the step is about; its state is part of the answer when it lies below the kubelet's root. */
  readonly path: string | undefined;
}

async function answerStep(world: World): Promise<object> {
  const { memory, step } = world;
  memory.mounter.log.clear();
  memory.events.events.length = 0;
  const { answer, path } = await outcomeOf(world);
  const mounts = goldenMounts(memory);
  const events = memory.events.events.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  const shown = step.path ?? path;
  return {
    ...answer,
    ...(mounts.length > 0 && { mounts }),
    ...(events.length > 0 && { events }),
    ...(shown?.startsWith(`${root}/`) && { state: { [shown]: await kindAndMode(memory, shown) } }),
  };
}

async function outcomeOf(world: World): Promise<Outcome> {
  const { plugin, step } = world;
  switch (step.op) {
    case "setUp":
    case "setUpAt":
      return setUp(world);
    case "tearDown":
    case "tearDownAt":
      return tearDown(world);
    case "blockDevice":
      return { answer: await blockDevice(plugin, step), path: undefined };
    case "nodeExpand":
      return { answer: await nodeExpand(plugin, step), path: step.path };
    case "mountDevice":
    case "unmountDevice":
      return { answer: await deviceMount(plugin, step), path: step.path };
    default:
      return { answer: await attachSide(plugin, step), path: undefined };
  }
}

function requireSpec({ spec }: Step): Spec {
  const given = specOf(spec);
  if (!given) throw new Error("the step has no spec");
  return given;
}

function podOf({ podUID = "" }: Step): Pod {
  return { metadata: { name: "pod", namespace: "ns", uid: podUID }, spec: { containers: [] } };
}

const withError = (out: object, { err }: Answer): Answer => ({ out, ...(err !== undefined && { err }) });

async function setUp({ plugin, step }: World): Promise<Outcome> {
  let path: string | undefined;
  const at = step.op === "setUpAt";
  const answer = await answerOf(async () => {
    const mounter = await plugin.newMounter(requireSpec(step), podOf(step));
    path = mounter?.getPath();
    await (at ? mounter?.setUpAt(step.path ?? "", { fsGroup: step.fsGroup }) : mounter?.setUp({ fsGroup: step.fsGroup }));
  });
  if (path === undefined) return { answer: withError({ stage: "NewMounter" }, answer), path };
  return { answer: withError(at ? { stage: "SetUpAt" } : { stage: "SetUp", path }, answer), path };
}

async function tearDown({ plugin, step }: World): Promise<Outcome> {
  let path: string | undefined;
  const at = step.op === "tearDownAt";
  const answer = await answerOf(async () => {
    const unmounter = await plugin.newUnmounter(step.volumeName ?? "", step.podUID ?? "");
    path = unmounter?.getPath();
    await (at ? unmounter?.tearDownAt(step.path ?? "") : unmounter?.tearDown());
  });
  if (path === undefined) return { answer: withError({ stage: "NewUnmounter" }, answer), path };
  return { answer: withError(at ? { stage: "TearDownAt" } : { stage: "TearDown", path }, answer), path };
}

async function deviceMount(plugin: VolumePlugin, step: Step): Promise<Answer> {
  const path = step.path ?? "";
  return answerOf(async () => {
    if (!isDeviceMountablePlugin(plugin)) throw new Error("not device-mountable");
    if (step.op === "unmountDevice") return (await plugin.newDeviceUnmounter()).unmountDevice(path);
    const mounter = await plugin.newDeviceMounter();
    return mounter.mountDevice(requireSpec(step), "", path, { fsGroup: step.fsGroup });
  });
}

/** Go answers `false` beside an error. */
async function nodeExpand(plugin: VolumePlugin, step: Step): Promise<Answer> {
  const answer = await answerOf(() => {
    if (!isNodeExpandablePlugin(plugin)) throw new Error("not node-expandable");
    return plugin.nodeExpand({
      volumeSpec: requireSpec(step),
      devicePath: "",
      deviceMountPath: step.path ?? "",
      deviceStagePath: "",
      newSize: parseQuantity(step.newSize ?? "0"),
      oldSize: Quantity.zero,
    });
  });
  return answer.err === undefined ? answer : { out: false, err: answer.err };
}

async function blockDevice(plugin: VolumePlugin, step: Step): Promise<Answer> {
  return answerOf(async () => {
    if (!isBlockPlugin(plugin)) throw new Error("no block volumes");
    const mapper = (await plugin.newBlockVolumeMapper(requireSpec(step), podOf(step))) as CustomBlockVolumeMapper;
    const device = await answerOf(() => mapper.setUpDevice());
    const mapped = await answerOf(() => mapper.mapPodDevice());
    return { setUpDevice: device.out, setUpErr: device.err ?? null, mapPodDevice: mapped.out, mapErr: mapped.err ?? null };
  });
}

async function attachSide(plugin: VolumePlugin, step: Step): Promise<Answer> {
  return answerOf(async () => {
    if (!isAttachablePlugin(plugin)) throw new Error("not attachable");
    if (step.op === "detach") return (await plugin.newDetacher()).detach(step.volumeName ?? "", nodeName);
    const spec = requireSpec(step);
    if (step.op === "canAttach") return plugin.canAttach(spec);
    if (step.op === "verifyExhaustedResource") return plugin.verifyExhaustedResource(spec);
    const attacher = await plugin.newAttacher();
    if (step.op === "attach") return attacher.attach(spec, nodeName);
    return (await attacher.volumesAreAttached([spec], nodeName))?.get(spec);
  });
}
