/** Where a plugin keeps the host it was given in `init`, and what every plugin asks that host for. */
import { nilDereference, VolumeError } from "@/server/volume/errors";
import { isKubeletVolumeHost, type KubeletVolumeHost, type VolumeHost } from "@/server/volume/host";
import { escapeQualifiedName } from "@/server/volume/paths";

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

/** `pods/<uid>/volumes/<escaped plugin>/<volume>`. */
export function podVolumeDir(host: VolumeHost, pluginName: string, volume: { podUID: string; name: string }): string {
  return host.getPodVolumeDir(volume.podUID, escapeQualifiedName(pluginName), volume.name);
}

/** `pods/<uid>/plugins/<escaped plugin>/<volume>`: where a plugin keeps its marker of that volume. */
export function podPluginDir(host: VolumeHost, pluginName: string, volume: { podUID: string; name: string }): string {
  return `${host.getPodPluginDir(volume.podUID, escapeQualifiedName(pluginName))}/${volume.name}`;
}
