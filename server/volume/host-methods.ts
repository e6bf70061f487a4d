/**
 * Every method of the seed's hosts: which of our hosts answer it, who calls it, and what a kubelet without an API answers. Held to the
 * interfaces by the compiler and to the code by a test.
 */
import type { AttachDetachVolumeHost, KubeletVolumeHost } from "@/server/volume/host";

/**
 * `kubelet`: server/hosts/kubelet-host over the Linux or the memory ports. `controller`: the hosts of the attach/detach, expand and
 * persistent volume controllers, which answer paths with "" and refuse what only a node can do. The last two are one controller's own.
 */
export type HostKind = "kubelet" | "controller" | "attach-detach" | "csi-driver lister";

export interface HostMethod {
  readonly answeredBy: readonly HostKind[];
  /** Files or folders below `server`; empty: nobody here, the method is for plugins from elsewhere. */
  readonly calledBy: readonly string[];
  /** The error text of a kubelet in standalone mode, where it cannot answer. */
  readonly standalone?: string;
}

type MethodName = Exclude<keyof KubeletVolumeHost | keyof AttachDetachVolumeHost, "ports">;

const everywhere = ["kubelet", "controller"] as const;
const kubelet = ["kubelet"] as const;
const noApi = "not supported due to running kubelet in standalone mode";
const noTrustBundles = "ClusterTrustBundle projection is not supported in static kubelet mode";

/** By their names here; the seed's are the same in Go's case. */
export const hostMethods = {
  getPluginDir: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  getVolumeDevicePluginDir: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  getPodsDir: { answeredBy: everywhere, calledBy: ["volume/plugins", "node"] },
  getPodVolumeDir: { answeredBy: everywhere, calledBy: ["volume/plugins", "node"] },
  getPodPluginDir: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  getPodVolumeDeviceDir: { answeredBy: everywhere, calledBy: ["volume/plugins", "node"] },
  /** Standalone: none, and plugins that need one say so themselves. */
  getKubeClient: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  newWrapperMounter: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  newWrapperUnmounter: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  /** Controllers: none. */
  getMounter: { answeredBy: everywhere, calledBy: ["volume/plugins", "volume", "node"] },
  getNodeAllocatable: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  getSecretFunc: { answeredBy: everywhere, calledBy: ["volume/plugins"], standalone: noApi },
  getConfigMapFunc: { answeredBy: everywhere, calledBy: ["volume/plugins"], standalone: noApi },
  getServiceAccountTokenFunc: {
    answeredBy: everywhere,
    calledBy: ["volume/plugins"],
    standalone: "cannot use TokenManager when kubelet is in standalone mode",
  },
  deleteServiceAccountTokenFunc: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  getNodeLabels: { answeredBy: everywhere, calledBy: ["node"] },
  getNodeName: { answeredBy: everywhere, calledBy: ["volume/plugins", "volume", "node"] },
  /** Read by the kubelet's own reconciler, which here takes it from the node object. */
  getAttachedVolumesFromNodeStatus: { answeredBy: everywhere, calledBy: [] },
  /** Standalone and the attach/detach controller: may be none. */
  getEventRecorder: { answeredBy: everywhere, calledBy: ["volume/plugins"] },
  csiDriverLister: { answeredBy: ["kubelet", "attach-detach", "csi-driver lister"], calledBy: ["volume/plugins"] },
  setKubeletError: { answeredBy: kubelet, calledBy: [] },
  getInformerFactory: { answeredBy: kubelet, calledBy: ["volume"] },
  csiDriversSynced: { answeredBy: kubelet, calledBy: [] },
  waitForCacheSync: {
    answeredBy: kubelet,
    calledBy: ["volume/plugins"],
    standalone: "csiDriversSynced not found on KubeletVolumeHost",
  },
  getHostUtil: { answeredBy: kubelet, calledBy: ["volume/plugins"] },
  getTrustAnchorsByName: { answeredBy: kubelet, calledBy: ["volume/plugins"], standalone: noTrustBundles },
  getTrustAnchorsBySigner: { answeredBy: kubelet, calledBy: ["volume/plugins"], standalone: noTrustBundles },
  getPodCertificateCredentialBundle: { answeredBy: kubelet, calledBy: ["volume/plugins"], standalone: "unimplemented" },
  csiNodeLister: { answeredBy: ["attach-detach"], calledBy: [] },
  volumeAttachmentLister: { answeredBy: ["attach-detach"], calledBy: ["volume/plugins"] },
  isAttachDetachController: { answeredBy: ["attach-detach"], calledBy: [] },
} as const satisfies Readonly<Record<MethodName, HostMethod>>;

/** Methods of the seed that our hosts do not have, and why. */
export const leftOut = {
  getSubpather: "sub paths are made when a container starts, and nothing here starts containers",
} as const;
