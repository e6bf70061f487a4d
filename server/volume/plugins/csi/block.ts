/** Raw block volumes. Source: pkg/volume/csi/csi_block.go, csi_plugin.go (NewBlockVolume...) of v1.37.2. */
import { messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import { nilDereference, VolumeError, wrap } from "@/server/volume/errors";
import type { KubeClient, VolumeHost } from "@/server/volume/host";
import { escapeQualifiedName } from "@/server/volume/paths";
import { noDriver } from "@/server/volume/plugins/csi/driver-client";
import { skipsAttach } from "@/server/volume/plugins/csi/driver-objects";
import { attachmentName, blockPaths } from "@/server/volume/plugins/csi/names";
import { csiPluginName, log, persistentSourceFromSpec } from "@/server/volume/plugins/csi/source";
import { loadVolumeData, saveVolumeData } from "@/server/volume/plugins/csi/volume-data";
import { specName, type Spec } from "@/server/volume/spec";
import type { BlockVolume, CustomBlockVolumeMapper, CustomBlockVolumeUnmapper } from "@/server/volume/volume";

/** Writes the data file that the unmapper needs. Throws VolumeError for inline volumes and on hosts without an API client. */
export async function newMapper(host: VolumeHost, spec: Spec, pod: Pod | undefined): Promise<CustomBlockVolumeMapper> {
  const { driver, volumeHandle } = persistentSourceFromSpec(spec);
  const client = host.getKubeClient();
  if (!client) throw new VolumeError(log("failed to get a kubernetes client"));
  if (!pod) throw nilDereference("pod");
  const name = specName(spec);
  const attachmentID = attachmentName(host, volumeHandle, driver, host.getNodeName());

  const dataDir = blockPaths.data(host, name);
  const { files } = host.ports;
  await files.mkdirAll(dataDir, 0o750).catch((error: unknown) => {
    throw wrap(log(`failed to create data dir ${dataDir}:  ${messageOf(error)}`), error);
  });
  const data = { specVolID: name, volumeHandle, driverName: driver, nodeName: host.getNodeName(), attachmentID };
  await saveVolumeData(files, dataDir, data).catch((error: unknown) => {
    throw wrap(log(`csi.NewBlockVolumeMapper failed to save volume info data: ${messageOf(error)}`), error);
  });

  const fail = async (step: "SetUpDevice" | "MapPodDevice"): Promise<never> => {
    await needAttachment({ host, client, driver, attachmentID, step });
    throw noDriver(driver, `blockMapper.${step} failed to get CSI client`);
  };
  return {
    ...blockVolume(host, driver, { name, podUID: pod.metadata.uid ?? "" }),
    getStagingPath: () => blockPaths.staging(host, name),
    setUpDevice: () => fail("SetUpDevice"),
    mapPodDevice: () => fail("MapPodDevice"),
  };
}

interface AttachmentCheck {
  readonly host: VolumeHost;
  readonly client: KubeClient;
  readonly driver: string;
  readonly attachmentID: string;
  readonly step: "SetUpDevice" | "MapPodDevice";
}

async function needAttachment({ host, client, driver, attachmentID, step }: AttachmentCheck): Promise<void> {
  // The real texts spell the first step in two ways.
  const spelled = step === "SetUpDevice" ? "SetupDevice" : step;
  const skip = await skipsAttach(host, driver).catch((error: unknown) => {
    throw wrap(log(`blockMapper.${spelled} failed to check CSIDriver for ${driver}: ${messageOf(error)}`), error);
  });
  if (skip) return;
  await client.getVolumeAttachment(attachmentID).catch((error: unknown) => {
    const text = log(`blockMapper.${spelled} failed to get volume attachment [id=${attachmentID}]: ${messageOf(error)}`);
    throw new VolumeError(text, "transient", error);
  });
}

/** Throws VolumeError when the volume's data file can't be read. */
export async function newUnmapper(host: VolumeHost, volumeName: string, podUID: string): Promise<CustomBlockVolumeUnmapper> {
  const dataDir = blockPaths.data(host, volumeName);
  const { driverName } = await loadVolumeData(host.ports.files, dataDir).catch((error: unknown) => {
    throw wrap(log(`unmapper failed to load volume data file [${dataDir}]: ${messageOf(error)}`), error);
  });
  return {
    ...blockVolume(host, driverName, { name: volumeName, podUID }),
    async tearDownDevice() {
      throw noDriver(driverName, "blockMapper.TearDownDevice failed to get CSI client");
    },
    async unmapPodDevice() {
      throw noDriver(driverName, "blockMapper.UnmapPodDevice failed to get CSI client");
    },
  };
}

function blockVolume(host: VolumeHost, driver: string, of: { readonly name: string; readonly podUID: string }): BlockVolume {
  return {
    getGlobalMapPath: async (spec) => blockPaths.globalMap(host, specName(spec)),
    getPodDeviceMapPath: () => ({ dir: host.getPodVolumeDeviceDir(of.podUID, escapeQualifiedName(csiPluginName)), name: of.name }),
    supportsMetrics: () => true,
    getMetrics: async () => {
      throw noDriver(driver, "");
    },
  };
}
