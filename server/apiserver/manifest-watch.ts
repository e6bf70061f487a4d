/**
 * The manifests folder, applied and watched. A file that does not parse keeps its last good objects; objects vanish only after a scan in
 * which every file was read; a scan that would take away more than two pods or half of the volumes waits for a person.
 */
import { watch, type FSWatcher } from "node:fs";
import { messageOf } from "@/lib/errors";
import type { ServerContext } from "./context";
import { removeStored } from "./delete";
import type { Kind } from "./kinds";
import { allApplied, applyObject, forget, kindOfManifest, placed, type Applied } from "./manifest-apply";
import { readManifestFolder, type ManifestError, type ManifestFile, type ManifestObject } from "./manifest-files";
import type { Log } from "./server";
import { isApiError } from "./status";
import { objectId, type ObjectKey } from "./store";

export interface WaitingRemoval {
  /** `Kind namespace/name`, as the files brought them. */
  readonly objects: readonly string[];
  readonly pods: number;
  readonly volumes: number;
  readonly reason: string;
}

export interface ManifestState {
  readonly folder: string;
  readonly files: readonly { readonly file: string; readonly objects: number }[];
  readonly errors: readonly ManifestError[];
  /** Objects that no file names any more, whose removal a person has to confirm. */
  readonly waiting: WaitingRemoval | undefined;
}

export interface ManifestWatch {
  state(): ManifestState;
  /** Reads the folder again and applies what changed. */
  rescan(): Promise<void>;
  /** Removes what waits. What changed since it was shown is judged anew by a scan first. */
  confirmRemoval(): Promise<void>;
  /** Told after every scan that changed the state. Returns how to stop. */
  onChange(listener: () => void): () => void;
  close(): void;
}

const settleMs = 200;
const maxPods = 2;

