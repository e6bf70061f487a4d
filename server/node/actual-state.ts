/**
 * What is mounted on the node, as far as this process knows: set by finished operations and by reconstruction from disk.
 * "Uncertain" is a state of its own: an operation ended without saying whether it happened, or a restart found remains.
 */
import type { Spec } from "@/server/volume/spec";

export type Certainty = "certain" | "uncertain";

/** What a set-up left on the node, as it was seen right after it. */
export interface SetUpTrace {
  /** undefined: the plugin mounts nothing. */
  readonly mountPoint: string | undefined;
  /** Something lay at the volume's path. */
  readonly hasPath: boolean;
}

/** One volume in one pod. */
export interface PodMount {
  readonly podUID: string;
  readonly uniqueName: string;
  readonly pluginName: string;
  /** The name below the plugin's folder. */
  readonly specName: string;
  /** The name in the pod's spec; undefined after a restart until the pod is seen. */
  readonly volumeName: string | undefined;
  readonly spec: Spec;
  readonly mode: "Filesystem" | "Block";
  readonly path: string;
  readonly certainty: Certainty;
  /** Found on disk by a restarted process, and not set up by it yet. */
  readonly reconstructed: boolean;
  /** Its data must be looked at again. */
  readonly remountRequired: boolean;
  /** undefined until this process has set it up. */
  readonly trace?: SetUpTrace;
}

/** What several pods of the node share: the attached device and its global mount or map. */
export interface DeviceMount {
  readonly uniqueName: string;
  readonly pluginName: string;
  readonly spec: Spec;
  readonly mode: "Filesystem" | "Block";
  readonly devicePath: string;
  /**
   * "perhaps": attaching or detaching did not end well, or an earlier process noted it. Attached anew before use unless the plugin says
   * that it still is, and detached in the end.
   */
  readonly attached: "no" | "perhaps" | "yes";
  /** undefined: nothing is mounted. */
  readonly deviceMountPath: string | undefined;
  readonly certainty: Certainty;
}

export class ActualState {
  private readonly podMounts = new Map<string, PodMount>();
  private readonly devices = new Map<string, DeviceMount>();

  podMount(podUID: string, uniqueName: string): PodMount | undefined {
    return this.podMounts.get(keyOf(podUID, uniqueName));
  }

  mounts(): readonly PodMount[] {
    return [...this.podMounts.values()];
  }

  mountsOf(uniqueName: string): readonly PodMount[] {
    return this.mounts().filter((mount) => mount.uniqueName === uniqueName);
  }

  putMount(mount: PodMount): void {
    this.podMounts.set(keyOf(mount.podUID, mount.uniqueName), mount);
  }

  removeMount(podUID: string, uniqueName: string): void {
    this.podMounts.delete(keyOf(podUID, uniqueName));
  }

  device(uniqueName: string): DeviceMount | undefined {
    return this.devices.get(uniqueName);
  }

  allDevices(): readonly DeviceMount[] {
    return [...this.devices.values()];
  }

  putDevice(device: DeviceMount): void {
    this.devices.set(device.uniqueName, device);
  }

  removeDevice(uniqueName: string): void {
    this.devices.delete(uniqueName);
  }

  /** Data that follows the API (ConfigMaps and the like) is written again by the next mount operation. */
  requireRemount(mount: PodMount): void {
    this.putMount({ ...mount, remountRequired: true });
  }
}

function keyOf(podUID: string, uniqueName: string): string {
  return `${podUID}\n${uniqueName}`;
}
