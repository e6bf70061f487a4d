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
import { getUnlessGone } from "./get-optional";
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
   * cluster changed, and now and then. Every operation, of one cluster where one is named, is looked at; the first failure is
   * thrown afterwards.
   */
  async followAll(clusterId?: string): Promise<void> {
    const here = this.ports.journal.open().filter(({ cluster }) => clusterId === undefined || cluster === clusterId);
    const open = here.filter(({ id }) => !this.sending.has(id));
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
    const progress = await unlessUnreadable(this.progressOf(cluster, record));
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
    const progressOf = record.verb === "expand-claim" ? expansionProgress : resizeProgress;
    return progressOf(cluster, record, this.ports.nowMs());
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
    let sending: OperationRecord;
    try {
      sending = this.noteIntent(intended, verb);
    } catch (error) {
      throw new AppError("precondition", `Nothing was sent: ${messageOf(error)}`, { cause: error });
    }
    return this.send(sending, verb);
  }

  private noteIntent(intended: OperationRecord, verb: Verb): OperationRecord {
    this.ports.point("journal-before-intended");
    this.ports.journal.begin(intended, `${verb.verb} from ${verb.from} to ${verb.to}`);
    this.changed(intended);
    this.ports.point("journal-after-intended");
    const read = this.write({ ...intended, phase: "read" }, `read at resourceVersion ${verb.readVersion ?? "unknown"}`);
    this.ports.point("journal-after-read");
    const sending = this.write({ ...read, phase: "sending" }, "sending");
    this.ports.point("journal-after-sending");
    return sending;
  }

  private async send(sending: OperationRecord, verb: Verb): Promise<OperationRecord> {
    let answer: KubeObject;
    try {
      answer = await verb.send();
    } catch (error) {
      // An answer that never came may have been obeyed: only the object tells.
      const lost = codeOf(error) === "uncertain" || codeOf(error) === "transient";
      if (!lost) this.audit(sending, `refused: ${messageOf(error)}`);
      await leftToNextLook(lost ? this.settle(sending) : this.refused(sending, messageOf(error)));
      if (!lost) throw error;
      return this.ports.journal.get(sending.id) ?? sending;
    }
    this.audit(sending, "accepted");
    this.ports.point("journal-after-answer");
    await leftToNextLook(this.answered(sending, answer));
    return this.ports.journal.get(sending.id) ?? sending;
  }

  private async answered(sending: OperationRecord, answer: KubeObject): Promise<void> {
    this.write(
      { ...sending, phase: "following", answeredGeneration: answer.metadata.generation },
      `answered with resourceVersion ${answer.metadata.resourceVersion ?? "unknown"}`,
    );
    this.ports.point("journal-after-following");
    await this.follow(sending.id);
  }
  private async refused(sending: OperationRecord, words: string): Promise<void> {
    this.end(sending, { status: "failed", sentence: `Refused by the API server: ${words}`, steps: [], ended: true, next: [] });
  }

  private async settle(record: OperationRecord): Promise<void> {
    const cluster = this.ports.cluster(record.cluster);
    if (!cluster) return;
    const found = await unlessUnreadable(this.whetherSent(cluster, record));
    if (found === undefined) return this.noteUnsettled(record);
    if (record.phase === "sending") this.audit(record, `answer lost: ${found.why}`);
    this.ports.point("journal-before-settled");
    if (found.sent) this.write({ ...record, phase: "following" }, found.why);
    else this.end(record, notSent(found.why));
    this.ports.point("journal-after-settled");
    if (found.sent) await this.follow(record.id);
  }

  private noteUnsettled(record: OperationRecord): void {
    const sentence = "It may have been sent: its answer was lost, and the object can't be read now";
    const progress: Progress = { status: "unknown", sentence, steps: [], ended: false, next: [] };
    if (!sameProgress(progress, record.progress)) this.write({ ...record, progress }, sentence);
  }

  /** A row in sending: equal to the target means sent; else it is not known to have been. */
  private async whetherSent(cluster: OperationCluster, record: OperationRecord): Promise<{ readonly sent: boolean; readonly why: string }> {
    if (record.phase !== "sending") return { sent: false, why: "It was cut short before anything was sent" };
    const { namespace, name, uid, volume = "" } = record.subject;
    const isClaim = record.verb === "expand-claim";
    const claim = isClaim ? await getUnlessGone<PersistentVolumeClaim>(cluster.client, claimPath(namespace, name)) : undefined;
    const pod = isClaim ? undefined : await getUnlessGone<Pod>(cluster.client, podPath(namespace, name));
    const object = claim ?? pod;
    const unknown = (what: string) => ({ sent: false, why: `Not known to have been sent: the object ${what}` });
    if (!object) return unknown("was deleted");
    if (object.metadata.uid !== uid) return unknown("was deleted and made anew");
    const asked = claim ? requestedOf(claim) : pod && sizeLimitOf(pod, volume);
    if (asked === undefined || parseQuantity(asked).cmp(parseQuantity(record.to)) !== 0) return unknown(`asks for ${asked ?? "no size"}`);
    return { sent: true, why: "the object holds the target: it was sent" };
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
    // A clock that was set back since would have it end before it began.
    const endedAtMs = Math.max(this.ports.nowMs(), Date.parse(record.startedAt));
    this.write({ ...record, phase: "ended", progress, endedAt: new Date(endedAtMs).toISOString() }, progress.sentence);
  }

  private write(record: OperationRecord, note: string): OperationRecord {
    this.ports.journal.write(record, { at: this.now(), phase: record.phase, note });
    this.changed(record);
    return record;
  }

  private audit({ who, verb, cluster, subject, from, to }: OperationRecord, result: string): void {
    const { namespace, name, volume } = subject;
    const object = [namespace, name, ...(volume === undefined ? [] : [volume])].join("/");
    this.ports.audit({ who, verb, cluster, object, before: from, after: to, result });
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

/** What fails once a request was on its way is no refusal of it: the next look fails again, and is logged. */
async function leftToNextLook(noting: Promise<void>): Promise<void> {
  await noting.catch(() => undefined);
}

/** What can't be read now says nothing about the object: undefined, and the next look asks again. */
async function unlessUnreadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === "transient" || codeOf(error) === "uncertain") return undefined;
    throw error;
  }
}

function notSent(sentence: string): Progress {
  return { status: "unknown", sentence, steps: [], ended: true, next: ["Nothing was repeated. Start it again if it is still wanted"] };
}

function sameProgress(a: Progress, b: Progress): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
