/** Paths and attributes of mounters, unmounters and block mappers, and the names inside paths. */
import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { nodePlugin } from "@/e2e/goldens/volume/node-plugins";
import { messageOf } from "@/lib/errors";
import type { Pod, Secret } from "@/lib/kube/pods";
import { createMemoryHost, type MemoryHost } from "@/server/hosts/memory";
import type { HostFileType } from "@/server/volume/mount";
import { escapeQualifiedName, splitQualifiedName, unescapeQualifiedName } from "@/server/volume/paths";
import { isBlockPlugin, isDeviceMountablePlugin, type VolumePlugin } from "@/server/volume/plugin";
import { specName, type Spec } from "@/server/volume/spec";
import { splitUniqueName } from "@/server/volume/unique-name";
import type { BlockVolume } from "@/server/volume/volume";

interface Question {
  readonly spec: GoldenSpec;
  readonly plugin: string;
  readonly podUID: string;
  readonly nodeName: string;
  readonly fileTypes?: Readonly<Record<string, HostFileType>>;
}

export const adapter: Adapter = {
  async answer(line) {
    if (line.fn === "escape") return { out: escapes(String(line.in["value"])) };
    if (line.fn === "splitUniqueName") return answerOf(() => splitUniqueName(String(line.in["value"])));
    return { out: await pathsOf(line.in as unknown as Question) };
  },
};

function escapes(value: string): object {
  return {
    escapeQualifiedName: escapeQualifiedName(value),
    unescapeQualifiedName: unescapeQualifiedName(value),
    splitQualifiedName: splitQualifiedName(value),
  };
}

const secret: Secret = { metadata: { namespace: "ns", name: "sec" }, data: { k: "dg==" } };

async function pathsOf(question: Question): Promise<object> {
  const memory = createMemoryHost({
    mounting: "recorded",
    nodeName: question.nodeName,
    fileTypes: question.fileTypes,
    fileTypeOfOthers: "Directory",
    secrets: [secret],
  });
  const plugin = nodePlugin(question.plugin);
  await plugin.init(memory.host);
  const spec = specOf(question.spec) ?? failure("a nil spec");
  const pod: Pod = { metadata: { namespace: "ns", name: "pod", uid: question.podUID }, spec: { containers: [] } };
  const name = specName(spec);
  return {
    mounter: await answerOf(async () => {
      const mounter = await plugin.newMounter(spec, pod);
      return { path: mounter?.getPath(), attributes: mounter?.getAttributes() };
    }),
    unmounter: await answerOf(async () => ({ path: (await plugin.newUnmounter(name, question.podUID))?.getPath() })),
    ...(isDeviceMountablePlugin(plugin) && {
      deviceMountPath: withEmptyOut(await answerOf(async () => (await plugin.newDeviceMounter()).getDeviceMountPath(spec))),
    }),
    ...(await blockPaths(memory, plugin, { spec, pod })),
  };
}

function failure(what: string): never {
  throw new Error(what);
}

async function blockPaths(memory: MemoryHost, plugin: VolumePlugin, { spec, pod }: { readonly spec: Spec; readonly pod: Pod }): Promise<object> {
  if (!isBlockPlugin(plugin)) return {};
  const blockMapper = await answerOf(async () => {
    const mapper = await plugin.newBlockVolumeMapper(spec, pod);
    return {
      ...(await mapped(mapper, spec)),
      supportsMetrics: mapper.supportsMetrics(),
      ...(mapper.getStagingPath && { stagingPath: mapper.getStagingPath() }),
    };
  });
  const files = await dataFiles(memory);
  const blockUnmapper = await answerOf(async () =>
    mapped(await plugin.newBlockVolumeUnmapper(specName(spec), pod.metadata.uid ?? ""), spec),
  );
  return { blockMapper, ...(Object.keys(files).length > 0 && { files }), blockUnmapper };
}

async function mapped(block: BlockVolume, spec: Spec): Promise<object> {
  const { dir, name } = block.getPodDeviceMapPath();
  const globalMapPath = await block.getGlobalMapPath(spec).then(
    (path) => ({ globalMapPath: path }),
    (error: unknown) => ({ globalMapPathErr: messageOf(error) }),
  );
  return { ...globalMapPath, podDeviceMapDir: dir, podDeviceMapName: name };
}

/** Everything written below the kubelet's root. */
async function dataFiles({ files }: Pick<MemoryHost, "files">, dir = "/var/lib/kubelet"): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, kind } of await files.readDir(dir)) {
    const path = `${dir}/${name}`;
    if (kind === "directory") Object.assign(found, await dataFiles({ files }, path));
    else found[path] = await files.readText(path);
  }
  return found;
}

/** Go gives an empty text beside the error. */
function withEmptyOut(answer: Answer): Answer {
  return answer.err === undefined ? answer : { ...answer, out: "" };
}
