/** constructVolumeSpec and constructBlockVolumeSpec of every node plugin, from nothing but what a line says is on disk. */
import type { Adapter } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { goldenSpecOf } from "@/e2e/goldens/golden-spec";
import { nodePlugin } from "@/e2e/goldens/volume/node-plugins";
import { createMemoryHost, type Seed } from "@/server/hosts/memory";
import { isBlockPlugin } from "@/server/volume/plugin";
import type { Spec } from "@/server/volume/spec";

interface Question {
  readonly plugin: string;
  readonly volumeName: string;
  readonly path: string;
  readonly podUID?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly mounts?: readonly { readonly device: string; readonly path: string }[];
  readonly seLinuxMountContexts?: Readonly<Record<string, string>>;
  readonly seLinuxMountContextErr?: string;
  readonly deviceNodes?: Readonly<Record<string, string>>;
  readonly symlinks?: Readonly<Record<string, string>>;
}

export const adapter: Adapter = {
  answer(line) {
    const question = line.in as unknown as Question;
    return answerOf(async () => {
      const plugin = nodePlugin(question.plugin);
      await plugin.init(hostOf(question));
      if (line.fn === "ConstructVolumeSpec") {
        const { spec, seLinuxMountContext } = await plugin.constructVolumeSpec(question.volumeName, question.path);
        return { spec: spec ? goldenSpec(spec) : null, seLinuxMountContext };
      }
      if (!isBlockPlugin(plugin)) throw new Error(`${question.plugin} maps no blocks`);
      const spec = await plugin.constructBlockVolumeSpec(question.podUID ?? "", question.volumeName, question.path);
      return { spec: goldenSpec(spec) };
    });
  },
};

function hostOf(question: Question): ReturnType<typeof createMemoryHost>["host"] {
  const { files, deviceNodes, symlinks, mounts, seLinuxMountContexts, seLinuxMountContextErr } = question;
  const seeds: [string, Seed][] = [
    ...Object.entries(files ?? {}),
    ...Object.entries(deviceNodes ?? {}).map(([path, rdev]): [string, Seed] => [path, { kind: "block-device", rdev }]),
    ...Object.entries(symlinks ?? {}).map(([path, target]): [string, Seed] => [path, { kind: "symlink", target }]),
  ];
  return createMemoryHost({
    mounting: "recorded",
    files: Object.fromEntries(seeds),
    mounts,
    seLinuxContexts: seLinuxMountContexts ?? {},
    seLinuxContextError: seLinuxMountContextErr === undefined ? undefined : new Error(seLinuxMountContextErr),
  }).host;
}

/** As Go writes it: an empty name is left out, a list of sources never is, a persistent volume always has a status. */
function goldenSpec(spec: Spec): object {
  const { volume, persistentVolume } = spec;
  if (volume?.projected) return { ...goldenSpecOf(spec), volume: { ...volume, projected: { sources: null, ...volume.projected } } };
  if (!persistentVolume) return { ...goldenSpecOf(spec) };
  const metadata = persistentVolume.metadata.name === "" ? {} : persistentVolume.metadata;
  return { ...goldenSpecOf(spec), persistentVolume: { ...persistentVolume, metadata, status: {} } };
}
