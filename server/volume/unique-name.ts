/**
 * The names under which a node and the controllers know a volume. Source: pkg/volume/util/util.go (GetUniqueVolumeName and kin),
 * pkg/volume/util/{attach_limit,device_util}.go and populator's use of them at v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { VolumeError } from "@/server/volume/errors";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { specName, type Spec } from "@/server/volume/spec";

/** `<plugin>/<volume>`, of a volume that is attached or device-mounted: one for the whole node. */
export function getUniqueVolumeName(pluginName: string, volumeName: string): string {
  return `${pluginName}/${volumeName}`;
}

/** `<plugin>/<podUID>-<spec name>`, of any other volume: one for each pod. */
export function getUniqueVolumeNameFromSpecWithPod(podUID: string, plugin: VolumePlugin, spec: Spec): string {
  return `${plugin.getPluginName()}/${podUID}-${specName(spec)}`;
}

/** Throws VolumeError when there is no plugin, or it has no name for the volume. */
export async function getUniqueVolumeNameFromSpec(plugin: VolumePlugin | undefined, spec: Spec): Promise<string> {
  if (!plugin) throw new VolumeError(`volumePlugin should not be nil. volumeSpec.Name=${goQuote(specName(spec))}`);
  const failed = (why: string, cause?: unknown): VolumeError =>
    new VolumeError(`failed to GetVolumeName from volumePlugin for volumeSpec ${goQuote(specName(spec))} err=${why}`, "volume-error", cause);
  const volumeName = await plugin.getVolumeName(spec).catch((error: unknown) => {
    throw failed(messageOf(error), error);
  });
  if (volumeName === "") throw failed("<nil>");
  return getUniqueVolumeName(plugin.getPluginName(), volumeName);
}

/** Plugin and volume of a unique name: split after its second slash. Throws VolumeError. */
export function splitUniqueName(uniqueName: string): { readonly plugin: string; readonly volume: string } {
  const [vendor, driver, ...rest] = uniqueName.split("/");
  if (vendor === undefined || driver === undefined || rest.length === 0) {
    throw new VolumeError(`cannot split volume unique name ${uniqueName} to plugin/volume components`);
  }
  return { plugin: `${vendor}/${driver}`, volume: rest.join("/") };
}

/** Any error means no. */
export async function isAttachableVolume(spec: Spec, manager: VolumePluginManager): Promise<boolean> {
  const plugin = await manager.findAttachablePluginBySpec(spec).catch(() => undefined);
  return plugin !== undefined && plugin.newAttacher().then(Boolean, () => false);
}

/** Any error means no. */
export async function isDeviceMountableVolume(spec: Spec, manager: VolumePluginManager): Promise<boolean> {
  const plugin = await manager.findDeviceMountablePluginBySpec(spec).catch(() => undefined);
  return plugin !== undefined && plugin.newDeviceMounter().then(Boolean, () => false);
}
