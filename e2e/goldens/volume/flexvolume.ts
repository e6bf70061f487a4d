/** FlexVolume drivers with scripted answers: the first probe, then operations of the plugin that it found. */
import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { goldenSpecOf, specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { goldenMounts } from "@/e2e/goldens/volume/setup-state";
import { codeOf, messageOf } from "@/lib/errors";
import type { Pod, Secret } from "@/lib/kube/pods";
import { parseQuantity } from "@/lib/quantity";
import { createMemoryHost, type ExecCall, type MemoryHost, type ProgramAnswer, type Seed } from "@/server/hosts/memory";
import { interfacesOf, isAttachablePlugin, type AttachableVolumePlugin, type ProbeEvent } from "@/server/volume/plugin";
import type { FlexVolumePlugin } from "@/server/volume/plugins/flexvolume/plugin";
import { newFlexVolumeProber, type FlexVolumeProber } from "@/server/volume/plugins/flexvolume/prober";
import { newSpecFromVolume, type Spec } from "@/server/volume/spec";

interface Reply {
  readonly output: string;
  readonly exit?: number;
  readonly execErr?: string;
  readonly sleepMs?: number;
}

interface Step {
  readonly op: string;
  readonly spec?: GoldenSpec;
  readonly specs?: readonly GoldenSpec[];
  readonly node?: string;
  readonly device?: string;
  readonly path?: string;
  readonly timeoutMs?: number;
  readonly volumeName?: string;
  readonly podUID?: string;
  readonly pod?: Pod;
  readonly fsGroup?: number;
  readonly newSize?: string;
  readonly oldSize?: string;
}

interface Question {
  readonly driverDirs: readonly string[];
  readonly plainFiles?: readonly string[];
  readonly replies: Readonly<Record<string, readonly Reply[]>>;
  readonly secrets?: readonly Secret[];
  readonly noKubeClient?: boolean;
  readonly existingDirs?: readonly string[];
  readonly mounts?: readonly { readonly device: string; readonly path: string }[];
  readonly steps: readonly Step[];
}

const pluginDir = "/var/lib/kubelet/volume-plugins";

export const adapter: Adapter = {
  async answer(line) {
    const question = line.in as unknown as Question;
    const memory = hostOf(question);
    memory.exec.setFallback(script(question.replies));
    const prober = newFlexVolumeProber({ pluginDir, ports: memory.ports, checkDriver: async () => {} });
    await prober.init();

    const { events, error } = await prober.probe();
    const probe = {
      calls: takeCalls(memory),
      events: await Promise.all(events.map((event) => describe(memory, event))),
      ...(error !== undefined && { err: messageOf(error) }),
    };
    const [first] = events;
    const steps: object[] = [];
    for (const step of question.steps) steps.push(await run({ memory, prober, plugin: first?.plugin as FlexVolumePlugin }, step));
    return { out: { probe, steps } };
  },
};

function hostOf(question: Question): MemoryHost {
  const executable = (dir: string): string => `${pluginDir}/${dir}/${dir.split("/").at(-1)?.split("~").at(-1)}`;
  const seeds: [string, Seed][] = [
    ...question.driverDirs.map((dir): [string, Seed] => [`${pluginDir}/${dir}`, { kind: "directory" }]),
    ...question.driverDirs
      .filter((dir) => !dir.endsWith("~"))
      .map((dir): [string, Seed] => [executable(dir), { kind: "file", mode: 0o755 }]),
    ...(question.plainFiles ?? []).map((name): [string, Seed] => [`${pluginDir}/${name}`, ""]),
    ...(question.existingDirs ?? []).map((dir): [string, Seed] => [dir, { kind: "directory" }]),
  ];
  return createMemoryHost({
    mounting: "recorded",
    files: Object.fromEntries(seeds),
    mounts: question.mounts,
    secrets: question.secrets,
    noKubeClient: question.noKubeClient,
  });
}

/** Answers in order, the last one again and again; a command without an answer is not supported. */
function script(replies: Question["replies"]): (call: ExecCall) => ProgramAnswer {
  const used = new Map<string, number>();
  return ({ command, args, options }) => {
    const dir = command.slice(pluginDir.length + 1, command.lastIndexOf("/"));
    const [name = ""] = args;
    const key = [`${dir}:${name}`, name].find((candidate) => Object.hasOwn(replies, candidate));
    const list = key === undefined ? undefined : replies[key];
    if (key === undefined || !list) return { output: '{"status":"Not supported"}', exitCode: 1 };
    const count = used.get(key) ?? 0;
    used.set(key, count + 1);
    const reply = list[Math.min(count, list.length - 1)];
    if ((reply?.sleepMs ?? 0) > options.timeoutMs) return { exitCode: undefined, signal: "SIGKILL", timedOut: true };
    return { output: reply?.output, exitCode: reply?.exit ?? 0, failure: reply?.execErr };
  };
}

/** Calls since the last look. The environment is never set by us: it is the exec port's. */
function takeCalls(memory: MemoryHost): readonly object[] {
  return memory.exec.calls.splice(0).map(({ command, args }) => ({ path: command, args, setEnv: false }));
}

async function describe(memory: MemoryHost, { op, plugin, pluginName }: ProbeEvent): Promise<object> {
  if (!plugin) return { op, pluginName };
  await plugin.init(memory.host);
  const flex = plugin as FlexVolumePlugin;
  const spec = newSpecFromVolume({ name: "attr", flexVolume: { driver: pluginName } });
  const mounter = await flex.newMounter(spec, { metadata: { uid: "u" }, spec: { containers: [] } });
  const metrics = await mounter?.getMetrics().then(() => "", codeOf);
  return {
    op,
    pluginName,
    interfaces: interfacesOf(flex),
    accessModes: flex.getAccessModes(),
    canSupport: flex.canSupport(spec),
    attributes: mounter?.getAttributes(),
    mounterPath: mounter?.getPath(),
    metricsSupported: metrics !== "metrics-not-supported",
    requiresFSResize: flex.requiresFSResize(),
    requiresRemount: await flex.requiresRemount(spec),
    supportsMountOption: flex.supportsMountOption(),
    supportsSELinuxContextMount: await flex.supportsSELinuxContextMount(spec),
  };
}

interface Scene {
  readonly memory: MemoryHost;
  readonly prober: FlexVolumeProber;
  readonly plugin: FlexVolumePlugin;
}

async function run(scene: Scene, step: Step): Promise<object> {
  const { memory, prober, plugin } = scene;
  const before = memory.mounter.log.actions.length;
  const spec = specOf(step.spec) ?? newSpecFromVolume({ name: "" });
  const answer = await operation(scene, step, spec);
  const mounts = goldenMounts(memory).slice(before);
  return { ...answer, calls: takeCalls(memory), ...(mounts.length > 0 && { mounts }) };

  async function operation({ memory: host }: Scene, { op }: Step, of: Spec): Promise<object> {
    switch (op) {
      case "probe":
        return { events: (await prober.probe()).events.length };
      case "canSupport":
        return { out: plugin.canSupport(of) };
      case "getVolumeName":
        return beside("", await answerOf(() => plugin.getVolumeName(of)));
      case "constructVolumeSpec":
        return { out: goldenSpecOf((await plugin.constructVolumeSpec(step.volumeName ?? "", step.path ?? "")).spec) };
      case "setUp":
        return setUp(scene, step, of);
      case "tearDown":
        return tearDown(host, plugin, step);
      case "expandVolumeDevice":
        return expand(plugin, step, of);
      case "nodeExpand":
        return nodeExpand(plugin, step, of);
      default:
        return isAttachablePlugin(plugin) ? attachOperation(plugin, step, of) : { out: { notAttachable: true } };
    }
  }
}

async function attachOperation(plugin: AttachableVolumePlugin, step: Step, spec: Spec): Promise<object> {
  const { device = "", node = "", path = "" } = step;
  const attacher = await plugin.newAttacher();
  switch (step.op) {
    case "attach":
      return beside("", await answerOf(() => attacher.attach(spec, node)));
    case "waitForAttach":
      return beside("", await answerOf(() => attacher.waitForAttach(spec, device, undefined, step.timeoutMs ?? 0)));
    case "getDeviceMountPath":
      return beside("", await answerOf(() => attacher.getDeviceMountPath(spec)));
    case "mountDevice":
      return answerOf(() => attacher.mountDevice(spec, device, path, {}));
    case "detach":
      return answerOf(async () => (await plugin.newDetacher()).detach(step.volumeName ?? "", node));
    case "unmountDevice":
      return answerOf(async () => (await plugin.newDetacher()).unmountDevice(path));
    case "volumesAreAttached": {
      const specs = (step.specs ?? []).flatMap((golden) => specOf(golden) ?? []);
      return answerOf(async () => {
        const attached = await attacher.volumesAreAttached(specs, node);
        return attached && specs.map((each) => attached.get(each));
      });
    }
    default:
      throw new Error(`no operation ${step.op}`);
  }
}

async function setUp({ memory, plugin }: Scene, step: Step, spec: Spec): Promise<object> {
  let path: string | undefined;
  const { err } = await answerOf(async () => {
    const mounter = await plugin.newMounter(spec, step.pod);
    path = mounter?.getPath();
    await mounter?.setUp({ fsGroup: step.fsGroup });
  });
  return { ...(err !== undefined && { err }), ...(path !== undefined && { out: await dirState(memory, path) }) };
}

async function tearDown(memory: MemoryHost, plugin: FlexVolumePlugin, step: Step): Promise<object> {
  const unmounter = await plugin.newUnmounter(step.volumeName ?? "", step.podUID ?? "");
  const { err } = await answerOf(() => unmounter?.tearDown());
  return { ...(err !== undefined && { err }), out: await dirState(memory, unmounter?.getPath() ?? "") };
}

async function dirState({ files }: MemoryHost, path: string): Promise<object> {
  return { path, dirExists: (await files.lstat(path)) !== undefined };
}

/** Go gives the wanted size beside an error. */
async function expand(plugin: FlexVolumePlugin, { newSize = "", oldSize = "" }: Step, spec: Spec): Promise<object> {
  const wanted = parseQuantity(newSize);
  const answer = await answerOf(async () => (await plugin.expandVolumeDevice(spec, wanted, parseQuantity(oldSize))).toString());
  return beside(wanted.toString(), answer);
}

async function nodeExpand(plugin: FlexVolumePlugin, { device = "", path = "", newSize = "", oldSize = "" }: Step, spec: Spec): Promise<object> {
  const options = {
    volumeSpec: spec,
    devicePath: device,
    deviceMountPath: path,
    deviceStagePath: "",
    newSize: parseQuantity(newSize),
    oldSize: parseQuantity(oldSize),
  };
  return beside(false, await answerOf(() => plugin.nodeExpand(options)));
}

/** What Go returns beside an error. */
function beside(value: unknown, answer: Answer): Answer {
  return answer.err === undefined ? answer : { ...answer, out: value };
}
