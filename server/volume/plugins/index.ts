/**
 * Which plugins a program has, in the order it registers them. Source: cmd/kubelet/app/plugins.go and
 * cmd/kube-controller-manager/app/plugins.go of v1.37.2. FlexVolume drivers are not here: a prober finds them.
 */
import {
  isAttachablePlugin,
  isDeletablePlugin,
  isExpandablePlugin,
  isProvisionablePlugin,
  isRecyclablePlugin,
  type VolumeConfig,
  type VolumePlugin,
} from "@/server/volume/plugin";
import { newConfigMapPlugin } from "@/server/volume/plugins/configmap";
import { newCsiPlugin } from "@/server/volume/plugins/csi/plugin";
import { newDownwardAPIPlugin } from "@/server/volume/plugins/downward-api";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newFcPlugin } from "@/server/volume/plugins/fc";
import type { FeaturesConfig } from "@/server/volume/plugins/features";
import { newGitRepoPlugin } from "@/server/volume/plugins/git-repo";
import { newHostPathPlugin } from "@/server/volume/plugins/host-path";
import { newImagePlugin } from "@/server/volume/plugins/image";
import { newIscsiPlugin } from "@/server/volume/plugins/iscsi";
import { newLocalVolumePlugin } from "@/server/volume/plugins/local-volume";
import { newNFSPlugin } from "@/server/volume/plugins/nfs";
import { newProjectedPlugin } from "@/server/volume/plugins/projected";
import { newSecretPlugin } from "@/server/volume/plugins/secret";

export interface KubeletPluginsConfig extends FeaturesConfig {
  /** Why image volumes can't be had here; absent where a container runtime mounts them. */
  readonly imageVolumesUnsupported?: string;
}

/** The 13 plugins of a kubelet. Each call makes new ones: a plugin belongs to one host. */
export function newKubeletPlugins({ features, imageVolumesUnsupported }: KubeletPluginsConfig = {}): readonly VolumePlugin[] {
  return [
    newEmptyDirPlugin({ features }),
    newGitRepoPlugin(),
    newHostPathPlugin(),
    newNFSPlugin(),
    newSecretPlugin({ features }),
    newIscsiPlugin(),
    newDownwardAPIPlugin({ features }),
    newFcPlugin(),
    newConfigMapPlugin({ features }),
    newProjectedPlugin({ features }),
    newLocalVolumePlugin(),
    newCsiPlugin(),
    newImagePlugin({ unsupported: imageVolumesUnsupported }),
  ];
}

export interface ControllerPluginsConfig {
  readonly hostPath?: VolumeConfig;
  readonly nfs?: VolumeConfig;
}

/** The controllers of kube-controller-manager that keep plugins, and what each keeps of the five. */
export const controllerPlugins = {
  attachDetach: isAttachablePlugin,
  /** None is left: in-tree expansion went with the last in-tree driver. */
  expand: isExpandablePlugin,
  binder: (plugin: VolumePlugin): boolean => isProvisionablePlugin(plugin) || isDeletablePlugin(plugin) || isRecyclablePlugin(plugin),
  seLinuxWarning: (): boolean => true,
} as const satisfies Readonly<Record<string, (plugin: VolumePlugin) => boolean>>;

export type ControllerName = keyof typeof controllerPlugins;

/** The plugins of one controller; new ones at each call. */
export function newControllerPlugins(controller: ControllerName, config: ControllerPluginsConfig = {}): readonly VolumePlugin[] {
  const all = [newHostPathPlugin(config.hostPath), newNFSPlugin(config.nfs), newFcPlugin(), newIscsiPlugin(), newCsiPlugin()];
  return all.filter(controllerPlugins[controller]);
}
