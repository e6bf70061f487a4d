/** How host-path and nfs empty a volume for its next claim. Source: Recycle of pkg/volume/hostpath and pkg/volume/nfs of v1.37.2. */
import type { VolumeSource } from "@/lib/kube/volumes";
import { nilDereference } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type { RecycleEventRecorder, VolumeConfig } from "@/server/volume/plugin";
import { calculateTimeoutForVolume, recycleVolumeByWatchingPodUntilCompletion } from "@/server/volume/recycler";
import type { Spec } from "@/server/volume/spec";

export interface RecycleRequest {
  readonly host: VolumeHost;
  /** Its template is changed, as in Go: plugins that share one see each other's changes. */
  readonly config: VolumeConfig;
  readonly spec: Spec;
  readonly pvName: string;
  readonly recorder: RecycleEventRecorder;
}

/** Runs the template's pod over the volume, which becomes the pod's first. Throws VolumeError with the texts of the recycler. */
export async function recycleVolume({ host, config, spec, pvName, recorder }: RecycleRequest, source: VolumeSource): Promise<void> {
  const pod = config.recyclerPodTemplate;
  const volume = pod?.spec.volumes?.[0];
  if (!pod || !volume) throw nilDereference("the volume of the recycler pod template");
  if (!spec.persistentVolume) throw nilDereference("spec.persistentVolume");

  const { recyclerMinimumTimeout = 0, recyclerTimeoutIncrement = 0 } = config;
  pod.spec.activeDeadlineSeconds = calculateTimeoutForVolume(recyclerMinimumTimeout, recyclerTimeoutIncrement, spec.persistentVolume);
  pod.spec.volumes?.splice(0, 1, { name: volume.name, ...source });
  await recycleVolumeByWatchingPodUntilCompletion(pvName, pod, { client: host.getKubeClient(), recorder });
}
