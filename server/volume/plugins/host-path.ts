/** `kubernetes.io/host-path`: a path of the node itself. Source: pkg/volume/hostpath/host_path.go of v1.37.2. */
import { codeOf, messageOf } from "@/lib/errors";
import type { HostPathVolumeSource } from "@/lib/kube/volumes";
import { VolumeError, wrap } from "@/server/volume/errors";
import { metricsNil } from "@/server/volume/metrics";
import type {
  DeletableVolumePlugin,
  PersistentVolumePlugin,
  ProvisionableVolumePlugin,
  RecyclableVolumePlugin,
  VolumeConfig,
} from "@/server/volume/plugin";
import { newHostPathDeleter, newHostPathProvisioner } from "@/server/volume/plugins/host-path-provisioning";
import { checkHostPathType, type HostPathTools } from "@/server/volume/plugins/host-path-type";
import { newHostSlot, requireKubelet } from "@/server/volume/plugins/host-slot";
import { recycleVolume } from "@/server/volume/plugins/recycle";
import { newSpecFromVolume, type Spec } from "@/server/volume/spec";
import type { Mounter, Unmounter } from "@/server/volume/volume";

const hostPathPluginName = "kubernetes.io/host-path";

const accessModes = ["ReadWriteOnce"];

type HostPathPlugin = PersistentVolumePlugin & RecyclableVolumePlugin & DeletableVolumePlugin & ProvisionableVolumePlugin;

export function newHostPathPlugin(config: VolumeConfig = {}): HostPathPlugin {
  const { init, host } = newHostSlot(hostPathPluginName);
  return {
    init,
    getPluginName: () => hostPathPluginName,
    decidingField: "hostPath",
    sources: { volume: ["hostPath"], persistentVolume: ["hostPath"] },
    about: { kind: "in-tree" },
    getVolumeName: async (spec) => sourceOf(spec).path,
    canSupport: (spec) => (spec.persistentVolume?.spec.hostPath ?? spec.volume?.hostPath) !== undefined,
    requiresRemount: async () => false,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    getAccessModes: () => accessModes,
    newMounter: async (spec) => {
      const source = sourceOf(spec);
      const kubelet = requireKubelet(host());
      return newMounter({ files: kubelet.ports.files, hostUtils: kubelet.getHostUtil() }, source, spec.readOnly);
    },
    newUnmounter: async () => unmounter,
    constructVolumeSpec: async (volumeName) => ({
      spec: newSpecFromVolume({ name: volumeName, hostPath: { path: volumeName } }),
      seLinuxMountContext: "",
    }),
    recycle: async (pvName, spec, recorder) => {
      const source = spec.persistentVolume?.spec.hostPath;
      if (!source) throw new VolumeError("spec.PersistentVolume.Spec.HostPath is nil");
      await recycleVolume({ host: host(), config, spec, pvName, recorder }, { hostPath: { path: source.path } });
    },
    newDeleter: async (spec) => newHostPathDeleter(host(), spec),
    newProvisioner: async (options) => {
      if (!config.provisioningEnabled) throw new VolumeError(`provisioning in volume plugin "${hostPathPluginName}" is disabled`);
      return newHostPathProvisioner({ pluginName: hostPathPluginName, accessModes, host: host() }, options);
    },
  } satisfies HostPathPlugin;
}

function sourceOf(spec: Spec): HostPathVolumeSource {
  const source = spec.volume?.hostPath ?? spec.persistentVolume?.spec.hostPath;
  if (!source) throw new VolumeError("spec does not reference an HostPath volume type");
  return source;
}

/** Nothing is mounted: the runtime binds the path itself. Set up only checks it. */
function newMounter(tools: HostPathTools, source: HostPathVolumeSource, readOnly: boolean): Mounter {
  const { path } = source;
  return {
    getPath: () => path,
    getMetrics: metricsNil.getMetrics,
    getAttributes: () => ({ readOnly, managed: false, seLinuxRelabel: false }),
    setUp: async () => {
      if (path.split("/").includes("..")) throw new VolumeError(`invalid HostPath \`${path}\`: must not contain '..'`);
      await refuseForbidden(tools, path);
      await checkHostPathType(tools, path, source.type ?? "");
    },
    setUpAt: async () => {
      throw new VolumeError("SetUpAt() does not make sense for host paths");
    },
  };
}

/**
 * The real one looks at nothing when no type is asked for; our hosts keep pods to what a person allowed, whatever the type. What is
 * missing, or is no path at all, is left to the check of the type.
 */
async function refuseForbidden({ files }: HostPathTools, path: string): Promise<void> {
  try {
    await files.stat(path);
  } catch (error) {
    if (codeOf(error) === "EACCES") throw wrap(`hostPath ${path} may not be used on this node: ${messageOf(error)}`, error);
  }
}

const unmounter: Unmounter = {
  getPath: () => "",
  getMetrics: metricsNil.getMetrics,
  tearDown: async () => undefined,
  tearDownAt: async () => {
    throw new VolumeError("TearDownAt() does not make sense for host paths");
  },
};
