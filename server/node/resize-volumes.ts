/**
 * Gives memory-backed volumes the sizeLimit that their pod asks for: a real remount through the plugin, told in the pod as a kubelet
 * tells it. Every step is decided from what is on record, so where a process is killed the next one goes on.
 * Source: pkg/kubelet/volumemanager (ResizeEphemeralVolume) and pkg/kubelet/kuberuntime (doPodResizeAction) of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import { newQuantity, type Quantity } from "@/lib/quantity";
import { resourcePath } from "@/server/cluster/resources";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import type { NodeClient } from "@/server/node/client";
import { nextSizeStep, type SizeStep } from "@/server/node/decide-volume-size";
import type { Controller } from "@/server/node/node";
import { PendingOperations } from "@/server/node/pending-operations";
import { patchPodStatus } from "@/server/node/pod-status";
import type { NodeEvent } from "@/server/node/recorder";
import * as say from "@/server/node/resize-conditions";
import { SizeRecords, type SizeRecord } from "@/server/node/size-record";
import { VolumeError } from "@/server/volume/errors";
import type { KubeletVolumeHost } from "@/server/volume/host";
import { isResizableEphemeralPlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { memoryVolumeSize } from "@/server/volume/plugins/empty-dir/memory-size";
import { emptyDirPluginName } from "@/server/volume/plugins/empty-dir/mounter";
import { newSpecFromVolume } from "@/server/volume/spec";

export interface ResizeVolumesOptions {
  readonly host: KubeletVolumeHost;
  readonly manager: Pick<VolumePluginManager, "findPluginByName">;
  readonly client: NodeClient;
  readonly recorder: { record(event: NodeEvent): void };
  readonly actual: Pick<ActualState, "mounts">;
  /** Below the host's root: where the record of sizes is kept. */
  readonly folder: string;
  /** Called with the name of every step that leaves a trace. */
  readonly point: (name: string) => void;
}

export class ResizeVolumes implements Controller {
  readonly name = "resize memory-backed volumes";
  private readonly records: SizeRecords;
  private readonly operations: PendingOperations;
  /** The generation of a pod that was worked on last: a new one is not kept waiting for the failures of the one before. */
  private readonly tried = new Map<string, number | undefined>();

  constructor(private readonly options: ResizeVolumesOptions) {
    const { files, log, clock } = options.host.ports;
    this.records = new SizeRecords({ folder: options.folder, files, log });
    this.operations = new PendingOperations(clock, () => undefined);
  }

  async step(snapshot: ClusterSnapshot): Promise<void> {
    await this.records.load();
    const nodeName = this.options.host.getNodeName();
    const pods = new Map<string, Pod>();
    for (const pod of snapshot.pods.values()) if (pod.spec.nodeName === nodeName) pods.set(pod.metadata.uid ?? "", pod);
    await this.records.keepOnly((podUID) => pods.has(podUID));
    for (const podUID of this.tried.keys()) if (!pods.has(podUID)) this.forget(podUID);
    for (const pod of pods.values()) {
      if (pod.metadata.deletionTimestamp || !this.next(pod)) this.forget(pod.metadata.uid ?? "");
      else this.begin(pod);
      await this.operations.idle();
    }
  }

  nextDueMs(): number | undefined {
    return this.operations.nextRetryMs();
  }

  private begin(seen: Pod): void {
    const { uid = "", generation } = seen.metadata;
    if (this.tried.get(uid) !== generation) this.operations.forget(uid);
    this.tried.set(uid, generation);
    this.operations.start(uid, "ResizeEphemeralVolume", () => this.settle(seen));
  }

  private forget(podUID: string): void {
    this.tried.delete(podUID);
    this.operations.forget(podUID);
  }

  private next(pod: Pod): SizeStep | undefined {
    const { uid = "" } = pod.metadata;
    return nextSizeStep({ pod, sizes: this.records.get(uid), isMounted: (name) => this.mountOf(uid, name) !== undefined });
  }

  private mountOf(podUID: string, volumeName: string): PodMount | undefined {
    return this.options.actual
      .mounts()
      .find((mount) => mount.podUID === podUID && mount.specName === volumeName && mount.pluginName === emptyDirPluginName && mount.certainty === "certain");
  }

  /** From the pod as the API has it: what was seen may be older than what was written last. */
  private async settle(seen: Pod): Promise<void> {
    let pod = await this.read(seen);
    for (let step = pod && this.next(pod); pod && step; step = pod && this.next(pod)) pod = await this.take(step, pod);
  }

  /** undefined: it is gone, or being deleted, or another one has its name. */
  private async read(seen: Pod): Promise<Pod | undefined> {
    const { namespace = "", name = "", uid } = seen.metadata;
    try {
      const pod = await this.options.client.get<Pod>(resourcePath("pods", { namespace, name }));
      return pod.metadata.uid === uid && !pod.metadata.deletionTimestamp ? pod : undefined;
    } catch (error) {
      if (codeOf(error) === "not-found") return undefined;
      throw error;
    }
  }

