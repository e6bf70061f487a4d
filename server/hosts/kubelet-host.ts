/** The host of a node. Source: pkg/kubelet/volume_host.go, pkg/kubelet/kubelet_getters.go at v1.37.2. */
import { messageOf } from "@/lib/errors";
import type { LabelSelector, ResourceList } from "@/lib/kube/meta";
import type { Node } from "@/lib/kube/nodes";
import type { ConfigMap, Pod, Secret } from "@/lib/kube/pods";
import type { CSIDriver } from "@/lib/kube/storage";
import { VolumeError, wrap } from "@/server/volume/errors";
import type {
  EventRecorder,
  InformerFactory,
  KubeClient,
  KubeletVolumeHost,
  Lister,
  TokenAnswer,
  TokenRequest,
} from "@/server/volume/host";
import type { HostUtils, MountInterface } from "@/server/volume/mount";
import type { HostPorts } from "@/server/volume/ports";
import type { Spec } from "@/server/volume/spec";
import type { Mounter, Unmounter } from "@/server/volume/volume";
import { joinPath } from "./paths";
import { wrapperMounter, wrapperUnmounter } from "./wrapper";
import type { FindPluginBySpec } from "./wrapper";

/** Pieces that only a node with an API has. Each is absent in a kubelet without one. */
export interface NodeApi {
  readonly kubeClient: KubeClient;
  getSecret(namespace: string, name: string): Promise<Secret>;
  getConfigMap(namespace: string, name: string): Promise<ConfigMap>;
  getServiceAccountToken(namespace: string, name: string, request: TokenRequest): Promise<TokenAnswer>;
  deleteServiceAccountToken(podUID: string): void;
  readonly informerFactory?: InformerFactory;
  readonly csiDriverLister?: Lister<CSIDriver>;
  readonly csiDriversSynced?: () => boolean;
  readonly trustAnchors?: Pick<KubeletVolumeHost, "getTrustAnchorsByName" | "getTrustAnchorsBySigner">;
  readonly podCertificates?: Pick<KubeletVolumeHost, "getPodCertificateCredentialBundle">;
}

export interface NodeSource {
  /** The node as the API has it; throws when it is not there. */
  getNode(): Promise<Node>;
  /** The same, or what the kubelet itself knows before it is registered. */
  getNodeAnyWay(): Promise<Node>;
}

export interface KubeletHostOptions {
  /** `/var/lib/kubelet` of a kubelet. */
  readonly rootDir: string;
  readonly nodeName: string;
  readonly ports: HostPorts;
  readonly mounter: MountInterface;
  readonly hostUtils: HostUtils;
  readonly node: NodeSource;
  readonly findPluginBySpec: FindPluginBySpec;
  /** Undefined: a kubelet in standalone mode. */
  readonly api?: NodeApi;
  readonly eventRecorder?: EventRecorder;
  readonly onKubeletError?: (error: unknown) => void;
}

const standalone = "not supported due to running kubelet in standalone mode";
const cachePollMs = 100;

export class KubeletHost implements KubeletVolumeHost {
  readonly ports: HostPorts;

  constructor(private readonly options: KubeletHostOptions) {
    this.ports = options.ports;
  }

  getPodsDir(): string {
    return joinPath(this.options.rootDir, "pods");
  }

  getPluginDir(pluginName: string): string {
    return joinPath(this.options.rootDir, "plugins", pluginName);
  }

  getVolumeDevicePluginDir(pluginName: string): string {
    return joinPath(this.options.rootDir, "plugins", pluginName, "volumeDevices");
  }

  getPodVolumeDir(podUID: string, pluginName: string, volumeName: string): string {
    return joinPath(this.getPodsDir(), podUID, "volumes", pluginName, volumeName);
  }

  getPodPluginDir(podUID: string, pluginName: string): string {
    return joinPath(this.getPodsDir(), podUID, "plugins", pluginName);
  }

  getPodVolumeDeviceDir(podUID: string, pluginName: string): string {
    return joinPath(this.getPodsDir(), podUID, "volumeDevices", pluginName);
  }

  getKubeClient(): KubeClient | undefined {
    return this.options.api?.kubeClient;
  }

  newWrapperMounter(volumeName: string, spec: Spec, pod: Pod): Promise<Mounter> {
    return wrapperMounter(this.options.findPluginBySpec, { volumeName, spec }, pod);
  }

