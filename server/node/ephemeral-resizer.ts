/**
 * Follows changed sizeLimits of memory-backed emptyDirs, as a kubelet does after a patch of `pods/resize`: conditions and events
 * on the pod, shrinking volumes before growing ones, and a real remount by the plugin.
 * Source: pkg/kubelet/kuberuntime (doPodResizeAction), pkg/kubelet/status and pkg/kubelet/allocation of v1.37.2 (KEP-6030). What
 * the kubelet keeps as its checkpoint of applied sizes is kept with the mount here; after a restart the pod's own conditions and
 * observedGeneration say whether a resize was under way.
 */
import { messageOf } from "@/lib/errors";
import type { Condition } from "@/lib/kube/meta";
import type { Pod } from "@/lib/kube/pods";
import { tryParseQuantity, type Quantity } from "@/lib/quantity";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import type { NodeClient } from "@/server/node/client";
import { patchPodStatus } from "@/server/node/pod-status";
import type { NodeEvent } from "@/server/node/recorder";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import { VolumeError } from "@/server/volume/errors";
import { isResizableEphemeralPlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { Clock } from "@/server/volume/ports";

const inProgress = "PodResizeInProgress";

export interface EphemeralResizerOptions {
  readonly client: NodeClient;
  readonly manager: VolumePluginManager;
  readonly recorder: { record(event: NodeEvent): void };
  readonly clock: Clock;
  readonly point: (name: string) => void;
}

export interface DueResize {
  readonly volume: ResolvedVolume;
  readonly mount: PodMount;
  readonly newSize: Quantity;
  readonly shrinks: boolean;
}

export type SizeCheck =
  | { readonly kind: "same" }
  /** A size that was applied before this process began. */
  | { readonly kind: "adopt"; readonly sizeText: string }
  | { readonly kind: "resize"; readonly due: DueResize };

/** Pure: whether a mounted volume has another size than its pod wants now. */
export function checkSize(volume: ResolvedVolume, mount: PodMount): SizeCheck {
  const source = volume.spec.volume?.emptyDir;
  const newSize = tryParseQuantity(source?.sizeLimit);
  if (source?.medium !== "Memory" || newSize === undefined || newSize.sign() <= 0 || mount.certainty !== "certain") return { kind: "same" };
  const applied = tryParseQuantity(mount.sizeText);
  if (applied === undefined && !isUnsettled(volume.pod)) return { kind: "adopt", sizeText: newSize.toString() };
  if (applied?.cmp(newSize) === 0) return { kind: "same" };
  return { kind: "resize", due: { volume, mount, newSize, shrinks: applied !== undefined && newSize.cmp(applied) < 0 } };
}

/** A resize was asked for that no node has said to be done. */
function isUnsettled(pod: Pod): boolean {
  return progressOf(pod) !== undefined || (pod.status?.observedGeneration ?? 0) < (pod.metadata.generation ?? 0);
}

function progressOf(pod: Pod): Condition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === inProgress && condition.status === "True");
}

export class EphemeralResizer {
  constructor(private readonly options: EphemeralResizerOptions) {}

  /** Tried again at each call until it works or is taken back. `isBusy` tells volumes that another operation works on. */
  async step(resolved: readonly ResolvedVolume[], actual: ActualState, isBusy: (uniqueName: string) => boolean): Promise<void> {
    for (const [, volumes] of Map.groupBy(resolved, (volume) => volume.podUID)) {
      const [first] = volumes;
      if (first && !volumes.some((volume) => isBusy(volume.uniqueName))) await this.stepPod(first.pod, this.dueOf(volumes, actual), actual);
    }
  }

  private dueOf(volumes: readonly ResolvedVolume[], actual: ActualState): readonly DueResize[] {
    return volumes.flatMap((volume) => {
      const mount = actual.podMount(volume.podUID, volume.uniqueName);
      if (!mount) return [];
      const check = checkSize(volume, mount);
      if (check.kind === "adopt") actual.putMount({ ...mount, sizeText: check.sizeText });
      return check.kind === "resize" ? [check.due] : [];
    });
  }

  private async stepPod(pod: Pod, due: readonly DueResize[], actual: ActualState): Promise<void> {
    if (due.length === 0) {
      if (progressOf(pod)) await this.complete(pod);
      return;
    }
    await this.begin(pod);
    const shrinkFirst = [...due].sort((a, b) => Number(b.shrinks) - Number(a.shrinks));
    for (const { volume, mount, newSize } of shrinkFirst) {
      try {
        await this.resize(volume, newSize);
      } catch (error) {
        return this.fail(pod, `failed to resize volume ${volume.volumeName}: ${messageOf(error)}`);
      }
      actual.putMount({ ...mount, sizeText: newSize.toString() });
      this.options.point("resizeEphemeral.done");
    }
    await this.complete(pod);
  }

  private async resize({ spec, pod }: ResolvedVolume, newSize: Quantity): Promise<void> {
    const plugin = await this.options.manager.findPluginBySpec(spec);
    if (!isResizableEphemeralPlugin(plugin)) throw new VolumeError(`plugin ${plugin.getPluginName()} can't resize ephemeral volumes`);
    this.options.point("resizeEphemeral.begin");
    await plugin.resizeEphemeralVolume(spec, pod, newSize);
  }

  /** One admission per generation: an error stays until it is over or something else is asked for. */
  private async begin(pod: Pod): Promise<void> {
    const generation = pod.metadata.generation;
    const known = progressOf(pod);
    if (known && (known.observedGeneration ?? generation) === generation) return;
    await this.write(pod, { type: inProgress, status: "True", reason: "", message: "" });
    this.say(pod, "Normal", { reason: "ResizeStarted", prefix: "Pod resize started" });
    this.options.point("resizeEphemeral.admitted");
  }

  private async complete(pod: Pod): Promise<void> {
    await patchPodStatus(this.options.client, pod, { conditions: [{ $patch: "delete", type: inProgress }], observedGeneration: pod.metadata.generation });
    this.say(pod, "Normal", { reason: "ResizeCompleted", prefix: "Pod resize completed" });
    this.options.point("resizeEphemeral.completed");
  }

  private async fail(pod: Pod, message: string): Promise<void> {
    const known = progressOf(pod);
    if (known?.reason === "Error" && known.message === message) return;
    await this.write(pod, { type: inProgress, status: "True", reason: "Error", message });
    this.say(pod, "Warning", { reason: "ResizeError", prefix: "Pod resize error", error: message });
  }

  private async write(pod: Pod, condition: Condition): Promise<void> {
    const observedGeneration = pod.metadata.generation;
    const lastTransitionTime = progressOf(pod)?.lastTransitionTime ?? `${new Date(this.options.clock.nowMs()).toISOString().slice(0, 19)}Z`;
    const whole = { ...condition, lastTransitionTime, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
    await patchPodStatus(this.options.client, pod, { conditions: [whole], observedGeneration });
  }

  private say(pod: Pod, type: "Normal" | "Warning", said: { readonly reason: string; readonly prefix: string; readonly error?: string }): void {
    const { namespace = "", name = "", uid = "", generation } = pod.metadata;
    const containers = (pod.spec.containers ?? []).map((container) => ({ name: container.name, resources: container.resources ?? {} }));
    const details = JSON.stringify({ containers, ...(generation === undefined ? {} : { generation }), ...(said.error === undefined ? {} : { error: said.error }) });
    const subject = { kind: "Pod" as const, namespace, name, uid };
    this.options.recorder.record({ subject, type, reason: said.reason, message: `${said.prefix}: ${details}`, component: "kubelet" });
  }
}
