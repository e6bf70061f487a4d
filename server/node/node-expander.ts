/**
 * Grows file systems on this node, while they are mounted and as a part of mounting, and records it on the claim.
 * Source: pkg/volume/util/operationexecutor/node_expander.go of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import { claimPath, claimSubject, writeClaim, writeVolume } from "@/server/node/claim-writes";
import type { NodeClient } from "@/server/node/client";
import { operationMessage, OperationFailure, successReasons } from "@/server/node/events";
import { nodeExpansion } from "@/server/node/expansion";
import type { ExpandPaths } from "@/server/node/operation-context";
import type { Expansion } from "@/server/node/reconciler";
import type { NodeEvent } from "@/server/node/recorder";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import * as resize from "@/server/node/resize-status";
import { VolumeError } from "@/server/volume/errors";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { Clock } from "@/server/volume/ports";
import { specName } from "@/server/volume/spec";

export interface NodeExpanderOptions {
  readonly client: NodeClient;
  readonly manager: VolumePluginManager;
  readonly snapshot: () => ClusterSnapshot;
  readonly recorder: { record(event: NodeEvent): void };
  readonly clock: Clock;
  readonly nodeName: string;
  readonly point: (name: string) => void;
}

export class NodeExpander {
  /** Volumes whose driver grows them only while they are not in use: not tried again until they are mounted anew. */
  private readonly inUse = new Set<string>();

  constructor(private readonly options: NodeExpanderOptions) {}

  /** Mounted volumes whose claim waits for this node. */
  expansions(resolved: readonly ResolvedVolume[], actual: ActualState): readonly Expansion[] {
    return resolved.flatMap((volume) => {
      const mount = actual.podMount(volume.podUID, volume.uniqueName);
      if (mount?.certainty !== "certain" || this.inUse.has(volume.uniqueName) || !this.due(volume)) return [];
      const device = actual.device(volume.uniqueName);
      const paths = { devicePath: device?.devicePath ?? "", deviceStagePath: device?.deviceMountPath ?? "", deviceMountPath: mount.path };
      return [{ volume, run: () => this.expandMounted(volume, paths) }];
    });
  }

  /** Between set up and "mounted": what can't be grown now keeps the pod from starting, save for a volume that is in use. */
  async expandDuringMount(volume: ResolvedVolume, _mount: PodMount, paths: ExpandPaths): Promise<void> {
    this.inUse.delete(volume.uniqueName);
    if (this.due(volume)) await this.expand(volume, paths);
  }

  private due(volume: ResolvedVolume) {
    const { claim, spec } = volume;
    const { namespace = "", name = "" } = claim?.metadata ?? {};
    const current = claim && this.options.snapshot().claims.get(`${namespace}/${name}`);
    const persistentVolume = this.options.snapshot().persistentVolumes.get(specName(spec));
    return current && persistentVolume ? nodeExpansion(current, persistentVolume, spec.readOnly) : undefined;
  }

  private async expandMounted(volume: ResolvedVolume, paths: ExpandPaths): Promise<void> {
    try {
      await this.expand(volume, paths);
    } catch (error) {
      throw new OperationFailure("NodeExpandVolume.NodeExpandVolume failed", specName(volume.spec), error);
    }
  }

  private async expand(volume: ResolvedVolume, paths: ExpandPaths): Promise<void> {
    const { client, snapshot, point } = this.options;
    const { claim: known, spec, pod } = volume;
    if (!known) return;
    let claim = await client.get<PersistentVolumeClaim>(claimPath(known));
    const persistentVolume = snapshot().persistentVolumes.get(specName(spec));
    const due = persistentVolume && nodeExpansion(claim, persistentVolume, spec.readOnly);
    if (!due || !persistentVolume) return;
    if (due.recorded) claim = await writeClaim(client, claim, resize.markNodeExpansionInProgress(claim));
    point("node-expand-after-mark");
    try {
      await this.callPlugin(volume, paths, due);
    } catch (error) {
      if (due.recorded) await this.recordFailure(claim, error);
      if (codeOf(error) !== "failed-precondition") throw error;
      this.inUse.add(volume.uniqueName);
      return;
    }
    point("node-expand-after-plugin");
    await writeClaim(client, claim, resize.markResizeFinished(claim, due.newSize));
    point("node-expand-after-claim");
    await writeVolume(client, resize.deletePreResizeCapacity(persistentVolume));
    point("node-expand-after-volume");
    this.saySuccess(volume, pod, claim);
  }

  private async callPlugin(
    { spec, mode }: ResolvedVolume,
    paths: ExpandPaths,
    due: NonNullable<ReturnType<typeof nodeExpansion>>,
  ): Promise<void> {
    const plugin = await this.options.manager.findNodeExpandablePluginBySpec(spec);
    if (!plugin) {
      if (due.recorded && mode === "Filesystem") throw new VolumeError("NodeExpand is not supported");
      return;
    }
    const { newSize, oldSize } = due;
    const grown = await plugin.nodeExpand({ volumeSpec: spec, ...paths, newSize, oldSize });
    if (!grown) throw new VolumeError("the file system was not grown");
  }

  /** A claim that changed meanwhile is looked at again by the next try. */
  private async recordFailure(claim: PersistentVolumeClaim, error: unknown): Promise<void> {
    const now = `${new Date(this.options.clock.nowMs()).toISOString().slice(0, 19)}Z`;
    const mark = codeOf(error) === "infeasible" ? resize.markNodeExpansionInfeasible : resize.markNodeExpansionFailedCondition;
    await writeClaim(this.options.client, claim, mark(claim, messageOf(error), now));
  }

  private saySuccess(volume: ResolvedVolume, pod: Pod, claim: PersistentVolumeClaim): void {
    const prefix = "MountVolume.NodeExpandVolume succeeded";
    const said = {
      type: "Normal" as const,
      reason: successReasons[prefix],
      message: operationMessage(prefix, specName(volume.spec), this.options.nodeName),
      component: "kubelet",
    };
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    this.options.recorder.record({ subject: { kind: "Pod", namespace, name, uid }, ...said });
    this.options.recorder.record({ subject: claimSubject(claim), ...said });
  }
}
