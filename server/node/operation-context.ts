/** What mount, unmount and expand operations act through. */
import type { Pod } from "@/lib/kube/pods";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import type { Attachments } from "@/server/node/attachments";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import type { KubeletVolumeHost } from "@/server/volume/host";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";

export interface OperationContext {
  readonly host: KubeletVolumeHost;
  readonly manager: VolumePluginManager;
  readonly actual: ActualState;
  readonly attachments: Attachments;
  event(pod: Pod, said: PodEvent): void;
  /** Called with the name of every step that leaves a trace, so that a test can end the process there. */
  point(name: string): void;
  /** Grows the file system where the claim's status asks for it; throws when that fails. */
  expandDuringMount(volume: ResolvedVolume, mount: PodMount, paths: ExpandPaths): Promise<void>;
}

export interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface ExpandPaths {
  readonly devicePath: string;
  readonly deviceStagePath: string;
  readonly deviceMountPath: string;
}
