/**
 * `kubernetes.io/image`: an OCI image as a volume. The container runtime mounts it, so that a kubelet's plugin does nothing; a host without such a
 * runtime says so in the config, and then set up refuses. Source: pkg/volume/image/image.go of v1.37.2.
 */
import { VolumeError } from "@/server/volume/errors";
import { metricsNil } from "@/server/volume/metrics";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { Mounter, Unmounter } from "@/server/volume/volume";

const imagePluginName = "kubernetes.io/image";

export interface ImageConfig {
  /** Why this host's containers get no image volumes; absent where a runtime mounts them. */
  readonly unsupported?: string;
}

/** Extra to the seed's interfaces, as in the real one; without nodeExpand it makes no plugin that expands. */
type ImagePlugin = VolumePlugin & { requiresFSResize(): boolean };

export function newImagePlugin(config: ImageConfig = {}): ImagePlugin {
  return {
    init: async () => undefined,
    getPluginName: () => imagePluginName,
    decidingField: "image",
    sources: { volume: ["image"] },
    about: { kind: "in-tree" },
    getVolumeName: async (spec) => {
      const source = spec.volume?.image;
      if (!source) throw new VolumeError("the volumeSpec does not reference an Image volume type");
      return source.reference ?? "";
    },
    canSupport: (spec) => spec.volume?.image !== undefined,
    requiresRemount: async () => false,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    newMounter: async () => newMounter(config),
    newUnmounter: async () => unmounter,
    constructVolumeSpec: async () => ({ seLinuxMountContext: "" }),
    requiresFSResize: () => false,
  } satisfies ImagePlugin;
}

function newMounter({ unsupported }: ImageConfig): Mounter {
  const setUp = async (): Promise<void> => {
    if (unsupported !== undefined) throw new VolumeError(unsupported, "refused");
  };
  return {
    getPath: () => "",
    getMetrics: metricsNil.getMetrics,
    getAttributes: () => ({ readOnly: true, managed: false, seLinuxRelabel: false }),
    setUp,
    setUpAt: setUp,
  };
}

const unmounter: Unmounter = {
  getPath: () => "",
  getMetrics: metricsNil.getMetrics,
  tearDown: async () => undefined,
  tearDownAt: async () => undefined,
};
