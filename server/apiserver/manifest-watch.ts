/**
 * The manifests folder, applied, watched and read again every 20 seconds, as a kubelet reads its folder of pods: an edit behind a link or
 * a folder that another one took the place of is not always told. A file that does not parse keeps its last good objects; objects vanish only after complete
 * scans (see manifest-removal.ts), and only by a person's word where many would.
 */
import { watch, type FSWatcher } from "node:fs";
import { stat } from "node:fs/promises";
import { AppError, messageOf } from "@/lib/errors";
import type { KeptKind, ManifestError, ManifestState, WaitingObject } from "@/lib/manifests";
import type { ServerContext } from "./context";
import { apiVersionOf, type Kind } from "./kinds";
import { allApplied, applyObject, kindOfManifest, placed } from "./manifest-apply";
import { ManifestFolder, type ManifestFile, type ManifestObject } from "./manifest-files";
import { idOf, nameOf, Removals } from "./manifest-removal";
import type { Log } from "./server";
import { isApiError } from "./status";
import { objectId, type ObjectKey } from "./store";

export interface ManifestWatch {
  state(): ManifestState;
  /** Reads the folder again and applies what changed. */
  rescan(): Promise<void>;
  /**
   * Removes what waits, by the uids that a person was shown. Throws AppError `conflict` where other objects wait by now, and
   * `precondition` where the files can't all be read; then nothing is removed. Throws what else fails; then some may be removed.
   */
  confirmRemoval(uids: readonly string[], who: string): Promise<void>;
  /** Told after every scan that found something to do. Returns how to stop. */
  onChange(listener: () => void): () => void;
  close(): void;
}

const settleMs = 200;
const auditedNames = 20;
const unreadableAgainMs = 3_000;
/** The kubelet's fileCheckFrequency. */
const rescanAfterMs = 20_000;

/** Applies the folder once and watches it. Never throws for what is in the files; see `state().errors`. */
export async function watchManifests(context: ServerContext, folder: string, log: Log): Promise<ManifestWatch> {
  const manifests = new Manifests(context, folder, log);
  await manifests.rescan();
  return manifests;
}

interface Wanted {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly source: ManifestObject;
  readonly object: ManifestObject["object"];
}

class Manifests implements ManifestWatch {
  private current: ManifestState;
  private readonly removals: Removals;
  private readonly listeners = new Set<() => void>();
  private readonly stopped = new AbortController();
  private readonly files: ManifestFolder;
  private watched: { readonly watcher: FSWatcher; readonly id: string } | undefined;
  /** The last scan left nothing to be done: while the files are the same, there is nothing to do. */
  private isSettled = false;
  private scanning: Promise<unknown> = Promise.resolve();
  private dueAtMs: number | undefined;

  constructor(
    private readonly context: ServerContext,
    private readonly folder: string,
    private readonly log: Log,
  ) {
    this.current = { folder, files: [], errors: [], kept: [] };
    this.removals = new Removals(context, log);
    this.files = new ManifestFolder(folder);
  }

  state(): ManifestState {
    return this.current;
  }

  async rescan(): Promise<void> {
    // Its failure is in the log.
    await this.enqueue([]).catch(() => false);
  }

  async confirmRemoval(uids: readonly string[], who: string): Promise<void> {
    const objects = this.current.waiting?.objects ?? [];
    const waiting = new Set(objects.map(({ uid }) => uid));
    const same = waiting.size === uids.length && uids.every((uid) => waiting.has(uid));
    if (!same) throw new AppError("conflict", "Other objects wait by now than were shown. Look at the list again.");
    const audit = (result: string) => this.log.info("write", { who, verb: "confirm-removal", objects: namesOf(objects), result });
    const complete = await this.enqueue(uids).catch((error: unknown) => {
      audit(`failed: ${messageOf(error)}`);
      throw error;
    });
    audit(complete ? "removed" : "refused: not all of the manifests can be read now");
    if (!complete) throw new AppError("precondition", "Nothing was removed: not all of the manifests can be read now.");
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.stopped.abort();
    this.watched?.watcher.close();
  }

  /** Listens for edits of the folder that has the name now: it may be another one than before. */
  private async follow(): Promise<void> {
    const { dev, ino } = await stat(this.folder, { bigint: true });
    const id = `${dev}:${ino}`;
    if (this.watched?.id === id || this.stopped.signal.aborted) return;
    this.watched?.watcher.close();
    this.watched = undefined;
    const watcher = watch(this.folder, () => this.rescanIn(settleMs));
    watcher.on("error", (error) => {
      if (this.watched?.watcher !== watcher) return;
      this.log.error("the manifests folder is no longer watched", error, { folder: this.folder });
      this.watched = undefined;
      this.rescanIn(unreadableAgainMs);
    });
    this.watched = { watcher, id };
  }

  /** One wait at a time; an earlier one takes the place of a later one. An editor writes in several steps: edits wait until it is quiet. */
  private rescanIn(ms: number): void {
    const atMs = this.context.clock.nowMs() + ms;
    if (this.dueAtMs !== undefined && this.dueAtMs <= atMs) return;
    this.dueAtMs = atMs;
    this.context.clock.sleep(ms, this.stopped.signal).then(
      () => {
        if (this.dueAtMs !== atMs) return;
        this.dueAtMs = undefined;
        void this.rescan();
      },
      () => undefined,
    );
  }

  /** Returns whether the scan was complete. One that fails is logged, and keeps neither the next one nor the process from going on. */
  private enqueue(confirmed: readonly string[]): Promise<boolean> {
    const scan = this.scanning.then(() => this.scan(confirmed));
    this.scanning = scan.catch((error: unknown) => this.log.error("the manifests could not be applied", error, { folder: this.folder }));
    return scan;
  }