  newWrapperUnmounter(volumeName: string, spec: Spec, podUID: string): Promise<Unmounter> {
    return wrapperUnmounter(this.options.findPluginBySpec, { volumeName, spec }, podUID);
  }

  getMounter(): MountInterface {
    return this.options.mounter;
  }

  getHostUtil(): HostUtils {
    return this.options.hostUtils;
  }

  async getNodeAllocatable(): Promise<ResourceList> {
    const node = await this.options.node.getNodeAnyWay().catch(retrievingNode);
    return node.status?.allocatable ?? {};
  }

  async getNodeLabels(): Promise<Readonly<Record<string, string>>> {
    const node = await this.options.node.getNode().catch(retrievingNode);
    return node.metadata.labels ?? {};
  }

  async getAttachedVolumesFromNodeStatus(): Promise<ReadonlyMap<string, string>> {
    const node = await this.options.node.getNode().catch(retrievingNode);
    return new Map((node.status?.volumesAttached ?? []).map(({ name, devicePath }) => [name, devicePath]));
  }

  getSecretFunc(): (namespace: string, name: string) => Promise<Secret> {
    const { api } = this.options;
    return api === undefined ? refuse : (namespace, name) => api.getSecret(namespace, name);
  }

  getConfigMapFunc(): (namespace: string, name: string) => Promise<ConfigMap> {
    const { api } = this.options;
    return api === undefined ? refuse : (namespace, name) => api.getConfigMap(namespace, name);
  }

  getServiceAccountTokenFunc(): (namespace: string, name: string, request: TokenRequest) => Promise<TokenAnswer> {
    const { api } = this.options;
    // The token manager of the real one exists without a client and fails only when asked.
    if (api === undefined) return () => Promise.reject(new VolumeError("cannot use TokenManager when kubelet is in standalone mode"));
    return (namespace, name, request) => api.getServiceAccountToken(namespace, name, request);
  }

  deleteServiceAccountTokenFunc(): (podUID: string) => void {
    return (podUID) => this.options.api?.deleteServiceAccountToken(podUID);
  }

  getNodeName(): string {
    return this.options.nodeName;
  }

  getEventRecorder(): EventRecorder | undefined {
    return this.options.eventRecorder;
  }

  setKubeletError(error: unknown): void {
    this.options.onKubeletError?.(error);
  }

  getInformerFactory(): InformerFactory | undefined {
    return this.options.api?.informerFactory;
  }

  csiDriverLister(): Lister<CSIDriver> | undefined {
    return this.options.api?.csiDriverLister;
  }

  csiDriversSynced(): (() => boolean) | undefined {
    return this.options.api?.csiDriversSynced;
  }

  async waitForCacheSync(): Promise<void> {
    const synced = this.options.api?.csiDriversSynced;
    if (synced === undefined) throw new VolumeError("csiDriversSynced not found on KubeletVolumeHost");
    while (!synced()) await this.ports.clock.sleep(cachePollMs);
  }

  async getTrustAnchorsByName(name: string, allowMissing: boolean): Promise<string> {
    const source = this.options.api?.trustAnchors;
    if (source === undefined) throw new VolumeError("ClusterTrustBundle projection is not supported in static kubelet mode");
    return source.getTrustAnchorsByName(name, allowMissing);
  }

  async getTrustAnchorsBySigner(signerName: string, selector: LabelSelector | undefined, allowMissing: boolean): Promise<string> {
    const source = this.options.api?.trustAnchors;
    if (source === undefined) throw new VolumeError("ClusterTrustBundle projection is not supported in static kubelet mode");
    return source.getTrustAnchorsBySigner(signerName, selector, allowMissing);
  }

  async getPodCertificateCredentialBundle(
    request: Parameters<KubeletVolumeHost["getPodCertificateCredentialBundle"]>[0],
  ): Promise<{ privateKey: string; certificateChain: string }> {
    const source = this.options.api?.podCertificates;
    if (source === undefined) throw new VolumeError("unimplemented");
    return source.getPodCertificateCredentialBundle(request);
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new VolumeError(standalone));
}

function retrievingNode(error: unknown): never {
  throw wrap(`error retrieving node: ${messageOf(error)}`, error);
}
