/**
 * Events in the API, as client-go's recorder makes them: the same text about the same object is one event that counts. Writing
 * never delays or fails what it tells of: events wait in a queue, and the oldest are dropped when it is full.
 */
import { codeOf, messageOf } from "@/lib/errors";
import type { KubeEvent } from "@/lib/kube/pods";
import { resourcePath } from "@/server/cluster/resources";
import type { NodeClient } from "@/server/node/client";
import type { Clock, Log, Random } from "@/server/volume/ports";

export interface EventSubject {
  readonly kind: "Pod" | "PersistentVolumeClaim" | "PersistentVolume" | "Node";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface NodeEvent {
  readonly subject: EventSubject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Who says it: `kubelet`, `persistentvolume-controller`, `volume_expand` ... */
  readonly component: string;
}

export interface RecorderOptions {
  readonly client: NodeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodeName: string;
}

const queueLimit = 1_000;
const countForMs = 600_000;
const attempts = 12;
const retryMs = 1_000;

interface Counted {
  readonly path: string;
  readonly firstMs: number;
  count: number;
}

export class Recorder {
  private readonly queue: { event: NodeEvent; atMs: number }[] = [];
  private readonly counted = new Map<string, Counted>();
  private draining: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(private readonly options: RecorderOptions) {}

  record(event: NodeEvent): void {
    if (this.stopping.signal.aborted) return;
    if (this.queue.length >= queueLimit) this.queue.shift();
    this.queue.push({ event, atMs: this.options.clock.nowMs() });
    this.draining ??= this.drain().finally(() => {
      this.draining = undefined;
    });
  }

  /** Resolves when everything recorded so far was written or given up. */
  async flushed(): Promise<void> {
    await this.draining;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.queue.length = 0;
    await this.draining;
  }

  private async drain(): Promise<void> {
    for (let next = this.queue.shift(); next; next = this.queue.shift()) await this.writeWithRetries(next.event, next.atMs);
  }

  private async writeWithRetries(event: NodeEvent, atMs: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.write(event, atMs);
      } catch (error) {
        const gaveUp = attempt === attempts || codeOf(error) !== "transient" || this.stopping.signal.aborted;
        if (gaveUp) return this.options.log.warn("an event could not be written", { reason: event.reason, error: messageOf(error) });
        await this.options.clock.sleep(retryMs, this.stopping.signal).catch(() => undefined);
      }
    }
  }

  private async write(event: NodeEvent, atMs: number): Promise<void> {
    const key = JSON.stringify(event);
    const known = this.counted.get(key);
    if (known && atMs < known.firstMs + countForMs && (await this.countOnce(known, atMs))) return;
    const created = this.newEvent(event, atMs);
    const path = resourcePath("events", { namespace: created.metadata.namespace ?? "default" });
    await this.options.client.create(path, created);
    this.counted.set(key, { path: `${path}/${encodeURIComponent(created.metadata.name ?? "")}`, firstMs: atMs, count: 1 });
    this.dropOldCounts(atMs);
  }

  /** False when the event is gone and a new one has to be made. */
  private async countOnce(known: Counted, atMs: number): Promise<boolean> {
    try {
      await this.options.client.patch(known.path, { type: "merge", body: { count: known.count + 1, lastTimestamp: seconds(atMs) } });
      known.count += 1;
      return true;
    } catch (error) {
      if (codeOf(error) === "not-found") return false;
      throw error;
    }
  }

  private newEvent({ subject, type, reason, message, component }: NodeEvent, atMs: number): KubeEvent {
    const { nodeName, random } = this.options;
    const namespace = subject.namespace === "" ? "default" : subject.namespace;
    const nanos = BigInt(atMs) * 1_000_000n + BigInt(Math.floor(random.next() * 1_000_000));
    const onNode = component === "kubelet";
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${subject.name}.${nanos.toString(16)}`, namespace },
      involvedObject: { apiVersion: "v1", ...subject },
      type,
      reason,
      message: message.slice(0, 1024),
      count: 1,
      firstTimestamp: seconds(atMs),
      lastTimestamp: seconds(atMs),
      source: onNode ? { component, host: nodeName } : { component },
      reportingComponent: component,
      reportingInstance: onNode ? nodeName : "",
    };
  }

  private dropOldCounts(nowMs: number): void {
    for (const [key, { firstMs }] of this.counted) if (nowMs >= firstMs + countForMs) this.counted.delete(key);
  }
}

function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
