/**
 * Grows file systems on this node, while they are mounted and as a part of mounting. What is to be done and what claim and pod
 * hear of it is decided in expand-in-use.ts; here are the ports: the plugin, the claim, and what this node remembers.
 * Source: pkg/volume/util/operationexecutor/node_expander.go and operation_generator.go (expandVolumeDuringMount) of v1.37.2.
 */
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import { Quantity, tryParseQuantity } from "@/lib/quantity";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import type { ActualState, PodMount } from "@/server/node/actual-state";
import { claimPath, claimSubject, writeClaim, writeVolume } from "@/server/node/claim-writes";
import type { NodeClient } from "@/server/node/client";
import {
  decideExpansion, expandInUse, failureText, type ExpansionEvent, type ExpansionFailure, type ExpansionPorts, type ExpansionQuestion,
} from "@/server/node/expand-in-use";
import type { ExpandPaths } from "@/server/node/operation-context";
import type { Expansion } from "@/server/node/reconciler";
import type { NodeEvent } from "@/server/node/recorder";
import type { ResolvedVolume } from "@/server/node/resolve-volume";
import { deletePreResizeCapacity, statusCapacity } from "@/server/node/resize-status";
import { VolumeError } from "@/server/volume/errors";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { Clock, Log } from "@/server/volume/ports";
import { specName } from "@/server/volume/spec";

export interface NodeExpanderOptions {
  readonly client: NodeClient;
  readonly manager: VolumePluginManager;
  readonly snapshot: () => ClusterSnapshot;
  readonly recorder: { record(event: NodeEvent): void };
  readonly clock: Clock;
  readonly nodeName: string;
  readonly point: (name: string) => void;
  readonly log?: Pick<Log, "warn">;
}

/** What this node remembers of a volume as long as it is wanted here. */
interface Memory {
  size?: Quantity;
  /** A final error is on record. */
  failed?: boolean;
  /** Its driver grows it only while nobody uses it: not tried again until it is mounted anew. */
  inUse?: boolean;
  /** Its plugin has nothing to do on nodes: the controller's part was all. Unknown before the plugin was asked. */
  needsNoNode?: boolean;
  /** The size for which a read-only use was told. */
  toldReadOnly?: string;
}

interface Growing {
  readonly volume: ResolvedVolume;
  readonly paths: ExpandPaths;
  readonly persistentVolume: PersistentVolume;
  /** While it is mounted the pod hears of the mount alone. */
  readonly duringMount: boolean;
}

export class NodeExpander {
  private readonly memories = new Map<string, Memory>();

  constructor(private readonly options: NodeExpanderOptions) {}

  /** Mounted volumes of which a part of the growth is this node's to do. */
  expansions(resolved: readonly ResolvedVolume[], actual: ActualState): readonly Expansion[] {
    const wanted = new Set(resolved.map((volume) => volume.uniqueName));
    for (const uniqueName of this.memories.keys()) if (!wanted.has(uniqueName)) this.memories.delete(uniqueName);
    return resolved.flatMap((volume) => {
      const mount = actual.podMount(volume.podUID, volume.uniqueName);
      const persistentVolume = this.volumeOf(volume);
      if (mount?.certainty !== "certain" || !persistentVolume || !this.isDue(volume, persistentVolume)) return [];
      const device = actual.device(volume.uniqueName);
      const paths = { devicePath: device?.devicePath ?? "", deviceStagePath: device?.deviceMountPath ?? "", deviceMountPath: mount.path };
      return [{ volume, run: () => this.expandMounted({ volume, paths, persistentVolume, duringMount: false }) }];
    });
  }

  /** Between set up and "mounted". Throws the reason for which the pod can't start; a volume that is in use is none. */
  async expandDuringMount(volume: ResolvedVolume, _mount: PodMount, paths: ExpandPaths): Promise<void> {
    this.memories.delete(volume.uniqueName);
    const persistentVolume = this.volumeOf(volume);
    const claim = this.claimOf(volume);
    if (!persistentVolume || !claim || volume.spec.readOnly) return;
    const capacity = statusCapacity(claim);
    if (!capacity || sizeOf(persistentVolume).cmp(capacity) <= 0) return;
    const failure = await this.expand({ volume, paths, persistentVolume, duringMount: true });
    if (failure) throw new VolumeError(failure.reason);
  }

  private isDue(volume: ResolvedVolume, persistentVolume: PersistentVolume): boolean {
    const claim = this.claimOf(volume);
    const memory = this.memoryOf(volume);
    if (!claim || memory.inUse || !statusCapacity(claim)) return false;
    const decision = decideExpansion(this.question(volume, claim, persistentVolume));
    if (decision.do === "read-only") return memory.toldReadOnly !== sizeOf(persistentVolume).toString();
    if (decision.do === "done") memory.size = decision.size;
    return decision.do === "expand";
  }