  private async scan(confirmed: readonly string[]): Promise<boolean> {
    if (this.stopped.signal.aborted) return false;
    this.rescanIn(rescanAfterMs);
    const read = await this.read();
    if (read === undefined) return false;
    const { files, changed } = read;
    if (this.isSettled && !changed) return true;
    this.isSettled = false;
    const errors = [...files.flatMap((file) => file.errors), ...this.emptied(files)];
    const wanted = this.collect(files, errors);
    // An object that could not be told is missing from `wanted`, and is not gone all the same.
    const complete = errors.length === 0;
    for (const one of wanted.toSorted((a, b) => rank(a.kind) - rank(b.kind))) this.apply(one, errors);
    const named = new Set(wanted.map(({ key }) => idOf(key)));
    const { waiting, againInMs } = this.removals.after({ named, complete, confirmed: new Set(confirmed) });
    if (againInMs !== undefined) this.rescanIn(againInMs);
    const listed = files.map(({ file, objects }) => ({ file, objects: objects.length }));
    this.publish({ folder: this.folder, files: listed, errors, kept: keptKinds(wanted), ...(waiting ? { waiting } : {}) });
    this.isSettled = errors.length === 0 && againInMs === undefined && waiting === undefined;
    return complete;
  }

  /** undefined while the folder can't be read. */
  private async read(): Promise<Awaited<ReturnType<ManifestFolder["read"]>> | undefined> {
    try {
      await this.follow();
      return await this.files.read();
    } catch (error) {
      this.isSettled = false;
      this.publish({ ...this.current, problem: messageOf(error) });
      this.rescanIn(unreadableAgainMs);
      return undefined;
    }
  }

  /** A file is empty for a moment while somebody writes it anew: what it brought stays until the file itself is gone. */
  private emptied(files: readonly ManifestFile[]): ManifestError[] {
    const empty = files.filter(({ objects, errors }) => objects.length === 0 && errors.length === 0);
    if (empty.length === 0) return [];
    const brought = new Set(allApplied(this.context).map(({ file }) => file));
    const message = "the file is empty; what it brought stays until the file is removed";
    return empty.filter(({ file }) => brought.has(file)).map(({ file }) => ({ file, line: 1, message }));
  }

  /** The objects of all files; of two with one name the first counts. */
  private collect(files: readonly ManifestFile[], errors: ManifestError[]): Wanted[] {
    const wanted = new Map<string, Wanted>();
    for (const source of files.flatMap(({ objects }) => objects)) {
      try {
        const kind = kindOfManifest(this.context, source.object);
        const { object, key } = placed(kind, source.object);
        const id = idOf(key);
        const other = wanted.get(id);
        if (other === undefined) wanted.set(id, { kind, key, source, object });
        else errors.push({ file: source.file, line: source.line, message: `${kind.kind} ${objectId(key)} is defined in ${other.source.file}:${other.source.line} already` });
      } catch (error) {
        errors.push({ file: source.file, line: source.line, message: messageOf(error) });
      }
    }
    return [...wanted.values()];
  }

  private apply({ kind, key, source, object }: Wanted, errors: ManifestError[]): void {
    try {
      if (applyObject(this.context, kind, { object, key, file: source.file })) this.log.info("manifest applied", { object: nameOf(kind.kind, key), file: source.file });
    } catch (error) {
      const field = isApiError(error) ? (error.status.details?.causes?.[0]?.field ?? "") : "";
      errors.push({ file: source.file, line: source.lineOf(field), message: messageOf(error) });
    }
  }

  /** What was said once is said again only after it changed. */
  private publish(next: ManifestState): void {
    const said = new Set(this.current.errors.map(inWords));
    for (const error of next.errors) if (!said.has(inWords(error))) this.log.warn("manifest not applied", { ...error });
    const { problem, waiting } = next;
    if (problem !== undefined && problem !== this.current.problem) this.log.warn("the manifests folder can't be read", { folder: this.folder, error: problem });
    if (waiting && waiting.reason !== this.current.waiting?.reason) {
      const objects = waiting.objects.map(({ kind, namespace, name }) => `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`).join(", ");
      const advice = "confirm it on Voldeck's pages, delete them with kubectl, or put the files back";
      this.log.warn("removed manifests wait for a person", { reason: waiting.reason, objects, advice });
    }
    this.current = next;
    for (const listener of [...this.listeners]) listener();
  }
}

function inWords({ file, line, message }: ManifestError): string {
  return `${file}:${line} ${message}`;
}

function keptKinds(wanted: readonly Wanted[]): readonly KeptKind[] {
  const others = wanted.filter(({ kind }) => !actedOn.includes(kind.kind));
  const byKind = Map.groupBy(others, ({ kind }) => `${apiVersionOf(kind)} ${kind.kind}`);
  return [...byKind.values()].flatMap(([first, ...more]) => (first ? [{ apiVersion: apiVersionOf(first.kind), kind: first.kind.kind, objects: 1 + more.length }] : []));
}

/** What this node acts on, in the order of applying: what others refer to comes first, pods last. */
const actedOn = ["Namespace", "StorageClass", "CSIDriver", "Node", "PersistentVolume", "ConfigMap", "Secret", "PersistentVolumeClaim", "Pod"];

/** Other kinds come before the pods. */
function rank({ kind }: Kind): number {
  const at = actedOn.indexOf(kind);
  return at >= 0 ? at : actedOn.indexOf("Pod") - 0.5;
}

/** The first of them by name: a line of a log is to be read. */
function namesOf(objects: readonly WaitingObject[]): string {
  const names = objects.slice(0, auditedNames).map(({ kind, namespace, name }) => `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`);
  return [...names, ...(objects.length > auditedNames ? [`and ${objects.length - auditedNames} more`] : [])].join(", ");
}
