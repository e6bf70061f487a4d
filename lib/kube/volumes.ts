/** Volume sources of v1 (core/v1 VolumeSource and PersistentVolumeSource), in their JSON form. */
import type { LabelSelector, ObjectMeta, QuantityText } from "@/lib/kube/meta";
import type { PersistentVolumeClaimSpec } from "@/lib/kube/storage";

export interface LocalObjectReference {
  name?: string;
}

export interface SecretReference {
  name?: string;
  namespace?: string;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
  user?: number;
}

export interface ObjectFieldSelector {
  apiVersion?: string;
  fieldPath: string;
}

export interface ResourceFieldSelector {
  containerName?: string;
  resource: string;
  divisor?: QuantityText;
}

export interface DownwardAPIVolumeFile {
  path: string;
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  mode?: number;
  user?: number;
}

export interface EmptyDirVolumeSource {
  medium?: string;
  sizeLimit?: QuantityText;
  mode?: number;
}

export interface HostPathVolumeSource {
  path: string;
  type?: string | null;
}

export interface GitRepoVolumeSource {
  repository: string;
  revision?: string;
  directory?: string;
}

export interface SecretVolumeSource {
  secretName?: string;
  items?: KeyToPath[];
  defaultMode?: number;
  defaultUser?: number;
  optional?: boolean;
}

export interface ConfigMapVolumeSource extends LocalObjectReference {
  items?: KeyToPath[];
  defaultMode?: number;
  defaultUser?: number;
  optional?: boolean;
}

export interface DownwardAPIVolumeSource {
  items?: DownwardAPIVolumeFile[];
  defaultMode?: number;
  defaultUser?: number;
}

export interface ServiceAccountTokenProjection {
  audience?: string;
  expirationSeconds?: number;
  path: string;
  user?: number;
}

export interface ClusterTrustBundleProjection {
  name?: string;
  signerName?: string;
  labelSelector?: LabelSelector;
  optional?: boolean;
  path: string;
  user?: number;
}

export interface PodCertificateProjection {
  signerName?: string;
  keyType?: string;
  maxExpirationSeconds?: number;
  credentialBundlePath?: string;
  keyPath?: string;
  certificateChainPath?: string;
  userAnnotations?: Record<string, string>;
  user?: number;
}

export interface VolumeProjection {
  secret?: LocalObjectReference & { items?: KeyToPath[]; optional?: boolean };
  configMap?: LocalObjectReference & { items?: KeyToPath[]; optional?: boolean };
  downwardAPI?: { items?: DownwardAPIVolumeFile[] };
  serviceAccountToken?: ServiceAccountTokenProjection;
  clusterTrustBundle?: ClusterTrustBundleProjection;
  podCertificate?: PodCertificateProjection;
}

export interface ProjectedVolumeSource {
  sources?: VolumeProjection[] | null;
  defaultMode?: number;
  defaultUser?: number;
}

export interface NFSVolumeSource {
  server: string;
  path: string;
  readOnly?: boolean;
}

export interface ISCSIVolumeSource {
  targetPortal: string;
  iqn: string;
  lun: number;
  iscsiInterface?: string;
  fsType?: string;
  readOnly?: boolean;
  portals?: string[];
  chapAuthDiscovery?: boolean;
  chapAuthSession?: boolean;
  secretRef?: SecretReference;
  initiatorName?: string | null;
}

export interface FCVolumeSource {
  targetWWNs?: string[];
  lun?: number | null;
  fsType?: string;
  readOnly?: boolean;
  wwids?: string[];
}

export interface FlexVolumeSource {
  driver: string;
  fsType?: string;
  secretRef?: SecretReference;
  readOnly?: boolean;
  options?: Record<string, string>;
}

/** Inline CSI volume of a pod. */
export interface CSIVolumeSource {
  driver: string;
  readOnly?: boolean | null;
  fsType?: string | null;
  volumeAttributes?: Record<string, string>;
  nodePublishSecretRef?: LocalObjectReference;
}

export interface CSIPersistentVolumeSource {
  driver: string;
  volumeHandle: string;
  readOnly?: boolean;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  controllerPublishSecretRef?: SecretReference;
  nodeStageSecretRef?: SecretReference;
  nodePublishSecretRef?: SecretReference;
  controllerExpandSecretRef?: SecretReference;
  nodeExpandSecretRef?: SecretReference;
}

export interface LocalVolumeSource {
  path: string;
  fsType?: string | null;
}

export interface ImageVolumeSource {
  reference?: string;
  pullPolicy?: string;
}

export interface PersistentVolumeClaimVolumeSource {
  claimName: string;
  readOnly?: boolean;
}

export interface EphemeralVolumeSource {
  volumeClaimTemplate?: { metadata?: ObjectMeta; spec: PersistentVolumeClaimSpec };
}

/** Sources whose plugin left the tree: we match, show and name them, and read no field. */
export type OpaqueSource = Readonly<Record<string, unknown>>;

interface SharedSources {
  hostPath?: HostPathVolumeSource;
  nfs?: NFSVolumeSource;
  iscsi?: ISCSIVolumeSource;
  fc?: FCVolumeSource;
  flexVolume?: FlexVolumeSource;
  gcePersistentDisk?: OpaqueSource;
  awsElasticBlockStore?: OpaqueSource;
  glusterfs?: OpaqueSource;
  rbd?: OpaqueSource;
  cinder?: OpaqueSource;
  cephfs?: OpaqueSource;
  flocker?: OpaqueSource;
  azureFile?: OpaqueSource;
  azureDisk?: OpaqueSource;
  vsphereVolume?: OpaqueSource;
  quobyte?: OpaqueSource;
  photonPersistentDisk?: OpaqueSource;
  portworxVolume?: OpaqueSource;
  scaleIO?: OpaqueSource;
  storageos?: OpaqueSource;
}

export interface VolumeSource extends SharedSources {
  emptyDir?: EmptyDirVolumeSource;
  gitRepo?: GitRepoVolumeSource;
  secret?: SecretVolumeSource;
  configMap?: ConfigMapVolumeSource;
  downwardAPI?: DownwardAPIVolumeSource;
  projected?: ProjectedVolumeSource;
  csi?: CSIVolumeSource;
  image?: ImageVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  ephemeral?: EphemeralVolumeSource;
}

/** A volume of a pod: its name and exactly one source (a real server allows none, and then it is an emptyDir). */
export interface Volume extends VolumeSource {
  name: string;
}

export interface PersistentVolumeSource extends SharedSources {
  local?: LocalVolumeSource;
  csi?: CSIPersistentVolumeSource;
}
