/** Measuring in this process: warm-ups, medians of rounds, and bytes that a call allocates. */

export interface Timing {
  readonly medianNs: number;
  readonly leastNs: number;
  readonly rounds: number;
}

export interface MeasureOptions {
  /** Calls in a round; enough of them for a round to last some milliseconds. */
  readonly calls: number;
  readonly rounds: number;
  readonly warmUps?: number;
}

/** `round` makes that many calls. A warm-up is a round that does not count. */
export async function timeOf(round: (calls: number) => unknown, { calls, rounds, warmUps = 3 }: MeasureOptions): Promise<Timing> {
  const perCall: number[] = [];
  for (let index = -warmUps; index < rounds; index += 1) {
    const begin = process.hrtime.bigint();
    await round(calls);
    const ns = Number(process.hrtime.bigint() - begin) / calls;
    if (index >= 0) perCall.push(ns);
  }
  return { medianNs: medianOf(perCall), leastNs: Math.min(...perCall), rounds };
}

/** Bytes of heap per call, the median of rounds so short that no collection falls into them. Needs --expose-gc. */
export function allocationOf(round: (calls: number) => unknown, { calls, rounds, warmUps = 3 }: MeasureOptions): number {
  const { gc } = globalThis;
  if (!gc) throw new Error("run node with --expose-gc");
  const perCall: number[] = [];
  for (let index = -warmUps; index < rounds; index += 1) {
    gc();
    const before = process.memoryUsage().heapUsed;
    round(calls);
    const bytes = process.memoryUsage().heapUsed - before;
    if (index >= 0) perCall.push(bytes / calls);
  }
  return medianOf(perCall);
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
