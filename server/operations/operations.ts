/**
 * Runs operations: one at a time per volume, each through the journal, followed to its true end. HTTP 200 is not success:
 * what the cluster shows afterwards is.
 */
import { AppError, codeOf, messageOf } from "@/lib/errors";
import type { KubeObject } from "@/lib/kube/meta";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import { decideExpansion, expansionPatch, grantedOf, requestedOf } from "./decide-expand";
import { decideResize, resizePatch } from "./decide-resize";
import { claimPath, expansionProgress, readExpandEvidence, type ExpandInput } from "./expand-claim";
import type { JournalEntry } from "./journal";
import type { Decision, OperationRecord, OperationSubject, OperationVerb, Progress } from "./operation";
import type { OperationCluster, OperationPorts } from "./ports";
import { podPath, readResizeEvidence, resizeProgress, sizeLimitOf, type ResizeInput } from "./resize-ephemeral";

/** What a verb brings to the common run. */
interface Verb {
  readonly verb: OperationVerb;
  readonly subject: OperationSubject;
  readonly from: string;
  readonly to: string;
  readonly decision: Decision;
  readonly readVersion: string | undefined;
  /** Sends the change and returns the answered object. */
  send(): Promise<KubeObject>;
}

export interface StartOptions {
  readonly clusterId: string;
  readonly who: string;
  /** The uid that the person saw; another one refuses. */
  readonly uid: string;
}

const fieldManager = "voldeck";

export class Operations {
  private readonly busy = new Set<string>();
  /** Operations whose request is on its way: nobody settles them meanwhile. */
  private readonly sending = new Set<string>();
  private readonly following = new Map<string, Promise<void>>();

  constructor(private readonly ports: OperationPorts) {}

  get(id: string): OperationRecord | undefined {
    return this.ports.journal.get(id);
  }

  entries(id: string): readonly JournalEntry[] {
    return this.ports.journal.entries(id);
  }

  list(clusterId: string): readonly OperationRecord[] {
    return this.ports.journal.list(clusterId);
  }

  /** Throws AppError: invalid (size), not-found, precondition (a check refuses), conflict, forbidden and what the server says. */
  async expandClaim(input: ExpandInput, options: StartOptions): Promise<OperationRecord> {
    const cluster = this.clusterOf(options.clusterId);
    const target = parseQuantity(input.size);
    return this.exclusively(`${cluster.id}/claim/${input.namespace}/${input.name}`, async () => {
      const evidence = await readExpandEvidence(cluster, input);
      const { claim } = evidence;
      return this.run(cluster, options, {
        verb: "expand-claim",
        subject: { namespace: input.namespace, name: input.name, uid: claim.metadata.uid ?? "" },
        from: grantedOf(claim) ?? requestedOf(claim) ?? "",
        to: input.size,
        decision: decideExpansion(evidence, target),
        readVersion: claim.metadata.resourceVersion,
        send: () =>
          cluster.client.patch<PersistentVolumeClaim>(
            claimPath(input.namespace, input.name),
            { type: "merge", body: expansionPatch(input.size, claim.metadata.resourceVersion) },
            { fieldManager },
          ),
      });
    });
  }

  /** Throws as expandClaim does. */
  async resizeEphemeral(input: ResizeInput, options: StartOptions): Promise<OperationRecord> {
    const cluster = this.clusterOf(options.clusterId);
    const target = parseQuantity(input.size);
    return this.exclusively(`${cluster.id}/pod/${input.namespace}/${input.name}`, async () => {
      const evidence = await readResizeEvidence(cluster, input);
      const { pod } = evidence;
      return this.run(cluster, options, {
        verb: "resize-ephemeral",
        subject: { namespace: input.namespace, name: input.name, uid: pod.metadata.uid ?? "", volume: input.volume },
        from: sizeLimitOf(pod, input.volume) ?? "",
        to: input.size,
        decision: decideResize(evidence, target),
        readVersion: pod.metadata.resourceVersion,
        send: () =>
          cluster.client.patch<Pod>(
            `${podPath(input.namespace, input.name)}/resize`,
            { type: "strategic", body: resizePatch(input.volume, input.size, pod.metadata.resourceVersion) },
            { fieldManager },
          ),
      });
    });
  }

