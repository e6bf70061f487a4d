/** `kubernetes.io/nfs`: an export of an NFS server. Source: pkg/volume/nfs/nfs.go of v1.37.2. */
import { isIPv6 } from "@/lib/ip";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { newMetricsStatFS } from "@/server/volume/metrics";
import { cleanupMountPoint, cleanupTools, removePath } from "@/server/volume/mount-cleanup";
import { joinMountOptions, mountOptionFromSpec } from "@/server/volume/mount-options";
import type { PersistentVolumePlugin, RecyclableVolumePlugin, VolumeConfig } from "@/server/volume/plugin";
import { isMounted, mounterOf } from "@/server/volume/plugins/bind-mount";
import { newHostSlot, podVolumeDir } from "@/server/volume/plugins/host-slot";
import { recycleVolume } from "@/server/volume/plugins/recycle";
import { newSpecFromVolume, specName, type Spec } from "@/server/volume/spec";
import type { Mounter, Unmounter } from "@/server/volume/volume";

const nfsPluginName = "kubernetes.io/nfs";

const unmountTimeoutMs = 60_000;

type NFSPlugin = PersistentVolumePlugin & RecyclableVolumePlugin;

export function newNFSPlugin(config: VolumeConfig = {}): NFSPlugin {
  const { init, host } = newHostSlot(nfsPluginName);
  return {
    init,
    getPluginName: () => nfsPluginName,
    decidingField: "nfs",
    sources: { volume: ["nfs"], persistentVolume: ["nfs"] },
    about: { kind: "in-tree" },
    getVolumeName: async (spec) => {
      const { server, path } = exportOf(spec);
      return `${server}/${path}`;
    },
    canSupport: (spec) => (spec.persistentVolume?.spec.nfs ?? spec.volume?.nfs) !== undefined,
    requiresRemount: async () => false,
    supportsMountOption: () => true,
    supportsSELinuxContextMount: async () => false,
    getAccessModes: () => ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"],
    newMounter: async (spec, pod) => newMounter(host(), spec, pod?.metadata.uid ?? ""),
    newUnmounter: async (name, podUID) => newUnmounter(host(), { podUID, name }),
    constructVolumeSpec: async (volumeName) => ({
      spec: newSpecFromVolume({ name: volumeName, nfs: { server: "", path: volumeName } }),
      seLinuxMountContext: "",
    }),
    recycle: async (pvName, spec, recorder) => {
      const nfs = spec.persistentVolume?.spec.nfs;
      if (!nfs) throw new VolumeError("spec.PersistentVolumeSource.NFS is nil");
      await recycleVolume({ host: host(), config, spec, pvName, recorder }, { nfs: { server: nfs.server, path: nfs.path } });
    },
  } satisfies NFSPlugin;
}

interface Export {
  readonly server: string;
  readonly path: string;
  readonly readOnly: boolean;
}

function exportOf(spec: Spec): Export {
  const inline = spec.volume?.nfs;
  if (inline) return { server: inline.server, path: inline.path, readOnly: inline.readOnly ?? false };
  const persistent = spec.persistentVolume?.spec.nfs;
  if (persistent) return { server: persistent.server, path: persistent.path, readOnly: spec.readOnly };
  throw new VolumeError("Spec does not reference a NFS volume type");
}

function newMounter(host: VolumeHost, spec: Spec, podUID: string): Mounter {
  const { server, path: exportPath, readOnly } = exportOf(spec);
  const source = `${isIPv6(server) ? `[${server}]` : server}:${exportPath}`;
  const options = joinMountOptions(mountOptionFromSpec(spec), readOnly ? ["ro"] : []);
  const path = podVolumeDir(host, nfsPluginName, { podUID, name: specName(spec) });
  return {
    getPath: () => path,
    getMetrics: newMetricsStatFS(host.ports, path).getMetrics,
    getAttributes: () => ({ readOnly, managed: false, seLinuxRelabel: false }),
    setUp: () => mountExport(host, { source, options }, path),
    setUpAt: (dir) => mountExport(host, { source, options }, dir),
  };
}

async function mountExport(host: VolumeHost, mount: { source: string; options: readonly string[] }, dir: string): Promise<void> {
  const mounter = mounterOf(host);
  if (await isMounted(mounter, dir, "exact")) return;
  await host.ports.files.mkdirAll(dir, 0o750);
  try {
    await mounter.mount({ ...mount, target: dir, fsType: "nfs" });
  } catch (error) {
    await takeBack(host, dir).catch((cause: unknown) => {
      host.ports.log.error("could not clean up after a mount that failed", cause, { dir });
    });
    throw error;
  }
}

/** A mount that failed late may be there all the same. */
async function takeBack(host: VolumeHost, dir: string): Promise<void> {
  const mounter = mounterOf(host);
  if (await mounter.isMountPoint(dir)) {
    await mounter.unmount(dir);
    if (await mounter.isMountPoint(dir)) throw new VolumeError(`${dir} is still mounted after an unmount`);
  }
  await removePath(host.ports.files, dir);
}

function newUnmounter(host: VolumeHost, volume: { podUID: string; name: string }): Unmounter {
  const path = podVolumeDir(host, nfsPluginName, volume);
  // The whole table, and no look at the mount itself: a server may not let root look.
  const tearDownAt = (dir: string): Promise<void> =>
    cleanupMountPoint(cleanupTools(host), dir, { extensive: true, forceAfterMs: unmountTimeoutMs });
  return {
    getPath: () => path,
    getMetrics: newMetricsStatFS(host.ports, path).getMetrics,
    tearDown: () => tearDownAt(path),
    tearDownAt,
  };
}
