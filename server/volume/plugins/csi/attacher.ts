/**
 * Attaching and staging. The controller's half writes VolumeAttachments, which is left to Kubernetes itself; the node's half reads
 * them. Source: pkg/volume/csi/csi_attacher.go of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { dirName } from "@/lib/go-path";
import type { VolumeAttachment } from "@/lib/kube/storage";
import { VolumeError, wrap } from "@/server/volume/errors";
import { isAttachDetachVolumeHost, isKubeletVolumeHost, type KubeClient, type VolumeHost } from "@/server/volume/host";
import { noDriver } from "@/server/volume/plugins/csi/driver-client";
import { skipsAttach } from "@/server/volume/plugins/csi/driver-objects";
import { attachmentName, deviceMountPath } from "@/server/volume/plugins/csi/names";
import { log, persistentSourceFromSpec, sourceFromSpec } from "@/server/volume/plugins/csi/source";
import { isMissingVolumeData, loadVolumeData } from "@/server/volume/plugins/csi/volume-data";
import type { Spec } from "@/server/volume/spec";
import type { Attacher, Detacher } from "@/server/volume/volume";

/** Throws VolumeError on a host without an API client. */
export function newAttacher(host: VolumeHost): Attacher & Detacher {
  const client = host.getKubeClient();
  if (!client) throw new VolumeError(log("unable to get kubernetes client from host"));
  return {
    attach: () => Promise.reject(refuseOf(host, "attaching")),
    detach: () => Promise.reject(refuseOf(host, "detaching")),
    volumesAreAttached: (specs, nodeName) => volumesAreAttached(host, client, specs, nodeName),
    waitForAttach: (spec) => waitForAttach(host, client, spec),
    getDeviceMountPath: async (spec) => deviceMountPath(host, spec),
    mountDevice: async (spec, _devicePath, path) => mountDevice(spec, path),
    unmountDevice: (path) => unmountDevice(host, path),
  };
}

function refuseOf(host: VolumeHost, what: "attaching" | "detaching"): VolumeError {
  if (isKubeletVolumeHost(host)) return new VolumeError(`${what} volumes from the kubelet is not supported`);
  return new VolumeError(`Voldeck leaves ${what} to the cluster's attach/detach controller`, "refused");
}

async function volumesAreAttached(
  host: VolumeHost,
  client: KubeClient,
  specs: readonly Spec[],
  nodeName: string,
): Promise<ReadonlyMap<Spec, boolean>> {
  const attached = new Map<Spec, boolean>();
  for (const spec of specs) attached.set(spec, await isAttached(host, client, spec, nodeName));
  return attached;
}

/** What can't be found out is not attached. */
async function isAttached(host: VolumeHost, client: KubeClient, spec: Spec, nodeName: string): Promise<boolean> {
  try {
    const { driver, volumeHandle } = persistentSourceFromSpec(spec);
    if (await skipsAttach(host, driver)) return true;
    const attachment = await findAttachment(host, client, attachmentName(host, volumeHandle, driver, nodeName));
    return attachment.status?.attached ?? false;
  } catch (error) {
    host.ports.log.error("could not tell whether a volume is attached", error);
    return false;
  }
}

async function findAttachment(host: VolumeHost, client: KubeClient, name: string): Promise<VolumeAttachment> {
  const lister = isAttachDetachVolumeHost(host) ? host.volumeAttachmentLister() : undefined;
  return lister ? lister.get(name) : client.getVolumeAttachment(name);
}

/** One look at the VolumeAttachment; its name stands for the device. */
async function waitForAttach(host: VolumeHost, client: KubeClient, spec: Spec): Promise<string> {
  const { driver, volumeHandle } = waitedSource(spec);
  const name = attachmentName(host, volumeHandle, driver, host.getNodeName());
  const attachment = await client.getVolumeAttachment(name).catch((error: unknown) => {
    throw wrap(`volume ${volumeHandle} has GET error for volume attachment ${name}: ${messageOf(error)}`, error);
  });
  const { status, metadata } = attachment;
  if ((metadata.deletionTimestamp ?? "") !== "") throw new VolumeError("volume attachment is being deleted");
  if (status?.attached === true) return name;
  if (status?.attachError) throw new VolumeError(status.attachError.message ?? "");
  throw new VolumeError(`volume ${volumeHandle} is not attached for volume attachment ${name}`);
}

function waitedSource(spec: Spec): ReturnType<typeof persistentSourceFromSpec> {
  try {
    return persistentSourceFromSpec(spec);
  } catch (error) {
    throw wrap(log(`attacher.WaitForAttach failed to extract CSI volume source: ${messageOf(error)}`), error);
  }
}

function mountDevice(spec: Spec, path: string): never {
  if (path === "") throw new VolumeError(log("attacher.MountDevice failed, deviceMountPath is empty"));
  throw noDriver(stagedDriver(spec), "attacher.MountDevice failed to create newCsiDriverClient");
}

function stagedDriver(spec: Spec): string {
  try {
    sourceFromSpec(spec);
    return persistentSourceFromSpec(spec).driver;
  } catch (error) {
    throw wrap(log(`attacher.MountDevice failed to get CSIPersistentVolumeSource: ${messageOf(error)}`), error);
  }
}

/** Without a data file nothing was staged. */
async function unmountDevice(host: VolumeHost, path: string): Promise<void> {
  let driverName: string;
  try {
    ({ driverName } = await loadVolumeData(host.ports.files, dirName(path)));
  } catch (error) {
    if (isMissingVolumeData(error)) return;
    throw error;
  }
  throw noDriver(driverName, "attacher.UnmountDevice failed to create newCsiDriverClient");
}
