/**
 * Wrapper mounters: a plugin (secret, configMap ...) builds on another one (emptyDir) for a volume named `wrapped_NAME`.
 * Source: pkg/kubelet/volume_host.go (NewWrapperMounter, NewWrapperUnmounter) at v1.37.2.
 */
import type { Pod } from "@/lib/kube/pods";
import { messageOf } from "@/lib/errors";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { Spec } from "@/server/volume/spec";
import { specName } from "@/server/volume/spec";
import type { Mounter, Unmounter } from "@/server/volume/volume";

/** The manager's findPluginBySpec; given as a function because the manager knows the host too. */
export type FindPluginBySpec = (spec: Spec) => Promise<VolumePlugin>;

export interface Wrapped {
  readonly volumeName: string;
  readonly spec: Spec;
}

/** Throws `failed to instantiate mounter for volume: NAME using plugin: PLUGIN with a root cause: ...`. */
export async function wrapperMounter(find: FindPluginBySpec, { volumeName, spec }: Wrapped, pod: Pod): Promise<Mounter> {
  const wrapped = renamed(volumeName, spec);
  const plugin = await find(wrapped).catch((error: unknown) => {
    throw wrap(`can't use volume plugins for ${specName(wrapped)}: ${messageOf(error)}`, error);
  });
  const failed = (cause: unknown): VolumeError =>
    wrap(
      `failed to instantiate mounter for volume: ${specName(wrapped)} using plugin: ${plugin.getPluginName()} with a root cause: ${messageOf(cause)}`,
      cause,
    );
  const mounter = await plugin.newMounter(wrapped, pod).catch((error: unknown) => {
    throw failed(error);
  });
  if (mounter === undefined) throw failed(new VolumeError("the plugin made no mounter"));
  return mounter;
}

export async function wrapperUnmounter(find: FindPluginBySpec, { volumeName, spec }: Wrapped, podUID: string): Promise<Unmounter> {
  const wrapped = renamed(volumeName, spec);
  const plugin = await find(wrapped);
  const unmounter = await plugin.newUnmounter(specName(wrapped), podUID);
  if (unmounter === undefined) throw new VolumeError(`plugin ${plugin.getPluginName()} made no unmounter for ${specName(wrapped)}`);
  return unmounter;
}

function renamed(volumeName: string, spec: Spec): Spec {
  return spec.volume === undefined ? spec : { ...spec, volume: { ...spec.volume, name: `wrapped_${volumeName}` } };
}
