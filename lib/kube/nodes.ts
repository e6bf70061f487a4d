/** Nodes, namespaces and node selectors, in their JSON form. */
import type { Condition, KubeObject, ResourceList } from "@/lib/kube/meta";

export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

export interface NodeSelector {
  nodeSelectorTerms: NodeSelectorTerm[];
}

export interface NodeSystemInfo {
  kernelVersion?: string;
  osImage?: string;
  containerRuntimeVersion?: string;
  kubeletVersion?: string;
  operatingSystem?: string;
  architecture?: string;
}

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string; timeAdded?: string }[] };
  status?: {
    capacity?: ResourceList;
    allocatable?: ResourceList;
    conditions?: Condition[];
    nodeInfo?: NodeSystemInfo;
    volumesInUse?: string[];
    volumesAttached?: { name: string; devicePath: string }[];
    declaredFeatures?: string[];
  };
}

export interface Namespace extends KubeObject {
  status?: { phase?: string };
}
