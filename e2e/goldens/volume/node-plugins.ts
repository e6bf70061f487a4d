import { newKubeletPlugins } from "@/server/volume/plugins/index";
import type { VolumePlugin } from "@/server/volume/plugin";

/** A new plugin of a kubelet by name. */
export function nodePlugin(name: string): VolumePlugin {
  const plugin = newKubeletPlugins().find((candidate) => candidate.getPluginName() === name);
  if (!plugin) throw new Error(`no plugin ${name}`);
  return plugin;
}
