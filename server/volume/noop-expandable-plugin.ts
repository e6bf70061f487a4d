/**
 * The plugin that stands in on the controller for a volume only the node can grow: expanding succeeds at once and leaves the file
 * system to the kubelet. Source: pkg/volume/noop_expandable_plugin.go.
 */
import type { Quantity } from "@/lib/quantity";
import type { ExpandableVolumePlugin, ReconstructedVolume } from "@/server/volume/plugin";
import { kubeletExpandablePluginName, specName, type Spec } from "@/server/volume/spec";

export class NoopExpandableVolumePlugin implements ExpandableVolumePlugin {
  readonly noopExpandable = true;
  private readonly spec: Spec;

  constructor(spec: Spec) {
    this.spec = spec;
  }

  async init(): Promise<void> {}

  getPluginName(): string {
    return kubeletExpandablePluginName(this.spec);
  }

  /** The name of its own spec, whatever is asked. */
  async getVolumeName(): Promise<string> {
    return specName(this.spec);
  }

  canSupport(): boolean {
    return true;
  }

  async requiresRemount(): Promise<boolean> {
    return false;
  }

  async newMounter(): Promise<undefined> {
    return undefined;
  }

  async newUnmounter(): Promise<undefined> {
    return undefined;
  }

  async constructVolumeSpec(): Promise<ReconstructedVolume> {
    return { spec: this.spec, seLinuxMountContext: "" };
  }

  supportsMountOption(): boolean {
    return true;
  }

  async supportsSELinuxContextMount(): Promise<boolean> {
    return false;
  }

  async expandVolumeDevice(_spec: Spec, newSize: Quantity): Promise<Quantity> {
    return newSize;
  }

  requiresFSResize(): boolean {
    return true;
  }
}

export function isNoopExpandablePlugin(plugin: object): plugin is NoopExpandableVolumePlugin {
  return "noopExpandable" in plugin;
}
