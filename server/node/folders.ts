/**
 * The folders that volumes lie in, made before any plugin or driver makes them in passing: their mode does not depend on who was first.
 * Source: pkg/kubelet/kubelet.go (setupDataDirs) and kubelet_pods.go (makePodDataDirs) of v1.37.2.
 */
import { joinPath } from "@/lib/go-path";
import type { KubeletVolumeHost } from "@/server/volume/host";

/** Nobody but the node's own user and group looks into pods. */
const folderMode = 0o750;

export async function makeNodeFolders(host: KubeletVolumeHost): Promise<void> {
  for (const folder of [host.getPodsDir(), host.getPluginDir("")]) await host.ports.files.mkdirAll(folder, folderMode);
}

export async function makePodFolders(host: KubeletVolumeHost, podUID: string): Promise<void> {
  const folder = joinPath(host.getPodsDir(), podUID);
  for (const path of [folder, joinPath(folder, "volumes"), joinPath(folder, "plugins")]) await host.ports.files.mkdirAll(path, folderMode);
}
