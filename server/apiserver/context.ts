/** What every verb is handed: the store, the kinds, and the ports (clock, random, gates) of one embedded API server. */
import type { JsonObject } from "@/lib/kube/json";
import type { KindTable } from "./kinds";
import type { Store } from "./store";

export interface Clock {
  nowMs(): number;
  /** Resolves after the time; rejects at once when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface ServerContext {
  readonly store: Store;
  readonly kinds: KindTable;
  readonly clock: Clock;
  newUid(): string;
  /** Five letters and digits for generateName. */
  newSuffix(): string;
  /** The node that admission asks about. */
  findNode(name: string): JsonObject | undefined;
  /** Feature gates that differ from Kubernetes' defaults. */
  readonly gates: ReadonlyMap<string, boolean>;
  /** Every change is refused with 405. */
  readonly readOnly: boolean;
  /** Pods may have privileged containers. */
  readonly allowPrivileged: boolean;
  /** Objects go only into namespaces that exist and are not being deleted. */
  readonly checkNamespaces: boolean;
  /** A pod that names no service account gets `default`; there are no accounts, and no token is mounted. */
  readonly defaultServiceAccount: boolean;
  /** What a client is told to wait when it asks for a revision that is not reached yet; 0: nothing. */
  readonly retryTooLargeSeconds: number;
}

/** One request's answer. `stream` takes over the connection: each text is sent as it comes. */
export interface ApiResponse {
  readonly code: number;
  readonly contentType: string;
  readonly body: string;
  readonly warnings: readonly string[];
  readonly retryAfter?: string;
  readonly stream?: WatchStream;
  /** The body as an object, for tests that compare values. */
  readonly object?: JsonObject;
}

export interface WatchStream {
  /** Calls `send` for every event until it ends; resolves at the end. */
  run(send: (text: string) => void, signal: AbortSignal): Promise<void>;
}

export function nowText(context: Pick<ServerContext, "clock">): string {
  return new Date(context.clock.nowMs()).toISOString().replace(/\.\d{3}Z$/u, "Z");
}
