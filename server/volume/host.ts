/**
 * Hosts as plugins see them. VolumeHost is common; a plugin asks for more by a guard (isKubeletVolumeHost,
 * isAttachDetachVolumeHost). Source: pkg/volume/plugins.go.
 */
import type { LabelSelector, ResourceList } from "@/lib/kube/meta";
import type { ConfigMap, Pod, Secret } from "@/lib/kube/pods";
import type { CSIDriver, CSINode, VolumeAttachment } from "@/lib/kube/storage";
import type { HostUtils, MountInterface } from "@/server/volume/mount";
import type { CancelSignal, HostPorts } from "@/server/volume/ports";
import type { Spec } from "@/server/volume/spec";
import type { Mounter, Unmounter } from "@/server/volume/volume";

export interface TokenRequest {
  readonly audiences: readonly string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: { kind: string; apiVersion: string; name: string; uid: string };
}

export interface TokenAnswer {
  readonly token: string;
  readonly expirationTimestamp: string;
}

/** The part of the API that plugins use directly (clientset.Interface). */
export interface KubeClient {
  getSecret(namespace: string, name: string): Promise<Secret>;
  getConfigMap(namespace: string, name: string): Promise<ConfigMap>;
  getVolumeAttachment(name: string): Promise<VolumeAttachment>;
  createPod(pod: Pod): Promise<Pod>;
  deletePod(namespace: string, name: string): Promise<void>;
}

export interface EventRecorder {
  event(object: { kind: string; namespace: string; name: string; uid: string }, type: "Normal" | "Warning", reason: string, message: string): void;
}

export interface Lister<T> {
  /** Throws AppError `not-found` with the API's own text. */
  get(name: string): T;
  list(): readonly T[];
}

export interface InformerFactory {
  start(signal: CancelSignal): void;
  waitForCacheSync(signal: CancelSignal): Promise<void>;
}

export interface VolumeHost {
  getPluginDir(pluginName: string): string;
  getVolumeDevicePluginDir(pluginName: string): string;
  getPodsDir(): string;
  getPodVolumeDir(podUID: string, pluginName: string, volumeName: string): string;
  getPodPluginDir(podUID: string, pluginName: string): string;
  getPodVolumeDeviceDir(podUID: string, pluginName: string): string;
  getKubeClient(): KubeClient | undefined;
  newWrapperMounter(volumeName: string, spec: Spec, pod: Pod): Promise<Mounter>;
  newWrapperUnmounter(volumeName: string, spec: Spec, podUID: string): Promise<Unmounter>;
  /** undefined on controller hosts. */
  getMounter(): MountInterface | undefined;
  getNodeAllocatable(): Promise<ResourceList>;
  getSecretFunc(): (namespace: string, name: string) => Promise<Secret>;
  getConfigMapFunc(): (namespace: string, name: string) => Promise<ConfigMap>;
  getServiceAccountTokenFunc(): (namespace: string, name: string, request: TokenRequest) => Promise<TokenAnswer>;
  deleteServiceAccountTokenFunc(): (podUID: string) => void;
  getNodeLabels(): Promise<Readonly<Record<string, string>>>;
  getNodeName(): string;
  getAttachedVolumesFromNodeStatus(): Promise<ReadonlyMap<string, string>>;
  getEventRecorder(): EventRecorder | undefined;
  /** What the seed takes from Go's standard library. */
  readonly ports: HostPorts;
}

export interface CSIDriverVolumeHost extends VolumeHost {
  csiDriverLister(): Lister<CSIDriver> | undefined;
}

export interface KubeletVolumeHost extends CSIDriverVolumeHost {
  setKubeletError(error: unknown): void;
  getInformerFactory(): InformerFactory | undefined;
  csiDriversSynced(): (() => boolean) | undefined;
  waitForCacheSync(): Promise<void>;
  getHostUtil(): HostUtils;
  getTrustAnchorsByName(name: string, allowMissing: boolean): Promise<string>;
  getTrustAnchorsBySigner(signerName: string, selector: LabelSelector | undefined, allowMissing: boolean): Promise<string>;
  getPodCertificateCredentialBundle(source: {
    namespace: string;
    podName: string;
    podUID: string;
    volumeName: string;
    sourceIndex: number;
  }): Promise<{ privateKey: string; certificateChain: string }>;
}

export interface AttachDetachVolumeHost extends CSIDriverVolumeHost {
  csiNodeLister(): Lister<CSINode> | undefined;
  volumeAttachmentLister(): Lister<VolumeAttachment> | undefined;
  isAttachDetachController(): boolean;
}

export function isKubeletVolumeHost(host: VolumeHost | undefined): host is KubeletVolumeHost {
  return host !== undefined && "setKubeletError" in host && "getHostUtil" in host;
}

export function isAttachDetachVolumeHost(host: VolumeHost | undefined): host is AttachDetachVolumeHost {
  return host !== undefined && "isAttachDetachController" in host;
}

export function isCSIDriverVolumeHost(host: VolumeHost | undefined): host is CSIDriverVolumeHost {
  return host !== undefined && "csiDriverLister" in host;
}
