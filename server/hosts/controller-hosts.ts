/**
 * Hosts of the controllers: no node, no paths, no mounter. Source at v1.37.2: pkg/controller/volume/attachdetach/attach_detach_controller.go,
 * pkg/controller/volume/expand/expand_controller.go, pkg/controller/volume/persistentvolume/volume_host.go.
 */
import type { ResourceList } from "@/lib/kube/meta";
import type { ConfigMap, Secret } from "@/lib/kube/pods";
import type { CSIDriver } from "@/lib/kube/storage";
import { VolumeError } from "@/server/volume/errors";
import type {
  CSIDriverVolumeHost,
  EventRecorder,
  KubeClient,
  Lister,
  TokenAnswer,
  TokenRequest,
  VolumeHost,
} from "@/server/volume/host";
import type { HostPorts } from "@/server/volume/ports";
import type { Mounter, Unmounter } from "@/server/volume/volume";

/** The texts by which one controller refuses what only a node can do. */
export interface ControllerWords {
  /** As in `GetSecret unsupported in attachDetachController`. */
  readonly component: string;
  readonly nodeLabels: string;
  readonly wrapperMounter: string;
  readonly wrapperUnmounter: string;
}

export interface ControllerHostOptions {
  readonly ports: HostPorts;
  readonly kubeClient?: KubeClient;
  readonly eventRecorder?: EventRecorder;
}

export class ControllerHost implements VolumeHost {
  readonly ports: HostPorts;

  constructor(
    protected readonly options: ControllerHostOptions,
    private readonly words: ControllerWords,
  ) {
    this.ports = options.ports;
  }

  getPluginDir(): string {
    return "";
  }

  getVolumeDevicePluginDir(): string {
    return "";
  }

  getPodsDir(): string {
    return "";
  }

  getPodVolumeDir(): string {
    return "";
  }

  getPodPluginDir(): string {
    return "";
  }

  getPodVolumeDeviceDir(): string {
    return "";
  }

  getKubeClient(): KubeClient | undefined {
    return this.options.kubeClient;
  }

  async newWrapperMounter(): Promise<Mounter> {
    throw new VolumeError(this.words.wrapperMounter);
  }

  async newWrapperUnmounter(): Promise<Unmounter> {
    throw new VolumeError(this.words.wrapperUnmounter);
  }

  getMounter(): undefined {
    return undefined;
  }

  async getNodeAllocatable(): Promise<ResourceList> {
    return {};
  }

  getSecretFunc(): () => Promise<Secret> {
    return () => this.refuse("GetSecret");
  }

  getConfigMapFunc(): () => Promise<ConfigMap> {
    return () => this.refuse("GetConfigMap");
  }

  getServiceAccountTokenFunc(): (namespace: string, name: string, request: TokenRequest) => Promise<TokenAnswer> {
    return () => this.refuse("GetServiceAccountToken");
  }

  deleteServiceAccountTokenFunc(): (podUID: string) => void {
    return (podUID) => this.ports.log.warn(`DeleteServiceAccountToken unsupported in ${this.words.component}`, { podUID });
  }

  async getNodeLabels(): Promise<Readonly<Record<string, string>>> {
    throw new VolumeError(this.words.nodeLabels);
  }

  getNodeName(): string {
    return "";
  }

  async getAttachedVolumesFromNodeStatus(): Promise<ReadonlyMap<string, string>> {
    return new Map();
  }

  getEventRecorder(): EventRecorder | undefined {
    return this.options.eventRecorder;
  }

  private refuse(method: string): Promise<never> {
    return Promise.reject(new VolumeError(`${method} unsupported in ${this.words.component}`));
  }
}

/** The expand controller's host. */
export function expandControllerHost(options: ControllerHostOptions): VolumeHost {
  const refusal = (method: string): string => `${method} not supported by expand controller's VolumeHost implementation`;
  return new ControllerHost(options, {
    component: "expandController",
    nodeLabels: "GetNodeLabels unsupported in expandController",
    wrapperMounter: refusal("NewWrapperMounter"),
    wrapperUnmounter: refusal("NewWrapperUnmounter"),
  });
}

/** The persistent volume controller's host. Both wrappers answer with the mounter's name. */
export function persistentVolumeControllerHost(options: ControllerHostOptions): VolumeHost {
  const refusal = "PersistentVolumeController.NewWrapperMounter is not implemented";
  return new ControllerHost(options, {
    component: "PersistentVolumeController",
    nodeLabels: "GetNodeLabels() unsupported in PersistentVolumeController",
    wrapperMounter: refusal,
    wrapperUnmounter: refusal,
  });
}

/** A host that only lists CSIDriver objects, as the SELinux warning controller has. */
export class CSIDriverListingHost extends ControllerHost implements CSIDriverVolumeHost {
  constructor(
    options: ControllerHostOptions,
    private readonly lister: Lister<CSIDriver> | undefined,
  ) {
    super(options, {
      component: "SELinuxWarningController",
      nodeLabels: "GetNodeLabels() unsupported in SELinuxWarningController",
      wrapperMounter: "NewWrapperMounter not supported by SELinuxWarningController's VolumeHost implementation",
      wrapperUnmounter: "NewWrapperUnmounter not supported by SELinuxWarningController's VolumeHost implementation",
    });
  }

  csiDriverLister(): Lister<CSIDriver> | undefined {
    return this.lister;
  }
}
