/**
 * One cluster, kept fresh: a reflector per kind, their changes gathered into immutable snapshots at most twice a second, and
 * the client for reads of single objects and for writes.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { createApiClient, type ApiClient } from "@/server/cluster/client";
import { openConnection } from "@/server/cluster/connection";
import { buildSnapshot, type StoreStates } from "@/server/cluster/build-snapshot";
import type { ClusterContext } from "@/server/cluster/kubeconfig";
import { objectParser } from "@/server/cluster/parse";
import { startReflector, type Reflector } from "@/server/cluster/reflector";
import { resourcePath, watchedKinds } from "@/server/cluster/resources";
import type { ClusterSnapshot, Freshness, WatchedKind, WatchedKinds } from "@/server/cluster/snapshot";
import { ObjectStore } from "@/server/cluster/store";
import { Backoff, systemClock, systemRandom, type Clock, type Log, type Random } from "@/server/cluster/time";

/** The least time between two snapshots. */
const snapshotEveryMs = 500;
const versionEveryMs = 600_000;

export interface ClusterOptions {
  readonly context: ClusterContext;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Keep objects whole, managedFields aside: a node needs what its pods' volumes show of them. Default false. */
  readonly whole?: boolean;
}

/** What `/version` answers, in the parts that are read. */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
}

export interface ClusterChange {
  readonly snapshot: ClusterSnapshot;
  /** Kinds of which objects changed. */
  readonly kinds: ReadonlySet<WatchedKind>;
  /** How fresh a kind is changed, or the server's version became known. */
  readonly freshness: boolean;
}

export interface Cluster {
  readonly context: ClusterContext;
  readonly client: ApiClient;
  snapshot(): ClusterSnapshot;
  freshness(): Freshness;
  /** undefined until the server answered. */
  serverVersion(): ServerVersion | undefined;
  /** Resolves when every kind was listed once, or was refused or is unknown to the server; the snapshot then holds all. */
  readonly settled: Promise<void>;
  /** At most twice a second. Returns the way to stop. */
  onChange(listener: (change: ClusterChange) => void): () => void;
  close(): Promise<void>;
}

/** Starts to read at once and never fails for a server that can't be reached: see `freshness()`. */
export function openCluster(options: ClusterOptions): Cluster {
  const cluster = new OpenCluster(options);
  cluster.start();
  return cluster;
}

type Stores = { readonly [K in WatchedKind]: ObjectStore<WatchedKinds[K]> };

class OpenCluster implements Cluster {
  readonly context: ClusterContext;
  readonly client: ApiClient;
  settled: Promise<void> = Promise.resolve();
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly stores: Stores;
  private reflectors: readonly Reflector[] = [];
  private readonly listeners = new Set<(change: ClusterChange) => void>();
  private readonly controller = new AbortController();
  private current: ClusterSnapshot;
  private changedKinds = new Set<WatchedKind>();
  private freshnessChanged = false;
  private flushing: Promise<void> | undefined;
  private version: ServerVersion | undefined;
  private asking: Promise<void> = Promise.resolve();

  constructor(private readonly options: ClusterOptions) {
    this.context = options.context;
    this.client = createApiClient(openConnection(options.context));
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? systemRandom;
    this.stores = newStores();
    this.current = buildSnapshot(undefined, takeAll(this.stores), this.clock.nowMs());
  }

  start(): void {
    this.reflectors = watchedKinds.map((kind) => this.reflect(kind));
    this.settled = Promise.all(this.reflectors.map((reflector) => reflector.settled)).then(() => this.publish());
    this.asking = this.askVersion();
  }

  snapshot(): ClusterSnapshot {
    return this.current;
  }

  freshness(): Freshness {
    return { kinds: this.reflectors.map((reflector) => reflector.freshness()) };
  }

  serverVersion(): ServerVersion | undefined {
    return this.version;
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.controller.abort();
    this.listeners.clear();
    await Promise.all(this.reflectors.map((reflector) => reflector.stop()));
    await Promise.all([this.flushing, this.asking]);
    await this.client.close();
  }