  private question(volume: ResolvedVolume, claim: PersistentVolumeClaim, persistentVolume: PersistentVolume): ExpansionQuestion {
    return {
      claim,
      currentSize: this.memoryOf(volume).size ?? statusCapacity(claim) ?? Quantity.zero,
      desiredSize: sizeOf(persistentVolume),
      readOnly: volume.spec.readOnly,
      expandable: this.memoryOf(volume).needsNoNode !== true,
    };
  }

  /** The pod has heard of the failure already: it is thrown for the pause before the next try. */
  private async expandMounted(growing: Growing): Promise<void> {
    const failure = await this.expand(growing);
    if (failure) throw new VolumeError(failureText(failure, specName(growing.volume.spec)));
  }

  private async expand(growing: Growing): Promise<ExpansionFailure | undefined> {
    const { client, nodeName, point } = this.options;
    const { volume, persistentVolume } = growing;
    const seen = this.claimOf(volume);
    if (!seen) return undefined;
    const claim = await client.get<PersistentVolumeClaim>(claimPath(seen));
    const volumeName = specName(volume.spec);
    const plugin = await this.options.manager.findNodeExpandablePluginBySpec(volume.spec).catch(() => undefined);
    this.memoryOf(volume).needsNoNode = plugin?.requiresFSResize() === false;
    const failedBefore = this.memoryOf(volume).failed ?? false;
    const failure = await expandInUse({ ...this.question(volume, claim, persistentVolume), failedBefore, volumeName, nodeName }, this.portsFor(growing, claim));
    if (!failure && !this.memoryOf(volume).inUse) {
      await writeVolume(client, deletePreResizeCapacity(persistentVolume));
      point("node-expand-after-volume");
    }
    return failure;
  }

  private portsFor(growing: Growing, claim: PersistentVolumeClaim): ExpansionPorts {
    const { client, clock, point, recorder } = this.options;
    const { volume, duringMount } = growing;
    const memory = this.memoryOf(volume);
    let current = claim;
    return {
      nodeExpand: async (sizes) => {
        point("node-expand-after-mark");
        await this.callPlugin(growing, sizes);
        point("node-expand-after-plugin");
      },
      patchClaim: async (patch) => {
        current = await writeClaim(client, current, patch);
        point("node-expand-after-claim");
        return current;
      },
      event: (event) => {
        if (duringMount && event.reason === "VolumeResizeFailed") return;
        if (event.reason === "FileSystemResizeFailed") memory.toldReadOnly = sizeOf(growing.persistentVolume).toString();
        recorder.record(eventOf(event, volume.pod, claim));
      },
      markResized: (size) => {
        memory.size = size;
        memory.failed = false;
      },
      markFailed: () => {
        memory.failed = true;
      },
      markInUse: () => {
        memory.inUse = true;
      },
      now: () => `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`,
      warn: (message) => this.options.log?.warn(message),
    };
  }

  private async callPlugin({ volume, paths }: Growing, sizes: { readonly oldSize: Quantity; readonly newSize: Quantity }): Promise<void> {
    const { spec, mode } = volume;
    const plugin = await this.options.manager.findNodeExpandablePluginBySpec(spec);
    if (!plugin && mode === "Block") return;
    if (!plugin) throw new VolumeError("NodeExpand is not supported", "operation-not-supported");
    const grown = await plugin.nodeExpand({ volumeSpec: spec, ...paths, ...sizes });
    if (!grown) throw new VolumeError(`the file system of ${specName(spec)} was not grown`);
  }

  private memoryOf({ uniqueName }: ResolvedVolume): Memory {
    const memory = this.memories.get(uniqueName) ?? {};
    this.memories.set(uniqueName, memory);
    return memory;
  }

  private claimOf({ claim }: ResolvedVolume): PersistentVolumeClaim | undefined {
    const { namespace = "", name = "" } = claim?.metadata ?? {};
    return this.options.snapshot().claims.get(`${namespace}/${name}`);
  }

  private volumeOf({ spec }: ResolvedVolume): PersistentVolume | undefined {
    return spec.persistentVolume && this.options.snapshot().persistentVolumes.get(specName(spec));
  }
}

function sizeOf(volume: PersistentVolume): Quantity {
  return tryParseQuantity(storageOf(volume.spec.capacity)) ?? Quantity.zero;
}

function eventOf({ on, type, reason, message }: ExpansionEvent, pod: Pod, claim: PersistentVolumeClaim): NodeEvent {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  const subject = on === "Pod" ? { kind: "Pod" as const, namespace, name, uid } : claimSubject(claim);
  return { subject, type, reason, message, component: "kubelet" };
}
