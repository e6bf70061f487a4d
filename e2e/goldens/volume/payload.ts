import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { goldenMounts, modeText } from "@/e2e/goldens/volume/setup-state";
import type { ResourceList } from "@/lib/kube/meta";
import type { ConfigMap, Pod, Secret } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { createMemoryHost, type MemoryHost } from "@/server/hosts/memory";
import type { KubeletVolumeHost, TokenRequest } from "@/server/volume/host";
import type { VolumePlugin } from "@/server/volume/plugin";
import { newConfigMapPlugin } from "@/server/volume/plugins/configmap";
import { newDownwardAPIPlugin } from "@/server/volume/plugins/downward-api";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import type { VolumeFeatures } from "@/server/volume/plugins/features";
import { newProjectedPlugin } from "@/server/volume/plugins/projected";
import { newSecretPlugin } from "@/server/volume/plugins/secret";
import { newSpecFromVolume } from "@/server/volume/spec";

interface Question {
  readonly volume: Volume;
  readonly pod: Pod;
  readonly configMaps?: readonly ConfigMap[];
  readonly secrets?: readonly Secret[];
  /** `name:<n>` or `signer:<s>`. */
  readonly trustBundles?: Readonly<Record<string, string>>;
  readonly nodeAllocatable?: ResourceList;
  readonly fsGroup?: number;
  readonly fsUser?: number;
  readonly tokenErr?: string;
  readonly noKubeClient?: boolean;
  readonly atomicWriteVolumeUserFieldsGate?: boolean;
  readonly then?: Question;
}

export const adapter: Adapter = {
  async answer(line) {
    const question = line.in as unknown as Question;
    const features = { atomicWriteVolumeUserFields: question.atomicWriteVolumeUserFieldsGate };
    const world: World = { question };
    const memory = await hostOf(world, features);
    const first = await setUp(memory, question, features);
    if (!question.then) return { out: { first } };

    memory.mounter.log.clear();
    world.question = question.then;
    memory.kubeClient.replace({ configMaps: question.then.configMaps ?? [], secrets: question.then.secrets ?? [] });
    return { out: { first, then: await setUp(memory, question.then, features) } };
  },
};

/** What the API holds now. */
interface World {
  question: Question;
}

async function hostOf(world: World, features: VolumeFeatures): Promise<MemoryHost> {
  const { question } = world;
  const emptyDir = newEmptyDirPlugin({ features });
  const memory = createMemoryHost({
    mounting: "recorded",
    nodeAllocatable: question.nodeAllocatable,
    configMaps: question.configMaps,
    secrets: question.secrets,
    noKubeClient: question.noKubeClient,
    findPluginBySpec: async () => emptyDir,
    api: {
      getServiceAccountToken: (namespace, name, request) => tokenOf(world, { namespace, name, request }),
      trustAnchors: trustAnchorsOf(world),
      podCertificates: {
        getPodCertificateCredentialBundle: async () => ({ privateKey: "key\n", certificateChain: "cert\n" }),
      },
    },
  });
  Object.assign(memory.mounter, { supportsTmpfsNoswap: async () => true });
  await emptyDir.init(memory.host);
  return memory;
}

async function tokenOf({ question }: World, asked: { namespace: string; name: string; request: TokenRequest }) {
  if (question.tokenErr !== undefined) throw new Error(question.tokenErr);
  const { audiences, expirationSeconds, boundObjectRef: bound } = asked.request;
  const token =
    `${asked.namespace}/${asked.name} aud=${audiences.length}:${audiences.join(",")} exp=${expirationSeconds ?? "nil"} ` +
    `bound=${bound?.apiVersion},${bound?.kind},${bound?.name},${bound?.uid}`;
  return { token, expirationTimestamp: "2033-05-18T03:33:20Z" };
}

function trustAnchorsOf(world: World): Pick<KubeletVolumeHost, "getTrustAnchorsByName" | "getTrustAnchorsBySigner"> {
  const find = async (key: string, allowMissing: boolean, missing: string): Promise<string> => {
    const bundles = world.question.trustBundles ?? {};
    const bundle = Object.hasOwn(bundles, key) ? bundles[key] : undefined;
    if (bundle === undefined && !allowMissing) throw new Error(missing);
    return bundle ?? "";
  };
  return {
    getTrustAnchorsByName: (name, allowMissing) => find(`name:${name}`, allowMissing, `trust bundle ${name} is missing`),
    getTrustAnchorsBySigner: (signer, _selector, allowMissing) =>
      find(`signer:${signer}`, allowMissing, `no trust bundle of signer ${signer}`),
  };
}

function pluginOf(volume: Volume, features: VolumeFeatures): VolumePlugin {
  if (volume.configMap) return newConfigMapPlugin({ features });
  if (volume.secret) return newSecretPlugin({ features });
  if (volume.projected) return newProjectedPlugin({ features });
  return newDownwardAPIPlugin({ features });
}

async function setUp(memory: MemoryHost, question: Question, features: VolumeFeatures): Promise<object> {
  const plugin = pluginOf(question.volume, features);
  let path: string | undefined;
  const answer: Answer = await answerOf(async () => {
    await plugin.init(memory.host);
    const mounter = await plugin.newMounter(newSpecFromVolume(question.volume), question.pod);
    path = mounter?.getPath();
    await mounter?.setUp({ fsGroup: question.fsGroup, fsUser: question.fsUser });
  });
  return {
    ...(answer.err !== undefined && { err: withoutTime(String(answer.err)) }),
    out: { stage: path === undefined ? "NewMounter" : "SetUp" },
    mounts: goldenMounts(memory),
    ...(path !== undefined && { path, state: await stateOf(memory, path, question.fsGroup !== undefined) }),
  };
}

function withoutTime(text: string): string {
  return text.replace(/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g, "..TS");
}

async function stateOf({ files }: MemoryHost, dir: string, withGroups: boolean): Promise<object> {
  if (!(await files.lstat(dir))) return { dirExists: false };
  const entries: string[] = [];
  for (const { name, kind } of await files.readDir(dir)) {
    if (kind === "symlink") entries.push(`${name} -> ${withoutTime(await files.readLink(`${dir}/${name}`))}`);
    else if (withoutTime(name) !== "..TS") entries.push(kind === "directory" ? `${name}/` : name);
  }
  const found: Record<string, object> = {};
  await walk("");
  return { dirExists: true, entries: entries.sort(), files: found };

  async function walk(folder: string): Promise<void> {
    for (const { name, kind } of await files.readDir(`${dir}/..data${folder}`)) {
      const path = `${folder}/${name}`;
      const stat = await files.lstat(`${dir}/..data${path}`);
      const owner = { mode: modeText(stat?.mode ?? 0), ...(stat?.uid && { uid: stat.uid }), ...(withGroups && { gid: stat?.gid }) };
      if (kind === "directory") await walk(path);
      if (kind === "directory" && withGroups) found[path.slice(1)] = { dir: true, ...owner };
      if (kind === "file") found[path.slice(1)] = { ...contentOf(await files.readFile(`${dir}/..data${path}`)), ...owner };
    }
  }
}

function contentOf(bytes: Uint8Array): object {
  try {
    return { content: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}
