/**
 * The controller half of growth, as kube-controller-manager plays it: FlexVolume by the seed's own path (the no-op expander),
 * everything else is left to an external controller, and said to be.
 * Source: pkg/controller/volume/expand/expand_controller.go and operation_generator.go (GenerateExpandAndRecoverVolumeFunc) of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Quantity } from "@/lib/quantity";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { claimPath, claimSubject, writeClaim, writeVolume } from "@/server/node/claim-writes";
import type { NodeClient } from "@/server/node/client";
import { controllerTarget } from "@/server/node/expansion";
import type { Controller } from "@/server/node/node";
import type { NodeEvent } from "@/server/node/recorder";
import * as resize from "@/server/node/resize-status";
import type { ExpandableVolumePlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { Clock } from "@/server/volume/ports";
import { newSpecFromPersistentVolume } from "@/server/volume/spec";
import { checkVolumeModeFilesystem } from "@/server/volume/volume-mode";

export interface ExpandControllerOptions {
  readonly client: NodeClient;
  readonly manager: VolumePluginManager;
  readonly recorder: { record(event: NodeEvent): void };
  readonly clock: Clock;
  readonly point: (name: string) => void;
}

const component = "volume_expand";

export class ExpandController implements Controller {
  readonly name = "expand claims";
  /** What was said last about a claim, by its uid, so that it is said once per wish. */
  private readonly said = new Map<string, string>();

  constructor(private readonly options: ExpandControllerOptions) {}

  async step(snapshot: ClusterSnapshot): Promise<void> {
    const uids = new Set<string>();
    for (const claim of snapshot.claims.values()) {
      const target = controllerTarget(claim);
      const volume = snapshot.persistentVolumes.get(claim.spec.volumeName ?? "");
      if (!target || !volume) continue;
      uids.add(claim.metadata.uid ?? "");
      await this.expand(claim, volume, target);
    }
    for (const uid of this.said.keys()) if (!uids.has(uid)) this.said.delete(uid);
  }

  private async expand(claim: PersistentVolumeClaim, volume: PersistentVolume, target: Quantity): Promise<void> {
    let plugin: ExpandableVolumePlugin | undefined;
    try {
      plugin = await this.options.manager.findExpandablePluginBySpec(newSpecFromPersistentVolume(volume, false));
    } catch (error) {
      return this.sayOnce(claim, target, { type: "Warning", reason: "ExternalExpanding", message: waiting, why: messageOf(error) });
    }
    if (!plugin) return this.sayOnce(claim, target, { type: "Normal", reason: "ExternalExpanding", message: waiting, why: "" });
    try {
      await this.expandWith(plugin, claim, volume);
    } catch (error) {
      const { namespace = "", name = "" } = claim.metadata;
      const message = `error expanding volume ${goQuote(`${namespace}/${name}`)} of plugin ${goQuote(plugin.getPluginName())}: ${messageOf(error)}`;
      this.sayOnce(claim, target, { type: "Warning", reason: "VolumeResizeFailed", message, why: "" });
    }
  }

  private async expandWith(plugin: ExpandableVolumePlugin, known: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { client, recorder, point } = this.options;
    let claim = await client.get<PersistentVolumeClaim>(claimPath(known));
    const size = controllerTarget(claim);
    const oldSize = resize.statusCapacity(claim);
    if (!size || !oldSize) return;
    const now = `${new Date(this.options.clock.nowMs()).toISOString().slice(0, 19)}Z`;
    await writeVolume(client, resize.addPreResizeCapacity(volume, oldSize));
    point("expand-before-mark");
    claim = await writeClaim(client, claim, resize.markControllerResizeInProgress(claim, plugin.getPluginName(), { size, now }));
    point("expand-after-mark");
    const spec = newSpecFromPersistentVolume(volume, false);
    const reached = await plugin.expandVolumeDevice(spec, size, oldSize);
    point("expand-after-driver");
    await writeVolume(client, resize.updatePVSize(volume, reached));
    point("expand-after-volume");
    if (plugin.requiresFSResize() && checkVolumeModeFilesystem(spec)) {
      await writeClaim(client, claim, resize.markForFSResize(claim, now));
      point("expand-after-hand-over");
      return;
    }
    await writeClaim(client, claim, resize.markResizeFinished(claim, reached));
    point("expand-after-finish");
    const { namespace = "", name = "" } = claim.metadata;
    const message = `ExpandVolume succeeded for volume ${namespace}/${name}`;
    recorder.record({ subject: claimSubject(claim), type: "Normal", reason: "VolumeResizeSuccessful", message, component });
  }

  private sayOnce(
    claim: PersistentVolumeClaim,
    target: Quantity,
    said: { type: "Normal" | "Warning"; reason: string; message: string; why: string },
  ): void {
    const { type, reason, message, why } = said;
    const text = JSON.stringify([target.toString(), reason, message, why]);
    const uid = claim.metadata.uid ?? "";
    if (this.said.get(uid) === text) return;
    this.said.set(uid, text);
    this.options.recorder.record({ subject: claimSubject(claim), type, reason, message, component });
  }
}

const waiting = "waiting for an external controller to expand this PVC";
