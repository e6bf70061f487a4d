/**
 * Which plugin serves a wanted volume, and the name that tells it from all others of the node.
 * Source: pkg/volume/util/util.go (GetUniqueVolumeName...), pkg/kubelet/volumemanager/cache/desired_state_of_world.go of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { WantedVolume } from "@/server/node/desired-state";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { specName, type Spec } from "@/server/volume/spec";
import { getUniqueVolumeNameFromSpec, getUniqueVolumeNameFromSpecWithPod } from "@/server/volume/unique-name";

export interface ResolvedVolume extends WantedVolume {
  readonly pluginName: string;
  /** `<plugin>/<volume>` where pods of a node share the device, else `<plugin>/<pod uid>-<spec name>`. */
  readonly uniqueName: string;
  readonly attachable: boolean;
  readonly deviceMountable: boolean;
}

/**
 * Names that plugins gave. Some run a driver for a name: it is asked once for each version of the object that defines the volume, as the
 * kubelet asks when it processes a pod, and not at every look.
 */
export class SharedNames {
  private readonly names = new WeakMap<VolumePlugin, WeakMap<object, string>>();

  /** Throws as `sharedName` does; a failure is not kept. */
  async of(plugin: VolumePlugin, spec: Spec): Promise<string> {
    const source = spec.volume ?? spec.persistentVolume ?? spec;
    const known = this.names.get(plugin) ?? new WeakMap<object, string>();
    this.names.set(plugin, known);
    const name = known.get(source) ?? (await sharedName(plugin, spec));
    known.set(source, name);
    return name;
  }
}

/** Throws with the kubelet's text when no plugin, or more than one, serves the volume. */
export async function resolveVolume(manager: VolumePluginManager, names: SharedNames, wanted: WantedVolume): Promise<ResolvedVolume> {
  const { spec } = wanted;
  const plugin = await manager.findPluginBySpec(spec).catch((error: unknown) => {
    throw wrap(`failed to get Plugin from volumeSpec for volume ${goQuote(specName(spec))} err=${messageOf(error)}`, error);
  });
  const attachable = await found(manager.findAttachablePluginBySpec(spec));
  const deviceMountable = await found(manager.findDeviceMountablePluginBySpec(spec));
  const uniqueName = attachable || deviceMountable ? await names.of(plugin, spec) : getUniqueVolumeNameFromSpecWithPod(wanted.podUID, plugin, spec);
  return { ...wanted, pluginName: plugin.getPluginName(), uniqueName, attachable, deviceMountable };
}

/** Any error means "not attachable", as in the kubelet. */
async function found(finding: Promise<VolumePlugin | undefined>): Promise<boolean> {
  return finding.then((plugin) => plugin !== undefined, () => false);
}

/** The name of a volume whose device is shared by the pods of the node. Throws with the populator's text. */
export async function sharedName(plugin: VolumePlugin, spec: Spec): Promise<string> {
  try {
    return await getUniqueVolumeNameFromSpec(plugin, spec);
  } catch (error) {
    const which = `${goQuote(specName(spec))} using volume plugin ${goQuote(plugin.getPluginName())}`;
    throw new VolumeError(`failed to GetUniqueVolumeNameFromSpec for volumeSpec ${which} err=${messageOf(error)}`, "volume-error", error);
  }
}
