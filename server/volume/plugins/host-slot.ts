/** Where a plugin keeps the host it was given in `init`, and what every plugin asks that host for. */
import { nilDereference, VolumeError } from "@/server/volume/errors";
import { isKubeletVolumeHost, type KubeletVolumeHost, type VolumeHost } from "@/server/volume/host";
import type { MountInterface } from "@/server/volume/mount";

export interface HostSlot {
  readonly init: (host: VolumeHost | undefined) => Promise<void>;
  /** Throws VolumeError `nil-dereference` before init, or after an init without a host. */
  readonly host: () => VolumeHost;
}

export function newHostSlot(pluginName: string): HostSlot {
  let kept: VolumeHost | undefined;
  return {
    init: (host) => {
      kept = host;
      return Promise.resolve();
    },
    host: () => {
      if (!kept) throw nilDereference(`the host of plugin ${pluginName}`);
      return kept;
    },
  };
}

/** Throws VolumeError on hosts that are no kubelet's. */
export function requireKubelet(host: VolumeHost): KubeletVolumeHost {
  if (!isKubeletVolumeHost(host)) throw new VolumeError("plugin volume host does not implement KubeletVolumeHost interface");
  return host;
}

/** Throws VolumeError on hosts without a mounter (controllers). */
export function requireMounter(host: VolumeHost): MountInterface {
  const mounter = host.getMounter();
  if (!mounter) throw nilDereference("the mounter of this host");
  return mounter;
}

/** `pods/<uid>/volumes/<escaped plugin>/<volume>`. */
export function podVolumeDir(host: VolumeHost, pluginName: string, volume: { podUID: string; name: string }): string {
  return host.getPodVolumeDir(volume.podUID, escapePluginName(pluginName), volume.name);
}

/** `pods/<uid>/plugins/<escaped plugin>/<volume>`: where a plugin keeps its marker of that volume. */
export function podPluginDir(host: VolumeHost, pluginName: string, volume: { podUID: string; name: string }): string {
  return `${host.getPodPluginDir(volume.podUID, escapePluginName(pluginName))}/${volume.name}`;
}

function escapePluginName(name: string): string {
  return name.replaceAll("/", "~");
}