  /**
   * Reads the world again for every open operation, and settles what could not be settled when its answer was lost; called when the
   * cluster changed, and now and then. Every operation is looked at; the first failure is thrown afterwards.
   */
  async followAll(): Promise<void> {
    const open = this.ports.journal.open().filter(({ id }) => !this.sending.has(id));
    const looks = open.map((record) => (record.phase === "following" ? this.follow(record.id) : this.settle(record)));
    const failed = (await Promise.allSettled(looks)).find((look) => look.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** One look at a time per operation; a second caller waits for the one that runs. */
  private follow(id: string): Promise<void> {
    const running = this.following.get(id);
    if (running) return running;
    const look = this.look(id).finally(() => this.following.delete(id));
    this.following.set(id, look);
    return look;
  }

  private async look(id: string): Promise<void> {
    const record = this.ports.journal.get(id);
    const cluster = record && this.ports.cluster(record.cluster);
    if (!record || record.phase !== "following" || !cluster) return;
    const progress = await this.progressOf(cluster, record).catch((error: unknown) => {
      // What cannot be read now says nothing about the volume: the record stays, the next look asks again.
      if (codeOf(error) === "transient" || codeOf(error) === "uncertain") return undefined;
      throw error;
    });
    if (!progress || sameProgress(progress, record.progress)) return;
    if (!progress.ended) return this.writeProgress(record, progress);
    this.ports.point("journal-before-ended");
    this.end(record, progress);
    this.ports.point("journal-after-ended");
  }

  private writeProgress(record: OperationRecord, progress: Progress): void {
    this.ports.point("journal-before-progress");
    this.write({ ...record, progress }, progress.sentence);
    this.ports.point("journal-after-progress");
  }

  private progressOf(cluster: OperationCluster, record: OperationRecord): Promise<Progress> {
    return record.verb === "expand-claim"
      ? expansionProgress(cluster, record, this.ports.nowMs())
      : resizeProgress(cluster, record);
  }

  private async run(cluster: OperationCluster, options: StartOptions, verb: Verb): Promise<OperationRecord> {
    if (verb.subject.uid !== options.uid) {
      throw new AppError("conflict", `${verb.subject.name} was deleted and made anew meanwhile: read it again`);
    }
    if (verb.decision.kind !== "do") throw new AppError("precondition", verb.decision.reason);
    const intended = this.recordOf(cluster, options, verb);
    this.sending.add(intended.id);
    try {
      return await this.runThroughJournal(intended, verb);
    } finally {
      this.sending.delete(intended.id);
    }
  }

  private async runThroughJournal(intended: OperationRecord, verb: Verb): Promise<OperationRecord> {
    this.ports.point("journal-before-intended");
    this.ports.journal.begin(intended, `${verb.verb} from ${verb.from} to ${verb.to}`);
    this.changed(intended);
    this.ports.point("journal-after-intended");
    const read = this.write({ ...intended, phase: "read" }, `read at resourceVersion ${verb.readVersion ?? "unknown"}`);
    this.ports.point("journal-after-read");
    const sending = this.write({ ...read, phase: "sending" }, "sending");
    this.ports.point("journal-after-sending");
    return this.send(sending, verb);
  }

  private async send(sending: OperationRecord, verb: Verb): Promise<OperationRecord> {
    let answer: KubeObject;
    try {
      answer = await verb.send();
    } catch (error) {
      return this.afterFailedSend(sending, error);
    }
    this.ports.point("journal-after-answer");
    const following = this.write(
      { ...sending, phase: "following", answeredGeneration: answer.metadata.generation },
      `answered with resourceVersion ${answer.metadata.resourceVersion ?? "unknown"}`,
    );
    this.ports.point("journal-after-following");
    // It was sent: a look that fails now is no refusal of it. The next look fails again, and is logged.
    await this.follow(following.id).catch(() => undefined);
    return this.ports.journal.get(following.id) ?? following;
  }

  /** An answer that never came may have been obeyed: only the object tells. A refusal ends the record with the server's words. */
  private async afterFailedSend(sending: OperationRecord, error: unknown): Promise<OperationRecord> {
    if (codeOf(error) === "uncertain" || codeOf(error) === "transient") {
      await this.settle(sending);
      return this.ports.journal.get(sending.id) ?? sending;
    }
    this.end(sending, { status: "failed", sentence: `Refused by the API server: ${messageOf(error)}`, steps: [], ended: true, next: [] });
    throw error;
  }

  /** A row in sending (or before): equal to the target means sent; else it is not known to have been sent. */
  private async settle(record: OperationRecord): Promise<void> {
    const cluster = this.ports.cluster(record.cluster);
    if (!cluster) return;
    if (record.phase !== "sending") {
      this.end(record, notSent("Voldeck was stopped before anything was sent"));
      return;
    }
    const asked = await this.askedSize(cluster, record);
    if (asked === "unreadable") return;
    if (asked !== undefined && parseQuantity(asked).cmp(parseQuantity(record.to)) === 0) {
      this.write({ ...record, phase: "following" }, "the object holds the target: it was sent");
      await this.follow(record.id);
    } else {
      this.end(record, notSent(`Not known to have been sent: the object asks for ${asked ?? "no size"}`));
    }
  }

  /** What the object asks for now, when it is still the same object. */
  private async askedSize(cluster: OperationCluster, record: OperationRecord): Promise<string | undefined> {
    const { namespace, name, uid, volume = "" } = record.subject;
    try {
      if (record.verb === "expand-claim") {
        const claim = await cluster.client.get<PersistentVolumeClaim>(claimPath(namespace, name));
        return claim.metadata.uid === uid ? requestedOf(claim) : undefined;
      }
      const pod = await cluster.client.get<Pod>(podPath(namespace, name));
      return pod.metadata.uid === uid ? sizeLimitOf(pod, volume) : undefined;
    } catch (error) {
      if (codeOf(error) === "not-found") return undefined;
      return "unreadable";
    }
  }

  private recordOf(cluster: OperationCluster, options: StartOptions, verb: Verb): OperationRecord {
    return {
      id: this.ports.newId(),
      cluster: cluster.id,
      verb: verb.verb,
      subject: verb.subject,
      from: verb.from,
      to: verb.to,
      who: options.who,
      startedAt: this.now(),
      phase: "intended",
      readVersion: verb.readVersion,
      progress: { status: "working", sentence: "Being sent", steps: [], ended: false, next: [] },
    };
  }

  private end(record: OperationRecord, progress: Progress): void {
    this.write({ ...record, phase: "ended", progress, endedAt: this.now() }, progress.sentence);
  }

  private write(record: OperationRecord, note: string): OperationRecord {
    this.ports.journal.write(record, { at: this.now(), phase: record.phase, note });
    this.changed(record);
    return record;
  }

  private changed(record: OperationRecord): void {
    this.ports.onChange({ id: record.id, cluster: record.cluster });
  }

  private now(): string {
    return new Date(this.ports.nowMs()).toISOString();
  }

  private clusterOf(id: string): OperationCluster {
    const cluster = this.ports.cluster(id);
    if (!cluster) throw new AppError("not-found", `There is no cluster ${id}`);
    return cluster;
  }

  private async exclusively<T>(key: string, act: () => Promise<T>): Promise<T> {
    if (this.busy.has(key)) throw new AppError("conflict", "Another change of the same object is just being sent");
    this.busy.add(key);
    try {
      return await act();
    } finally {
      this.busy.delete(key);
    }
  }
}

function notSent(sentence: string): Progress {
  return { status: "unknown", sentence, steps: [], ended: true, next: ["Nothing was repeated. Start it again if it is still wanted"] };
}

function sameProgress(a: Progress, b: Progress): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
