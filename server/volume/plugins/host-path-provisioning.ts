/**
 * Volumes that are directories below /tmp of one node: for tests of clusters, and off unless a controller turns it on.
 * Source: pkg/volume/hostpath/host_path.go (hostPathProvisioner, hostPathDeleter) of v1.37.2.
 */
import type { PersistentVolume } from "@/lib/kube/storage";
import { nilDereference, VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { metricsNil } from "@/server/volume/metrics";
import type { VolumeOptions } from "@/server/volume/plugin";
import type { Spec } from "@/server/volume/spec";
import type { Deleter, Provisioner } from "@/server/volume/volume";

export interface ProvisioningPlugin {
  readonly pluginName: string;
  readonly accessModes: readonly string[];
  readonly host: VolumeHost;
}

export function newHostPathProvisioner(plugin: ProvisioningPlugin, options: VolumeOptions): Provisioner {
  return {
    provision: async () => {
      const { pvc } = options;
      if (pvc.spec.volumeMode === "Block") throw new VolumeError(`${plugin.pluginName} does not support block volume provisioning`);
      const path = `/tmp/hostpath_pv/${plugin.host.ports.random.uuid()}`;
      const asked = pvc.spec.accessModes ?? [];
      const persistentVolume: PersistentVolume = {
        metadata: { name: options.pvName, annotations: { "kubernetes.io/createdby": "hostpath-dynamic-provisioner" } },
        spec: {
          persistentVolumeReclaimPolicy: options.persistentVolumeReclaimPolicy,
          accessModes: [...(asked.length > 0 ? asked : plugin.accessModes)],
          capacity: { storage: pvc.spec.resources?.requests?.storage ?? "0" },
          hostPath: { path },
        },
      };
      await plugin.host.ports.files.mkdirAll(path, 0o750);
      return persistentVolume;
    },
  };
}

/** Not anchored, so that `/data/tmp/x` passes too. */
const deletablePath = /\/tmp\/.+/;

/** Throws VolumeError for a spec that is no persistent volume with a host path. */
export function newHostPathDeleter(host: VolumeHost, spec: Spec): Deleter {
  if (!spec.persistentVolume) throw nilDereference("spec.persistentVolume");
  const source = spec.persistentVolume.spec.hostPath;
  if (!source) throw new VolumeError("spec.PersistentVolumeSource.HostPath is nil");
  const { path } = source;
  return {
    getPath: () => path,
    getMetrics: metricsNil.getMetrics,
    delete: async () => {
      if (!deletablePath.test(path)) {
        throw new VolumeError(`host_path deleter only supports /tmp/.+ but received provided ${path}`);
      }
      // Ours: `/tmp/../etc` has the shape too.
      if (path.split("/").includes("..")) throw new VolumeError(`host_path deleter does not follow '..': ${path}`, "refused");
      await host.ports.files.removeAll(path);
    },
  };
}
