/**
 * Objects that no manifest names any more. One goes only after two complete scans, some seconds apart, that both lack it: an editor
 * or a checkout leaves a folder half full for a moment. A removal of more than two pods or half of the volumes waits for a person.
 */
import type { WaitingObject, WaitingRemoval } from "@/lib/manifests";
import { metadataOf, textAt } from "./access";
import type { ServerContext } from "./context";
import { removeStored } from "./delete";
import { allApplied, forget, type Applied } from "./manifest-apply";
import type { Log } from "./server";
import { objectId, type ObjectKey } from "./store";

export const settledAfterMs = 3_000;
const maxPods = 2;

export interface RemovalScan {
  /** Ids of all objects that the files name. */
  readonly named: ReadonlySet<string>;
  /** False where a file or an object of it could not be read: what is missing then is not gone. */
  readonly complete: boolean;
  /** Uids that a person has seen and wants removed. */
  readonly confirmed: ReadonlySet<string>;
}

export class Removals {
  private readonly missingSinceMs = new Map<string, number>();
  private waiting: WaitingRemoval | undefined;

  constructor(
    private readonly context: ServerContext,
    private readonly log: Log,
  ) {}

  /** Removes what may go. Returns what waits for a person, and after what time another scan decides about the rest. */
  after(scan: RemovalScan): { waiting: WaitingRemoval | undefined; againInMs: number | undefined } {
    for (const id of scan.named) this.missingSinceMs.delete(id);
    if (!scan.complete) return { waiting: this.waiting, againInMs: undefined };
    const gone = allApplied(this.context).filter(({ key }) => !scan.named.has(idOf(key)));
    const confirmed = gone.filter((applied) => scan.confirmed.has(this.uidOf(applied)));
    this.remove(confirmed);
    const left = gone.filter((applied) => !confirmed.includes(applied));
    const againInMs = this.unsettledMs(left);
    if (againInMs !== undefined) {
      const shown = new Set(this.waiting?.objects.map(({ uid }) => uid));
      this.waiting = this.tooMuch(left.filter((applied) => shown.has(this.uidOf(applied))));
      return { waiting: this.waiting, againInMs };
    }
    this.waiting = this.tooMuch(left);
    if (this.waiting === undefined) this.remove(left);
    return { waiting: this.waiting, againInMs: undefined };
  }

  /** How long until all of them were missing for long enough; undefined when they were. */
  private unsettledMs(gone: readonly Applied[]): number | undefined {
    const nowMs = this.context.clock.nowMs();
    const missingForMs = gone.map(({ key }) => {
      // A clock that was set back since begins anew.
      const sinceMs = Math.min(this.missingSinceMs.get(idOf(key)) ?? nowMs, nowMs);
      this.missingSinceMs.set(idOf(key), sinceMs);
      return nowMs - sinceMs;
    });
    const shortest = Math.min(...missingForMs);
    return shortest < settledAfterMs ? settledAfterMs - shortest : undefined;
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
    return { objects: live.map((applied) => this.waitingObject(applied)), pods, volumes, reason: reasons.join("; ") };
  }

  private waitingObject(applied: Applied): WaitingObject {
    const { apiVersion, kind, file, key } = applied;
    return { apiVersion, kind, namespace: key.namespace, name: key.name, uid: this.uidOf(applied), file };
  }

  /** Empty where the object is gone already. */
  private uidOf({ key }: Applied): string {
    const stored = this.context.store.get(key);
    return stored === undefined ? "" : textAt(metadataOf(stored.object), "uid");
  }

  private remove(gone: readonly Applied[]): void {
    for (const { key, apiVersion, kind } of gone.toSorted((a, b) => Number(b.kind === "Pod") - Number(a.kind === "Pod"))) {
      const stored = this.context.store.get(key);
      const known = this.context.kinds.byKind(apiVersion, kind);
      const options = { gracePeriodSeconds: undefined, preconditions: undefined, orphanDependents: undefined, propagationPolicy: "Background", dryRun: [] };
      if (stored !== undefined && known !== undefined) removeStored(this.context, known, stored, options);
      forget(this.context, key);
      this.missingSinceMs.delete(idOf(key));
      this.log.info("object left the manifests", { object: nameOf(kind, key) });
    }
  }
}

export function idOf(key: ObjectKey): string {
  return `${key.group}/${key.resource}/${objectId(key)}`;
}

export function nameOf(kind: string, key: ObjectKey): string {
  return `${kind} ${objectId(key)}`;
}

function isVolume({ group, resource }: ObjectKey): boolean {
  return group === "" && (resource === "persistentvolumes" || resource === "persistentvolumeclaims");
}
