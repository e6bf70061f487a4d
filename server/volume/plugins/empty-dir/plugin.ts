/**
 * `kubernetes.io/empty-dir`: an empty directory that lives as long as its pod, on disk, in memory or on huge pages.
 * Source: pkg/volume/emptydir/empty_dir.go and empty_dir_linux.go of v1.37.2.
 */
import type { Pod } from "@/lib/kube/pods";
import type { EmptyDirVolumeSource } from "@/lib/kube/volumes";
import { Quantity } from "@/lib/quantity";
import { nilDereference, VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type { ResizableEphemeralVolumePlugin } from "@/server/volume/plugin";
import { isMounted, mounterOf } from "@/server/volume/plugins/bind-mount";
import { defaultMedium, memoryMedium } from "@/server/volume/plugins/empty-dir/medium";
import { memoryVolumeSize } from "@/server/volume/plugins/empty-dir/memory-size";
import {
  emptyDirPath,
  emptyDirPluginName,
  newEmptyDirMounter,
  newEmptyDirUnmounter,
} from "@/server/volume/plugins/empty-dir/mounter";
import type { FeaturesConfig, VolumeFeatures } from "@/server/volume/plugins/features";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { newSpecFromVolume, specName, type Spec } from "@/server/volume/spec";
import type { Mounter } from "@/server/volume/volume";

export function newEmptyDirPlugin(config: FeaturesConfig = {}): ResizableEphemeralVolumePlugin {
  const { init, host } = newHostSlot(emptyDirPluginName);
  return {
    init,
    getPluginName: () => emptyDirPluginName,
    decidingField: "emptyDir",
    sources: { volume: ["emptyDir"] },
    about: { kind: "in-tree" },
    getVolumeName: async (spec) => {
      sourceOf(spec);
      return specName(spec);
    },
    canSupport: (spec) => spec.volume?.emptyDir !== undefined,
    requiresRemount: async () => false,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    newMounter: async (spec, pod) => newMounter(host(), { spec, pod, features: config.features }),
    newUnmounter: async (name, podUID) => newEmptyDirUnmounter({ host: host(), podUID, volumeName: name }),
    constructVolumeSpec: async (volumeName) => ({
      spec: newSpecFromVolume({ name: volumeName, emptyDir: {} }),
      seLinuxMountContext: "",
    }),
    resizeEphemeralVolume: async (spec, pod, newSize) => resize(host(), { spec, pod, newSize }),
  } satisfies ResizableEphemeralVolumePlugin;
}

function sourceOf(spec: Spec): EmptyDirVolumeSource {
  const source = spec.volume?.emptyDir;
  if (!source) throw new VolumeError("spec does not reference an emptyDir volume type");
  return source;
}

interface MounterRequest {
  readonly spec: Spec;
  readonly pod: Pod | undefined;
  readonly features: VolumeFeatures | undefined;
}

/** A volume without any source is an emptyDir too: the form of it before sources had names. */
async function newMounter(host: VolumeHost, { spec, pod, features }: MounterRequest): Promise<Mounter> {
  if (!spec.volume) throw nilDereference("spec.volume");
  if (!pod) throw nilDereference("pod");
  const source = spec.volume.emptyDir ?? {};
  const medium = source.medium ?? defaultMedium;
  const size = medium === memoryMedium ? memoryVolumeSize(await host.getNodeAllocatable(), pod, source.sizeLimit) : Quantity.zero;
  return newEmptyDirMounter({
    host,
    pod,
    podUID: pod.metadata.uid ?? "",
    volumeName: specName(spec),
    medium,
    size,
    mode: features?.emptyDirVolumeMode ? source.mode : undefined,
  });
}

interface ResizeRequest {
  readonly spec: Spec;
  readonly pod: Pod;
  readonly newSize: Quantity | undefined;
}

/** Changes the size of a mounted tmpfs. The size is taken as it is: who calls has compared it with the node and with what is used. */
async function resize(host: VolumeHost, { spec, pod, newSize }: ResizeRequest): Promise<void> {
  if (sourceOf(spec).medium !== memoryMedium) {
    throw new VolumeError("only memory-backed emptyDir volumes support direct resize");
  }
  const sizeBytes = newSize?.value() ?? 0n;
  if (sizeBytes === 0n) throw new VolumeError("addition or removal of size limit is not supported");

  const mounter = mounterOf(host);
  const dir = emptyDirPath({ host, podUID: pod.metadata.uid ?? "", volumeName: specName(spec) });
  if (!(await isMounted(mounter, dir, "likely"))) {
    throw new VolumeError(`volume ${specName(spec)} is not yet mounted; deferring resize`);
  }
  await mounter.mount({ source: "tmpfs", target: dir, fsType: "tmpfs", options: ["remount", `size=${sizeBytes}`] });
}
