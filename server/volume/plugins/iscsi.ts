/**
 * kubernetes.io/iscsi: names, paths, reconstruction and bind mounts. Logging in to a target needs an initiator on the node, which
 * this program does not drive: WaitForAttach fails as the kubelet's does where iscsiadm is missing.
 * Source: pkg/volume/iscsi/{iscsi,iscsi_util,attacher}.go of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import type { ISCSIVolumeSource } from "@/lib/kube/volumes";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { newMetricsStatFS } from "@/server/volume/metrics";
import {
  lunOf,
  newNetworkDiskPlugin,
  type NetworkDisk,
  type NetworkDiskPlugin,
  type ReconstructedSource,
} from "@/server/volume/plugins/network-disk";
import { specName, type Spec } from "@/server/volume/spec";
import { getVolumeMode } from "@/server/volume/volume-mode";

const iscsiadmTimeoutMs = 10_000;

export function newIscsiPlugin(): NetworkDiskPlugin {
  return newNetworkDiskPlugin({
    pluginName: "kubernetes.io/iscsi",
    sources: { volume: ["iscsi"], persistentVolume: ["iscsi"] },
    decidingField: "iscsi",
    supportsBlockMetrics: true,
    unmounting: "detach disk",
    canSupport: (spec) => spec.volume?.iscsi !== undefined || spec.persistentVolume?.spec.iscsi !== undefined,
    getVolumeName(spec) {
      const { targetPortal, iqn, lun } = sourceOf(spec);
      return `${targetPortal}:${iqn}:${lun}`;
    },
    diskOf,
    checkMounter: checkSecret,
    async checkMapper(host, spec, pod) {
      if (pod) await checkSecret(host, spec, pod);
    },
    checkPaths: (spec) => void getVolumeMode(spec),
    metrics: (host, path) => newMetricsStatFS(host.ports, path),
    findDevice,
    parseGlobalPath,
  });
}

function sourceOf(spec: Spec): ISCSIVolumeSource {
  const source = spec.volume?.iscsi ?? spec.persistentVolume?.spec.iscsi;
  if (!source) throw new VolumeError("Spec does not reference an ISCSI volume type");
  return source;
}

function diskOf(spec: Spec): NetworkDisk {
  const source = sourceOf(spec);
  const portal = withPort(source.targetPortal);
  // An initiator name of the volume's own is given to an interface of its own.
  const ownInterface = (source.initiatorName ?? "") !== "";
  const iface = ownInterface ? `${portal}:${specName(spec)}` : (source.iscsiInterface ?? "");
  return {
    fsType: source.fsType ?? "",
    readOnly: spec.volume?.iscsi ? (source.readOnly ?? false) : spec.readOnly,
    relativePath: `iface-${iface}/${portal}-${source.iqn}-lun-${source.lun}`,
  };
}

/** A bare IPv6 address counts as one with a port, as in the real code. */
function withPort(portal: string): string {
  return portal.includes(":") ? portal : `${portal}:3260`;
}

/** The CHAP secret must be there when a session or discovery asks for one; a reference without a name is none. */
async function checkSecret(host: VolumeHost, spec: Spec, pod: Pod): Promise<void> {
  const { chapAuthDiscovery, chapAuthSession, secretRef } = sourceOf(spec);
  if (chapAuthDiscovery !== true && chapAuthSession !== true) return;
  const name = secretRef?.name ?? "";
  const podNamespace = pod.metadata.namespace ?? "";
  const ownNamespace = spec.volume?.iscsi ? "" : (secretRef?.namespace ?? "");
  const namespace = ownNamespace === "" ? podNamespace : ownNamespace;
  if (name === "" || namespace === "") return;
  const client = host.getKubeClient();
  if (!client) throw new VolumeError("cannot get kube client");
  try {
    await client.getSecret(namespace, name);
  } catch (error) {
    throw wrap(`couldn't get secret ${namespace}/${name} error: ${messageOf(error)}`, error);
  }
}

/** The first step of the kubelet's log-in, which shows whether there is an initiator. */
async function findDevice(host: VolumeHost, spec: Spec, pod: Pod | undefined): Promise<string> {
  diskOf(spec);
  if (pod) await checkSecret(host, spec, pod);
  getVolumeMode(spec);
  const iface = sourceOf(spec).iscsiInterface ?? "";
  const shown = await showInterface(host, iface);
  if (shown.exitCode !== 0) throw new VolumeError(`exit status ${shown.exitCode ?? shown.signal ?? "unknown"}`);
  throw new VolumeError("Voldeck does not log in to iSCSI targets; the disk has to be mounted by a kubelet", "refused");
}

async function showInterface(host: VolumeHost, iface: string): ReturnType<VolumeHost["ports"]["exec"]["run"]> {
  try {
    return await host.ports.exec.run("iscsiadm", ["-m", "iface", "-I", iface, "-o", "show"], { timeoutMs: iscsiadmTimeoutMs });
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw wrap("executable file not found in $PATH", error);
    throw error;
  }
}

function parseGlobalPath(path: string, what: "mount" | "map"): ReconstructedSource {
  const lunAt = path.lastIndexOf("-lun-");
  if (!path.includes("/") || lunAt < 0) throw new VolumeError(`iscsi detach disk: malformatted mnt path: ${path}`);
  const device = path.slice(path.lastIndexOf("/") + 1);
  const { portal, iqn } = portalAndIqn(device);
  const lunText = device.split("-lun-")[1];
  const pathName = what === "map" ? "globalMapPath" : "globalPDPath";
  if (lunText === undefined) throw new VolumeError(`failed to retrieve lun from ${pathName}: ${path}`);
  const lun = lunOf(lunText);
  const iface = /.+\/iface-([^/]+)\/.+/.exec(path)?.[1];
  if (iface === undefined && what === "map") throw new VolumeError(`failed to retrieve iface from ${pathName}: ${path}`);
  return { iscsi: { targetPortal: portal, iqn, lun, iscsiInterface: iface } };
}

/** The real code crashes where the name starts after the last `-lun-`. */
function portalAndIqn(device: string): { readonly portal: string; readonly iqn: string } {
  const portalEnd = device.indexOf("-");
  if (portalEnd < 0) throw new VolumeError(`iscsi detach disk: no portal in ${device}`);
  const iqnAt = device.includes("iqn.") ? device.indexOf("iqn.") : device.indexOf("eui.");
  if (iqnAt < 0) throw new VolumeError(`iscsi detach disk: no iqn in ${device}`);
  const lunAt = device.lastIndexOf("-lun-");
  if (lunAt < iqnAt) throw new VolumeError(`iscsi detach disk: no lun after the iqn in ${device}`);
  return { portal: device.slice(0, portalEnd), iqn: device.slice(iqnAt, lunAt) };
}
