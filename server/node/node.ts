/**
 * A node that stands alone: finds what is mounted, makes it what the pods want, and plays the parts that a cluster's scheduler
 * and controllers play elsewhere. Everything goes through the API, like anybody's writes. Stopping leaves mounts as they are.
 */
import { codeOf, messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import type { NodeReport } from "@/lib/node-report";
import type { Cluster } from "@/server/cluster/cluster";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { ActualState } from "@/server/node/actual-state";
import { NodeAttachments } from "@/server/node/attachments";
import type { NodeClient } from "@/server/node/client";
import { makeNodeFolders } from "@/server/node/folders";
import type { OperationContext } from "@/server/node/operation-context";
import { conditionUpdate, finishDeletion, unschedulableUpdate, writeCondition } from "@/server/node/pod-status";
import type { NodeEvent } from "@/server/node/recorder";
import { Reconciler } from "@/server/node/reconciler";
import { registerNode, type NodeFacts } from "@/server/node/register-node";
import { lookAtMounts } from "@/server/node/lost-mounts";
import { makeReport } from "@/server/node/report";
import { bindPod, placements } from "@/server/node/scheduler";
import { isWithin } from "@/server/volume/elapsed";
import type { KubeletVolumeHost } from "@/server/volume/host";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";

/** What a node needs of its cluster. */
export type NodeCluster = Pick<Cluster, "snapshot" | "freshness" | "settled" | "onChange"> & { readonly client: NodeClient };

/** A part that a controller plays in a cluster. `step` looks at the snapshot and does what is due; it is called again after changes. */
export interface Controller {
  readonly name: string;
  step(snapshot: ClusterSnapshot): Promise<void>;
  /** When it has to be called again without any change, because something failed. */
  nextDueMs?(): number | undefined;
}

export interface NodeOptions {
  readonly host: KubeletVolumeHost;
  readonly manager: VolumePluginManager;
  readonly cluster: NodeCluster;
  readonly recorder: { record(event: NodeEvent): void };
  readonly root: string;
  /** Where FlexVolume drivers are installed. */
  readonly flexVolumeDir: string;
  readonly mounter: NodeReport["mounter"];
  readonly facts: () => Promise<NodeFacts>;
  readonly controllers: (node: { readonly actual: ActualState }) => readonly Controller[];
  readonly expansions?: ConstructorParameters<typeof Reconciler>[0]["expansions"];
  readonly expandDuringMount?: OperationContext["expandDuringMount"];
  /** Called with the name of every step that leaves a trace. */
  readonly point?: (name: string) => void;
}

export interface RunningNode {
  /** undefined before the first look at the disk. */
  report(): NodeReport | undefined;
  /** The same, read anew where it is older than a second. */
  freshReport(): Promise<NodeReport | undefined>;
  onReport(listener: (report: NodeReport) => void): () => void;
  /** Looks again soon, without waiting for a change. */
  wake(): void;
  /** Ends when no operation runs. Mounts stay. */
  stop(): Promise<void>;
}

const leastPauseMs = 100;
const reportEveryMs = 15_000;
const freshMs = 1_000;
const retryMs = 5_000;

export function startNode(options: NodeOptions): RunningNode {
  const node = new StandaloneNode(options);
  node.start();
  return node;
}

class StandaloneNode implements RunningNode {
  private readonly actual = new ActualState();
  private readonly reconciler: Reconciler;
  private readonly controllers: readonly Controller[];
  private readonly listeners = new Set<(report: NodeReport) => void>();
  private readonly stopping = new AbortController();
  private latest: NodeReport | undefined;
  private begunReports = 0;
  private latestNumber = 0;
  private refreshing: Promise<void> | undefined;
  private running: Promise<void> = Promise.resolve();
  private nap = new AbortController();
  private awake = true;
  private stopListening: () => void = () => undefined;

  constructor(private readonly options: NodeOptions) {
    const { host, manager, recorder } = options;
    const context: OperationContext = {
      host,
      manager,
      actual: this.actual,
      attachments: new NodeAttachments(options.cluster.client, options.host.getNodeName()),
      event: (pod, said) => recorder.record({ subject: podSubject(pod), ...said, component: "kubelet" }),
      point: (name) => this.point(name),
      expandDuringMount: options.expandDuringMount ?? (async () => undefined),
    };
    this.reconciler = new Reconciler({
      context,
      nodeName: this.nodeName,
      snapshot: () => options.cluster.snapshot(),
      onProgress: () => this.wake(),
      expansions: options.expansions ?? (() => []),
    });
    this.controllers = options.controllers({ actual: this.actual });
  }

  private point(name: string): void {
    this.options.point?.(name);
  }

  private get nodeName(): string {
    return this.options.host.getNodeName();
  }

  private get clock() {
    return this.options.host.ports.clock;
  }

  private get log() {
    return this.options.host.ports.log;
  }

  start(): void {
    this.stopListening = this.options.cluster.onChange(() => this.wake());
    this.running = this.run();
  }

  report(): NodeReport | undefined {
    return this.latest;
  }

  async freshReport(): Promise<NodeReport | undefined> {
    if (this.latest && !isWithin(freshMs, Date.parse(this.latest.takenAt), this.clock.nowMs()) && !this.stopping.signal.aborted) {
      this.refreshing ??= this.publishReport().finally(() => {
        this.refreshing = undefined;
      });
      await this.refreshing;
    }
    return this.latest;
  }

  onReport(listener: (report: NodeReport) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  wake(): void {
    this.awake = true;
    this.nap.abort();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.stopListening();
    this.nap.abort();
    await this.running;
    await this.reconciler.operations.idle();
  }

  private async run(): Promise<void> {
    await this.untilStopped(this.options.cluster.settled);
    await this.attempt("register the node", () => this.register());
    await this.attempt("make the folders", () => makeNodeFolders(this.options.host));
    await this.attempt("find what is mounted", () => this.reconciler.findMounted());
    while (!this.stopping.signal.aborted) {
      this.awake = false;
      await this.pass();
      await this.pause(leastPauseMs);
      if (!this.awake) await this.sleepUntilDue();
    }
  }

  private async pass(): Promise<void> {
    if (!this.knowsEnough()) return;
    const snapshot = this.options.cluster.snapshot();
    await this.once("reconcile", () => this.reconciler.reconcile());
    await this.once("bind pods", () => this.schedule(snapshot));
    for (const controller of this.controllers) await this.once(controller.name, () => controller.step(snapshot));
    await this.once("write pod conditions", () => this.writeStatus());
    await this.once("finish deletions", () => this.finishDeletions(snapshot));
    await this.once("report", () => this.publishReport());
  }

  /** Kinds that were never read prove nothing: without them nothing is unmounted. What was read once stays good. */
  private knowsEnough(): boolean {
    const needed = new Set<string>(["pods", "persistentvolumeclaims", "persistentvolumes", "storageclasses"]);
    return this.options.cluster.freshness().kinds.every(({ kind, lastHeardMs }) => !needed.has(kind) || lastHeardMs !== undefined);
  }

  private async register(): Promise<void> {
    const facts = await this.options.facts();
    await registerNode(this.options.cluster.client, this.nodeName, { ...facts, nowMs: this.clock.nowMs() });
  }

  private async schedule(snapshot: ClusterSnapshot): Promise<void> {
    const node = snapshot.nodes.get(this.nodeName);
    if (!node) return;
    for (const { pod, placement } of placements(snapshot, node)) {
      if (placement.fits) await this.bind(pod);
      else await this.sayWaiting(pod, placement.reason);
    }
  }

  private async bind(pod: Pod): Promise<void> {
    if (!(await bindPod(this.options.cluster.client, pod, this.nodeName))) return;
    this.point("schedule-after-bind");
    const { namespace = "", name = "" } = pod.metadata;
    this.schedulerEvent(pod, "Normal", { reason: "Scheduled", message: `Successfully assigned ${namespace}/${name} to ${this.nodeName}` });
  }

  private async sayWaiting(pod: Pod, message: string): Promise<void> {
    const condition = unschedulableUpdate(pod, message, this.clock.nowMs());
    if (!condition) return;
    await writeCondition(this.options.cluster.client, pod, condition);
    this.schedulerEvent(pod, "Warning", { reason: "FailedScheduling", message });
  }

  private schedulerEvent(pod: Pod, type: "Normal" | "Warning", said: { reason: string; message: string }): void {
    this.options.recorder.record({ subject: podSubject(pod), type, ...said, component: "default-scheduler" });
  }

  private async writeStatus(): Promise<void> {
    const { desired, resolved, unprocessed } = this.reconciler.picture;
    const { operations } = this.reconciler;
    const { lost } = await lookAtMounts({ host: this.options.host, actual: this.actual, operations });
    const losses = new Map(Array.from(lost, ([{ podUID, uniqueName }, why]) => [`${podUID}\n${uniqueName}`, why]));
    const resolvedByPod = Map.groupBy(resolved, (volume) => volume.podUID);
    const unprocessedByPod = Map.groupBy(unprocessed, ({ pod }) => pod.metadata.uid ?? "");
    for (const [podUID, pod] of desired.pods) {
      const volumes = resolvedByPod.get(podUID) ?? [];
      const failed = unprocessedByPod.get(podUID) ?? [];
      const lossOf = (uniqueName: string) => losses.get(`${podUID}\n${uniqueName}`);
      const isMounted = (uniqueName: string) => this.actual.podMount(podUID, uniqueName)?.certainty === "certain" && lossOf(uniqueName) === undefined;
      const missing = volumes.filter((volume) => !isMounted(volume.uniqueName));
      const lastError = missing.map(({ uniqueName }) => operations.report(uniqueName)?.lastError ?? lossOf(uniqueName)).find((text) => text !== undefined);
      const condition = conditionUpdate(
        pod,
        {
          mounted: volumes.filter((volume) => isMounted(volume.uniqueName)).map((volume) => volume.volumeName),
          missing: [...failed, ...missing].map((volume) => volume.volumeName),
          reason: failed[0]?.message ?? lastError,
        },
        this.clock.nowMs(),
      );
      if (!condition) continue;
      await writeCondition(this.options.cluster.client, pod, condition);
      this.point("pod-after-condition");
    }
  }

  /** A deleted pod's object goes when nothing of it is mounted any more. */
  private async finishDeletions(snapshot: ClusterSnapshot): Promise<void> {
    const mounted = new Set(this.actual.mounts().map((mount) => mount.podUID));
    for (const pod of snapshot.pods.values()) {
      const ours = pod.spec.nodeName === this.nodeName && pod.metadata.deletionTimestamp;
      if (!ours || mounted.has(pod.metadata.uid ?? "")) continue;
      await finishDeletion(this.options.cluster.client, pod);
      this.point("pod-after-deletion");
    }
  }

  private async publishReport(): Promise<void> {
    const { host, manager, root, flexVolumeDir, mounter } = this.options;
    const { picture, operations } = this.reconciler;
    const number = (this.begunReports += 1);
    const report = await makeReport({ host, manager, root, flexVolumeDir, mounter, picture, actual: this.actual, operations });
    // One that was begun later has overtaken it.
    if (number < this.latestNumber) return;
    this.latestNumber = number;
    this.latest = report;
    for (const listener of this.listeners) listener(report);
  }

  /** Until it succeeds or the node stops: nothing of what follows makes sense without it. */
  private async attempt(what: string, run: () => Promise<void>): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        return await run();
      } catch (error) {
        this.log.error(`could not ${what}`, error);
        await this.pause(retryMs);
      }
    }
  }

  /** A part that fails does not stop the others, and is tried again at the next pass. */
  private async once(what: string, run: () => Promise<void>): Promise<void> {
    if (this.stopping.signal.aborted) return;
    try {
      await run();
    } catch (error) {
      this.log.warn(`a step of the node failed: ${what}`, { error: messageOf(error) });
    }
  }

  private async sleepUntilDue(): Promise<void> {
    const retries = this.controllers.flatMap((controller) => controller.nextDueMs?.() ?? []);
    const due = Math.min(this.reconciler.nextDueMs(), this.clock.nowMs() + reportEveryMs, ...retries);
    this.nap = new AbortController();
    await this.pause(Math.max(0, due - this.clock.nowMs()), this.nap.signal);
  }

  private async pause(ms: number, signal = this.stopping.signal): Promise<void> {
    if (this.stopping.signal.aborted) return;
    try {
      await this.clock.sleep(ms, signal);
    } catch (error) {
      if (codeOf(error) !== "ABORT_ERR") throw error;
    }
  }

  private async untilStopped(waited: Promise<void>): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.stopping.signal.addEventListener("abort", () => resolve()));
    await Promise.race([waited, stopped]);
  }
}

function podSubject(pod: Pod): NodeEvent["subject"] {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  return { kind: "Pod", namespace, name, uid };
}
