/** The objects of one kind as the reflector last knew them, and which of them changed since somebody looked. */
import type { KubeObject } from "@/lib/kube/meta";
import { OverlayMap } from "@/server/cluster/overlay-map";
import type { ObjectKey } from "@/server/cluster/snapshot";

/** `<namespace>/<name>`, or the name alone. */
export function objectKey(object: KubeObject): ObjectKey {
  const { namespace, name = "" } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** All objects at one moment, never changed afterwards, and what stood before under each key that differs from the previous one. */
export interface StoreState<T> {
  readonly objects: ReadonlyMap<ObjectKey, T>;
  readonly changed: ReadonlyMap<ObjectKey, T | undefined>;
}

export class ObjectStore<T extends KubeObject> {
  private readonly objects = new Map<ObjectKey, T>();
  private changed = new Map<ObjectKey, T | undefined>();
  private last = OverlayMap.over<ObjectKey, T>(new Map());

  get size(): number {
    return this.objects.size;
  }

  /** False when this very version of this very object is there already. */
  put(object: T): boolean {
    const key = objectKey(object);
    const known = this.objects.get(key);
    if (known && sameVersion(known, object)) return false;
    this.note(key, known);
    this.objects.set(key, object);
    return true;
  }

  /** A late delete of an older object of the same name (another uid) removes nothing. */
  remove(object: T): boolean {
    const key = objectKey(object);
    const known = this.objects.get(key);
    if (!known || known.metadata.uid !== object.metadata.uid) return false;
    this.note(key, known);
    this.objects.delete(key);
    return true;
  }

  /** A complete list: what it does not hold is gone. Objects that did not change keep their identity. */
  replaceAll(objects: Iterable<T>): boolean {
    const listed = new Set<ObjectKey>();
    for (const object of objects) {
      listed.add(objectKey(object));
      this.put(object);
    }
    for (const [key, object] of this.objects) {
      if (listed.has(key)) continue;
      this.note(key, object);
      this.objects.delete(key);
    }
    return this.changed.size > 0;
  }

  /** For one reader: the second call says only what changed after the first. */
  take(): StoreState<T> {
    const changed = this.changed;
    if (changed.size > this.objects.size / 4) this.last = OverlayMap.over(new Map(this.objects));
    else if (changed.size > 0) this.last = this.last.with(Array.from(changed.keys(), (key) => [key, this.objects.get(key)]));
    this.changed = new Map();
    return { objects: this.last, changed };
  }

  private note(key: ObjectKey, before: T | undefined): void {
    if (!this.changed.has(key)) this.changed.set(key, before);
  }
}

function sameVersion(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