/** Applies the folder once and watches it. Never throws for what is in the files; see `state().errors`. */
export async function watchManifests(context: ServerContext, folder: string, log: Log): Promise<ManifestWatch> {
  const manifests = new Manifests(context, folder, log);
  await manifests.rescan();
  manifests.follow();
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
  private readonly listeners = new Set<() => void>();
  private readonly stopped = new AbortController();
  private watcher: FSWatcher | undefined;
  private scanning: Promise<void> = Promise.resolve();
  private settling = false;

  constructor(
    private readonly context: ServerContext,
    private readonly folder: string,
    private readonly log: Log,
  ) {
    this.current = { folder, files: [], errors: [], waiting: undefined };
  }

  state(): ManifestState {
    return this.current;
  }

  rescan(): Promise<void> {
    return this.enqueue(false);
  }

  confirmRemoval(): Promise<void> {
    return this.enqueue(true);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.stopped.abort();
    this.watcher?.close();
  }

  /** Starts to listen for edits. */
  follow(): void {
    try {
      this.watcher = watch(this.folder, () => void this.settle());
      this.watcher.on("error", (error) => this.log.error("the manifests folder is no longer watched", error, { folder: this.folder }));
    } catch (error) {
      this.log.error("the manifests folder cannot be watched", error, { folder: this.folder });
    }
  }

  /** An editor writes in several steps: wait until it is quiet. */
  private async settle(): Promise<void> {
    if (this.settling) return;
    this.settling = true;
    try {
      await this.context.clock.sleep(settleMs, this.stopped.signal);
    } catch {
      return;
    } finally {
      this.settling = false;
    }
    await this.rescan();
  }

  /** A scan that failed is logged, and keeps neither the next one nor the process from going on. */
  private enqueue(confirmed: boolean): Promise<void> {
    this.scanning = this.scanning.then(async () => {
      await this.scan(confirmed).catch((error: unknown) => this.log.error("the manifests could not be applied", error, { folder: this.folder }));
    });
    return this.scanning;
  }

  private async scan(confirmed: boolean): Promise<void> {
    if (this.stopped.signal.aborted) return;
    let files: ManifestFile[];
    try {
      files = await readManifestFolder(this.folder);
    } catch (error) {
      this.publish({ ...this.current, errors: [{ file: this.folder, line: 1, message: messageOf(error) }] });
      return;
    }
    const errors = [...files.flatMap((file) => file.errors), ...this.emptied(files)];
    const wanted = this.collect(files, errors);
    // An object that could not be told is missing from `wanted`, and is not gone all the same.
    const complete = errors.length === 0;
    for (const one of wanted.toSorted((a, b) => rank(a.kind) - rank(b.kind))) this.apply(one, errors);
    const waiting = complete ? this.prune(wanted, confirmed) : this.current.waiting;
    this.publish({ folder: this.folder, files: files.map(({ file, objects }) => ({ file, objects: objects.length })), errors, waiting });
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

  /** Takes away what no file names any more, or says why that waits. */
  private prune(wanted: readonly Wanted[], confirmed: boolean): WaitingRemoval | undefined {
    const named = new Set(wanted.map(({ key }) => idOf(key)));
    const gone = allApplied(this.context).filter(({ key }) => !named.has(idOf(key)));
    const waiting = confirmed ? undefined : this.tooMuch(gone);
    if (waiting !== undefined) return waiting;
    for (const { key, apiVersion, kind } of gone.toSorted((a, b) => Number(b.kind === "Pod") - Number(a.kind === "Pod"))) {
      const stored = this.context.store.get(key);
      const known = this.context.kinds.byKind(apiVersion, kind);
      const options = { gracePeriodSeconds: undefined, preconditions: undefined, orphanDependents: undefined, propagationPolicy: "Background", dryRun: [] };
      if (stored !== undefined && known !== undefined) removeStored(this.context, known, stored, options);
      forget(this.context, key);
      this.log.info("object left the manifests", { object: nameOf(kind, key) });
    }
    return undefined;
  }

  private tooMuch(gone: readonly Applied[]): WaitingRemoval | undefined {
    const live = gone.filter(({ key }) => this.context.store.get(key) !== undefined);
    const pods = live.filter(({ kind }) => kind === "Pod").length;
    const volumes = live.filter(({ key }) => isVolume(key)).length;
    const all = ["persistentvolumes", "persistentvolumeclaims"].reduce((sum, resource) => sum + this.context.store.list({ group: "", resource }).length, 0);
    const reasons = [
      ...(pods > maxPods ? [`${pods} pods would be torn down`] : []),
      ...(volumes > 0 && volumes * 2 > all ? [`${volumes} of ${all} volumes and claims would be removed`] : []),
    ];
    if (reasons.length === 0) return undefined;
    return { objects: live.map(({ kind, key }) => nameOf(kind, key)), pods, volumes, reason: reasons.join("; ") };
  }

  private publish(next: ManifestState): void {
    for (const { file, line, message } of next.errors) this.log.warn("manifest not applied", { file, line, message });
    const { waiting } = next;
    if (waiting && waiting.reason !== this.current.waiting?.reason) {
      const advice = "delete them with kubectl, or put the files back";
      this.log.warn("removed manifests wait for a person", { reason: waiting.reason, objects: waiting.objects.join(", "), advice });
    }
    this.current = next;
    for (const listener of [...this.listeners]) listener();
  }
}

function idOf(key: ObjectKey): string {
  return `${key.group}/${key.resource}/${objectId(key)}`;
}

function nameOf(kind: string, key: ObjectKey): string {
  return `${kind} ${objectId(key)}`;
}

function isVolume({ group, resource }: ObjectKey): boolean {
  return group === "" && (resource === "persistentvolumes" || resource === "persistentvolumeclaims");
}

/** What others refer to comes first, pods last. */
function rank({ kind }: Kind): number {
  const order = ["Namespace", "StorageClass", "CSIDriver", "Node", "PersistentVolume", "ConfigMap", "Secret", "PersistentVolumeClaim"];
  const at = order.indexOf(kind);
  if (kind === "Pod") return order.length + 1;
  return at < 0 ? order.length : at;
}
