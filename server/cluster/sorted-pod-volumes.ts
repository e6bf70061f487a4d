/** A map over an array that is sorted by key: look-ups by bisection, so that a new snapshot need not copy a large map. */
import type { PodVolume } from "@/server/cluster/snapshot";

export class SortedPodVolumes implements ReadonlyMap<string, PodVolume> {
  constructor(private readonly sorted: readonly PodVolume[]) {}

  get size(): number {
    return this.sorted.length;
  }

  get(key: string): PodVolume | undefined {
    const found = this.sorted[firstAtOrAfter(this.sorted, key)];
    return found?.key === key ? found : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  forEach(callback: (value: PodVolume, key: string, map: ReadonlyMap<string, PodVolume>) => void): void {
    for (const volume of this.sorted) callback(volume, volume.key, this);
  }

  *entries(): MapIterator<[string, PodVolume]> {
    for (const volume of this.sorted) yield [volume.key, volume];
  }

  *keys(): MapIterator<string> {
    for (const volume of this.sorted) yield volume.key;
  }

  values(): MapIterator<PodVolume> {
    return this.sorted.values();
  }

  [Symbol.iterator](): MapIterator<[string, PodVolume]> {
    return this.entries();
  }
}

/** The index of the first volume whose key is not before the given one. */
export function firstAtOrAfter(sorted: readonly PodVolume[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
