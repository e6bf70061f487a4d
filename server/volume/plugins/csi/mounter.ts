/** Publishing to a pod. Source: pkg/volume/csi/csi_mounter.go, csi_metrics.go of v1.37.2. */
import { messageOf } from "@/lib/errors";
import { dirName } from "@/lib/go-path";
import type { Pod } from "@/lib/kube/pods";
import { nilDereference, VolumeError, wrap } from "@/server/volume/errors";
import { isKubeletVolumeHost, type VolumeHost } from "@/server/volume/host";
import { noDriver } from "@/server/volume/plugins/csi/driver-client";
import { podMountPath } from "@/server/volume/plugins/csi/names";
import { log, sourceFromSpec } from "@/server/volume/plugins/csi/source";
import { loadVolumeData } from "@/server/volume/plugins/csi/volume-data";
import { specName, type Spec } from "@/server/volume/spec";
import type { MountedPath, Mounter, Unmounter } from "@/server/volume/volume";

/** Throws VolumeError for a spec without a CSI source and on hosts without an API client or without the kubelet's interface. */
export function newMounter(host: VolumeHost, spec: Spec, pod: Pod | undefined): Mounter {
  const source = sourceFromSpec(spec);
  if (!pod) throw nilDereference("pod");
  if (!host.getKubeClient()) throw new VolumeError(log("failed to get a kubernetes client"));
  needKubeletHost(host);

  const isInline = source.mode === "Ephemeral";
  const driverName = isInline ? source.volume.driver : source.persistentVolume.driver;
  const readOnly = isInline ? (source.volume.readOnly ?? false) : spec.readOnly;
  const fail = async (): Promise<never> => {
    throw noDriver(driverName, "mounter.SetUpAt failed to get CSI client");
  };
  return {
    ...mountedPath(driverName, podMountPath(host, pod.metadata.uid ?? "", specName(spec))),
    // Whether the driver relabels is known only after a set up; till then the kubelet does not.
    getAttributes: () => ({ readOnly, managed: !readOnly, seLinuxRelabel: false }),
    setUp: fail,
    setUpAt: fail,
  };
}

/** Throws VolumeError when the volume's data file can't be read. */
export async function newUnmounter(host: VolumeHost, volumeName: string, podUID: string): Promise<Unmounter> {
  needKubeletHost(host);
  const path = podMountPath(host, podUID, volumeName);
  const { driverName } = await loadVolumeData(host.ports.files, dirName(path)).catch((error: unknown) => {
    throw wrap(log(`unmounter failed to load volume data file [${path}]: ${messageOf(error)}`), error);
  });
  const fail = async (): Promise<never> => {
    throw noDriver(driverName, "Unmounter.TearDownAt failed to get CSI client");
  };
  return { ...mountedPath(driverName, path), tearDown: fail, tearDownAt: fail };
}

function mountedPath(driverName: string, path: string): MountedPath {
  return {
    getPath: () => path,
    getMetrics: async () => {
      throw noDriver(driverName, "");
    },
  };
}

function needKubeletHost(host: VolumeHost): void {
  if (!isKubeletVolumeHost(host)) throw new VolumeError(log("cast from VolumeHost to KubeletVolumeHost failed"));
}
