/**
 * A map that never changes and from which the next one is made cheaply: changes lie in a small layer over a large base, and only
 * when the layer has grown is everything copied once.
 */

const layerLimit = 4_096;
const gone = Symbol("gone");

export class OverlayMap<K, V> implements ReadonlyMap<K, V> {
  readonly size: number;

  private constructor(
    private readonly base: ReadonlyMap<K, V>,
    private readonly layer: ReadonlyMap<K, V | typeof gone>,
    size: number,
  ) {
    this.size = size;
  }

  /** The base must not be changed afterwards. */
  static over<K, V>(base: ReadonlyMap<K, V>): OverlayMap<K, V> {
    return new OverlayMap<K, V>(base, new Map(), base.size);
  }

  /** The map with these changes; `undefined` removes. This one stays as it is. */
  with(changes: Iterable<readonly [K, V | undefined]>): OverlayMap<K, V> {
    const layer = new Map(this.layer);
    let size = this.size;
    for (const [key, value] of changes) {
      const before = layer.has(key) ? layer.get(key) !== gone : this.base.has(key);
      if (value !== undefined) layer.set(key, value);
      else if (this.base.has(key)) layer.set(key, gone);
      else layer.delete(key);
      size += Number(value !== undefined) - Number(before);
    }
    const next = new OverlayMap<K, V>(this.base, layer, size);
    return layer.size > layerLimit ? OverlayMap.over(new Map(next)) : next;
  }

  get(key: K): V | undefined {
    const changed = this.layer.get(key);
    if (changed === undefined) return this.base.get(key);
    return changed === gone ? undefined : changed;
  }

  has(key: K): boolean {
    const changed = this.layer.get(key);
    return changed === undefined ? this.base.has(key) : changed !== gone;
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }

  /** In the order of the base, then what came since. */
  *entries(): MapIterator<[K, V]> {
    for (const [key, value] of this.base) {
      const changed = this.layer.get(key);
      if (changed === undefined) yield [key, value];
      else if (changed !== gone) yield [key, changed];
    }
    for (const [key, value] of this.layer) if (value !== gone && !this.base.has(key)) yield [key, value];
  }

  *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}
