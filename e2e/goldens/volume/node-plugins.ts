/** The plugins of a kubelet by name, as the goldens ask for them. */
import { newCsiPlugin } from "@/server/volume/plugins/csi/plugin";
import { newFcPlugin } from "@/server/volume/plugins/fc";
import { newIscsiPlugin } from "@/server/volume/plugins/iscsi";
import { newLocalVolumePlugin } from "@/server/volume/plugins/local-volume";
import type { VolumePlugin } from "@/server/volume/plugin";

export function nodePlugins(): readonly VolumePlugin[] {
  return [newIscsiPlugin(), newFcPlugin(), newLocalVolumePlugin(), newCsiPlugin()];
}

export function nodePlugin(name: string): VolumePlugin {
  const plugin = nodePlugins().find((candidate) => candidate.getPluginName() === name);
  if (!plugin) throw new Error(`no plugin ${name}`);
  return plugin;
}
