/**
 * `kubernetes.io/git-repo`: a clone of a repository. Its gate GitRepoVolumeDriver is locked off since 1.36, because a repository's hooks ran
 * as root on the node: volumes are matched, named and torn down, and never set up. Source: pkg/volume/git_repo/git_repo.go of v1.37.2.
 */
import { cleanPath } from "@/lib/go-path";
import { goQuote } from "@/lib/go-text";
import type { GitRepoVolumeSource } from "@/lib/kube/volumes";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { metricsNil } from "@/server/volume/metrics";
import type { VolumePlugin } from "@/server/volume/plugin";
import { newHostSlot, podVolumeDir } from "@/server/volume/plugins/host-slot";
import { newSpecFromVolume, specName, type Spec } from "@/server/volume/spec";
import type { Mounter, Unmounter } from "@/server/volume/volume";

const gitRepoPluginName = "kubernetes.io/git-repo";

export function newGitRepoPlugin(): VolumePlugin {
  const { init, host } = newHostSlot(gitRepoPluginName);
  return {
    init,
    getPluginName: () => gitRepoPluginName,
    decidingField: "gitRepo",
    sources: { volume: ["gitRepo"] },
    about: {
      kind: "in-tree",
      note: "Its gate GitRepoVolumeDriver is locked off since 1.36: a repository's hooks ran as root on the node. Volumes are matched and torn down, and never set up.",
    },
    getVolumeName: async (spec) => {
      const { repository, revision, directory } = sourceOf(spec);
      return `${repository}:${revision ?? ""}:${directory ?? ""}`;
    },
    canSupport: (spec) => spec.volume?.gitRepo !== undefined,
    requiresRemount: async () => false,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    newMounter: async (spec, pod) => {
      validate(sourceOf(spec));
      return newMounter(podVolumeDir(host(), gitRepoPluginName, { podUID: pod?.metadata.uid ?? "", name: specName(spec) }));
    },
    newUnmounter: async (name, podUID) => newUnmounter(host(), { podUID, name }),
    constructVolumeSpec: async (volumeName) => ({
      spec: newSpecFromVolume({ name: volumeName, gitRepo: { repository: "" } }),
      seLinuxMountContext: "",
    }),
  } satisfies VolumePlugin;
}

function sourceOf(spec: Spec): GitRepoVolumeSource {
  const source = spec.volume?.gitRepo;
  if (!source) throw new VolumeError("Spec does not reference a Git repo volume type");
  return source;
}

/** Values that git would take for options, and directories that lead elsewhere. */
function validate({ repository, revision = "", directory = "" }: GitRepoVolumeSource): void {
  for (const [field, value] of Object.entries({ repository, revision, directory })) {
    if (value.startsWith("-")) throw new VolumeError(`${goQuote(value)} is an invalid value for ${field}`);
  }
  if (revision !== "" && directory !== "" && /[/\\]/.test(cleanPath(directory))) {
    throw new VolumeError(`${goQuote(directory)} is not a valid directory, it must not contain a directory separator`);
  }
}

function newMounter(path: string): Mounter {
  const refuse = async (): Promise<never> => {
    throw new VolumeError(
      "git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`",
      "refused",
    );
  };
  return {
    getPath: () => path,
    getMetrics: metricsNil.getMetrics,
    getAttributes: () => ({ readOnly: false, managed: true, seLinuxRelabel: true }),
    setUp: refuse,
    setUpAt: refuse,
  };
}

/** What an older node set up is an emptyDir underneath. */
function newUnmounter(host: VolumeHost, volume: { podUID: string; name: string }): Unmounter {
  const path = podVolumeDir(host, gitRepoPluginName, volume);
  const tearDownAt = async (dir: string): Promise<void> => {
    const spec = newSpecFromVolume({ name: volume.name, emptyDir: {} });
    const wrapped = await host.newWrapperUnmounter(volume.name, spec, volume.podUID);
    await wrapped.tearDownAt(dir);
  };
  return { getPath: () => path, getMetrics: metricsNil.getMetrics, tearDown: () => tearDownAt(path), tearDownAt };
}
