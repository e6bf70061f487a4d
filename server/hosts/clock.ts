import { randomUUID } from "node:crypto";
import type { CancelSignal, Clock, Random } from "@/server/volume/ports";

/** What a cancelled wait throws; told by its code. */
export function abortError(): Error & { code: string } {
  return Object.assign(new Error("the operation was cancelled"), { name: "AbortError", code: "ABORT_ERR" });
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, signal),
};

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};

function sleep(ms: number, signal: CancelSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.reject(abortError());
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortError());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort);
  });
}