  /** Gives the pod as it is afterwards; undefined: it is gone. */
  private async take(step: SizeStep, pod: Pod): Promise<Pod | undefined> {
    const { uid = "" } = pod.metadata;
    switch (step.do) {
      case "allocate":
        await this.records.put(uid, step.sizes);
        this.options.point("resize-after-allocation");
        return pod;
      case "adopt":
        await this.record(uid, step.volumeName, await this.adopt(pod, step));
        return pod;
      case "remount":
        await this.remountOrSay(pod, step);
        return pod;
      case "begin": {
        const generation = this.records.get(uid)?.admitted ?? 0;
        return this.write(pod, say.beginChange(pod, generation, this.now()), { what: "started", generation });
      }
      case "complete":
        return this.write(pod, say.completeChange(pod), { what: "completed", generation: pod.metadata.generation ?? 0 });
      case "observe":
        return this.write(pod, say.observeChange(pod));
      case "clear":
        return this.write(pod, say.completeChange(pod));
    }
  }

  /**
   * A fresh mount has its sizeLimit, or less where the pod or the node has less; it counts as given then, as a kubelet counts it. Any
   * other size was made from another sizeLimit.
   */
  private async adopt(pod: Pod, { volumeName, record }: { readonly volumeName: string; readonly record: SizeRecord }): Promise<SizeRecord> {
    const { host } = this.options;
    const mount = this.mountOf(pod.metadata.uid ?? "", volumeName);
    if (!mount) return record;
    const { totalBytes, blockSizeBytes } = await host.ports.files.statfs(mount.path);
    const inPages = (size: Quantity) => ((size.value() + blockSizeBytes - 1n) / blockSizeBytes) * blockSizeBytes;
    const capped = memoryVolumeSize(await host.getNodeAllocatable(), pod, record.allocated.toString());
    const asAllocated = capped.value() <= 0n || [record.allocated, capped].some((size) => inPages(size) === totalBytes);
    return { ...record, actuated: asAllocated ? record.allocated : newQuantity(totalBytes, "BinarySI") };
  }

  private async remountOrSay(pod: Pod, step: { readonly volumeName: string; readonly record: SizeRecord }): Promise<void> {
    try {
      await this.remount(pod, step);
    } catch (error) {
      await this.sayError(pod, messageOf(error));
      throw error;
    }
  }

  private async remount(pod: Pod, { volumeName, record }: { readonly volumeName: string; readonly record: SizeRecord }): Promise<void> {
    const { point, manager } = this.options;
    point("resize-before-remount");
    try {
      await resizeEphemeralVolume(manager, pod, { volumeName, newSize: record.allocated });
    } catch (error) {
      throw new VolumeError(`failed to resize volume ${volumeName}: ${messageOf(error)}`, "volume-error", error);
    }
    point("resize-after-remount");
    try {
      await this.record(pod.metadata.uid ?? "", volumeName, { allocated: record.allocated, actuated: record.allocated, inDoubt: false });
    } catch (error) {
      throw new VolumeError(`failed to update actuated emptyDir volume limit checkpoint for ${volumeName}: ${messageOf(error)}`, "volume-error", error);
    }
    point("resize-after-checkpoint");
  }

  private async record(podUID: string, volumeName: string, record: SizeRecord): Promise<void> {
    const { admitted, volumes } = this.records.get(podUID) ?? { admitted: undefined, volumes: new Map<string, SizeRecord>() };
    await this.records.put(podUID, { admitted, volumes: new Map(volumes).set(volumeName, record) });
  }

  /** Said again only when it is another error. */
  private async sayError(pod: Pod, message: string): Promise<void> {
    this.options.host.ports.log.warn("a memory-backed volume was not resized", { pod: pod.metadata.name ?? "", error: message });
    const known = say.resizeCondition(pod, say.inProgress);
    if (known?.reason === "Error" && known.message === message) return;
    const generation = known?.observedGeneration ?? pod.metadata.generation ?? 0;
    await this.write(pod, say.errorChange(pod, message, this.now()), { what: "error", generation, error: message });
  }

  private async write(
    pod: Pod,
    status: say.StatusChange,
    said?: { readonly what: Parameters<typeof say.resizeEvent>[0]; readonly generation: number; readonly error?: string },
  ): Promise<Pod | undefined> {
    const { client, recorder, point } = this.options;
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const written = await patchPodStatus(client, pod, status);
    if (written && said) recorder.record({ subject: { kind: "Pod", namespace, name, uid }, ...say.resizeEvent(said.what, pod, said), component: "kubelet" });
    point("resize-after-status");
    return written;
  }

  private now(): string {
    return `${new Date(this.options.host.ports.clock.nowMs()).toISOString().slice(0, 19)}Z`;
  }
}

/** The volume manager's door to the plugin: around the reconciler and its pauses. Throws VolumeError with the kubelet's texts. */
export async function resizeEphemeralVolume(
  manager: Pick<VolumePluginManager, "findPluginByName">,
  pod: Pod,
  { volumeName, newSize }: { readonly volumeName: string; readonly newSize: Quantity },
): Promise<void> {
  const volume = pod.spec.volumes?.find(({ name }) => name === volumeName);
  if (!volume) throw new VolumeError(`volume ${volumeName} not found in pod ${pod.metadata.name ?? ""}`);
  if (!volume.emptyDir) throw new VolumeError(`volume ${volumeName} does not support direct resizing`);
  const plugin = await manager.findPluginByName(emptyDirPluginName).catch((error: unknown) => {
    throw new VolumeError(`plugin ${emptyDirPluginName} not found: ${messageOf(error)}`, "volume-error", error);
  });
  if (!isResizableEphemeralPlugin(plugin)) throw new VolumeError(`volume ${volumeName} does not support direct resizing`);
  await plugin.resizeEphemeralVolume(newSpecFromVolume(volume), pod, newSize);
}
