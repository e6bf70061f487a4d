/** Pods, ConfigMaps, Secrets and Events, in their JSON form. */
import type { Condition, KubeObject, ResourceList } from "@/lib/kube/meta";
import type { NodeSelector, NodeSelectorTerm } from "@/lib/kube/nodes";
import type { ObjectReference } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";

export interface ResourceRequirements {
  limits?: ResourceList;
  requests?: ResourceList;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: string;
}

export interface VolumeDevice {
  name: string;
  devicePath: string;
}

export interface SELinuxOptions {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

export interface SecurityContext {
  runAsUser?: number;
  seLinuxOptions?: SELinuxOptions;
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: unknown[];
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMount[];
  volumeDevices?: VolumeDevice[];
  securityContext?: SecurityContext;
  restartPolicy?: string;
}

export interface PodSecurityContext {
  fsGroup?: number;
  fsGroupChangePolicy?: string;
  runAsUser?: number;
  seLinuxOptions?: SELinuxOptions;
  seLinuxChangePolicy?: string;
}

export interface PodSpec {
  volumes?: Volume[];
  initContainers?: Container[] | null;
  containers: Container[] | null;
  ephemeralContainers?: Container[] | null;
  restartPolicy?: string;
  activeDeadlineSeconds?: number;
  serviceAccountName?: string;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
      preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[];
    };
  };
  tolerations?: { key?: string; operator?: string; value?: string; effect?: string; tolerationSeconds?: number }[];
  securityContext?: PodSecurityContext;
  schedulerName?: string;
  resources?: ResourceRequirements;
  terminationGracePeriodSeconds?: number;
  overhead?: ResourceList;
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  started?: boolean;
  restartCount?: number;
  state?: { running?: { startedAt?: string }; waiting?: { reason?: string; message?: string }; terminated?: { exitCode?: number } };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface PodStatus {
  phase?: string;
  conditions?: Condition[];
  reason?: string;
  message?: string;
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: string;
  observedGeneration?: number;
  qosClass?: string;
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** `data` values are base64 texts, as on the wire. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

export interface KubeEvent extends KubeObject {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  type?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  series?: { count?: number; lastObservedTime?: string };
  action?: string;
}