  private reflect<K extends WatchedKind>(kind: K): Reflector {
    const { log, whole } = this.options;
    return startReflector<K>({
      kind,
      path: resourcePath(kind),
      client: this.client,
      store: this.stores[kind] as ObjectStore<WatchedKinds[K]>,
      parse: objectParser(kind, whole === undefined ? {} : { whole }),
      clock: this.clock,
      random: this.random,
      log,
      onChange: () => {
        this.changedKinds.add(kind);
        this.flushSoon();
      },
      onState: () => {
        this.freshnessChanged = true;
        this.flushSoon();
      },
    });
  }

  /** The first change after a quiet time is published at once, those that follow together half a second later. */
  private flushSoon(): void {
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
      if (this.isDirty && !this.controller.signal.aborted) this.flushSoon();
    });
  }

  private get isDirty(): boolean {
    return this.changedKinds.size > 0 || this.freshnessChanged;
  }

  private async flush(): Promise<void> {
    await Promise.resolve();
    this.publish();
    await this.pause(snapshotEveryMs);
  }

  private publish(): void {
    if (!this.isDirty || this.controller.signal.aborted) return;
    const kinds = this.changedKinds;
    const freshness = this.freshnessChanged;
    this.changedKinds = new Set();
    this.freshnessChanged = false;
    if (kinds.size > 0) this.current = buildSnapshot(this.current, takeAll(this.stores), this.clock.nowMs());
    for (const listener of this.listeners) this.tell(listener, { snapshot: this.current, kinds, freshness });
  }

  private tell(listener: (change: ClusterChange) => void, change: ClusterChange): void {
    try {
      listener(change);
    } catch (error) {
      this.options.log.error("a listener of the cluster failed", error, { cluster: this.context.name });
    }
  }

  private async askVersion(): Promise<void> {
    const backoff = new Backoff(this.random);
    while (!this.controller.signal.aborted) {
      try {
        const answer = await this.client.get<unknown>("/version", { signal: this.controller.signal });
        this.learnVersion(answer);
        backoff.reset();
        await this.pause(versionEveryMs);
      } catch (error) {
        if (this.controller.signal.aborted) return;
        this.options.log.warn("the version of the server is not known", { cluster: this.context.name, reason: messageOf(error) });
        await this.pause(backoff.nextMs());
      }
    }
  }

  private learnVersion(answer: unknown): void {
    const version = parseVersion(answer);
    if (!version || version.gitVersion === this.version?.gitVersion) return;
    this.version = version;
    this.freshnessChanged = true;
    this.flushSoon();
  }

  private async pause(ms: number): Promise<void> {
    try {
      await this.clock.sleep(ms, this.controller.signal);
    } catch (error) {
      if (codeOf(error) !== "ABORT_ERR") throw error;
    }
  }
}

function parseVersion(answer: unknown): ServerVersion | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const text = (name: string) => {
    const value: unknown = Reflect.get(answer, name);
    return typeof value === "string" ? value : "";
  };
  const gitVersion = text("gitVersion");
  return gitVersion === "" ? undefined : { major: text("major"), minor: text("minor"), gitVersion };
}

function newStores(): Stores {
  return {
    pods: new ObjectStore(),
    persistentvolumeclaims: new ObjectStore(),
    persistentvolumes: new ObjectStore(),
    storageclasses: new ObjectStore(),
    csidrivers: new ObjectStore(),
    csinodes: new ObjectStore(),
    volumeattachments: new ObjectStore(),
    nodes: new ObjectStore(),
    namespaces: new ObjectStore(),
    events: new ObjectStore(),
  };
}

function takeAll(stores: Stores): StoreStates {
  return {
    pods: stores.pods.take(),
    persistentvolumeclaims: stores.persistentvolumeclaims.take(),
    persistentvolumes: stores.persistentvolumes.take(),
    storageclasses: stores.storageclasses.take(),
    csidrivers: stores.csidrivers.take(),
    csinodes: stores.csinodes.take(),
    volumeattachments: stores.volumeattachments.take(),
    nodes: stores.nodes.take(),
    namespaces: stores.namespaces.take(),
    events: stores.events.take(),
  };
}
