/**
 * Paths of a kubelet, and names inside them. Source: k8s.io/utils/strings/escape.go, pkg/kubelet/kubelet_getters.go and
 * pkg/volume/util/util.go of v1.37.2.
 */
import { joinPath } from "@/lib/go-path";

/** A plugin's or driver's name as one element of a path. */
export function escapeQualifiedName(name: string): string {
  return name.replaceAll("/", "~");
}

/** The inverse, as far as there is one: a `~` of the name itself becomes a slash too. */
export function unescapeQualifiedName(name: string): string {
  return name.replaceAll("~", "/");
}

/** The first two elements between slashes; a name without a slash is all second element. */
export function splitQualifiedName(name: string): readonly [string, string] {
  const [first = "", second] = name.split("/");
  return second === undefined ? ["", first] : [first, second];
}

/** Where a kubelet keeps things below its root. Nothing is escaped here: callers pass `escapeQualifiedName(plugin)` where that is due. */
export interface KubeletPaths {
  readonly root: string;
  readonly pluginsDir: string;
  readonly pluginsRegistrationDir: string;
  readonly podsDir: string;
  pluginDir(pluginName: string): string;
  volumeDevicePluginDir(pluginName: string): string;
  podDir(podUID: string): string;
  podVolumesDir(podUID: string): string;
  podVolumeDir(podUID: string, pluginName: string, volumeName: string): string;
  podPluginDir(podUID: string, pluginName: string): string;
  podVolumeDevicesDir(podUID: string): string;
  podVolumeDeviceDir(podUID: string, pluginName: string): string;
  podVolumeSubpathsDir(podUID: string): string;
  podContainerDir(podUID: string, containerName: string): string;
}

export function kubeletPaths(root: string): KubeletPaths {
  const podDir = (podUID: string): string => joinPath(root, "pods", podUID);
  const pluginDir = (pluginName: string): string => joinPath(root, "plugins", pluginName);
  return {
    root,
    pluginsDir: joinPath(root, "plugins"),
    pluginsRegistrationDir: joinPath(root, "plugins_registry"),
    podsDir: joinPath(root, "pods"),
    pluginDir,
    volumeDevicePluginDir: (pluginName) => joinPath(pluginDir(pluginName), "volumeDevices"),
    podDir,
    podVolumesDir: (podUID) => joinPath(podDir(podUID), "volumes"),
    podVolumeDir: (podUID, pluginName, volumeName) => joinPath(podDir(podUID), "volumes", pluginName, volumeName),
    podPluginDir: (podUID, pluginName) => joinPath(podDir(podUID), "plugins", pluginName),
    podVolumeDevicesDir: (podUID) => joinPath(podDir(podUID), "volumeDevices"),
    podVolumeDeviceDir: (podUID, pluginName) => joinPath(podDir(podUID), "volumeDevices", pluginName),
    podVolumeSubpathsDir: (podUID) => joinPath(podDir(podUID), "volume-subpaths"),
    podContainerDir: (podUID, containerName) => joinPath(podDir(podUID), "containers", containerName),
  };
}

const pluginPathPart = "/plugins/kubernetes.io/";

/** Whether a device is mounted anywhere but at its global path: a reference that holds that path, below whatever root, is no other. */
export function hasMountRefs(mountPath: string, references: readonly string[]): boolean {
  const at = mountPath.indexOf(pluginPathPart);
  const own = at < 0 ? mountPath : mountPath.slice(at);
  return references.some((reference) => !reference.includes(own));
}
