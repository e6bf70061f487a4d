/**
 * Keeps one kind fresh: list, then watch, for ever, until stopped. It never stops silently: every end, refusal and silence is
 * answered by another attempt, and shows in `freshness()`. Rules: a 410 (as HTTP status or event) lists again, anything else
 * resumes from the last version after a back-off; 90 s without a byte end a watch; Retry-After is honoured; one controller ends
 * everything.
 */
import { AppError, codeOf, messageOf } from "@/lib/errors";
import type { KubeObject, Status } from "@/lib/kube/meta";
import { ApiError, httpStatusOf, isApiError, isStatus } from "@/server/cluster/api-error";
import type { ListWatchClient } from "@/server/cluster/client";
import { LineSplitter } from "@/server/cluster/lines";
import type { ObjectParser } from "@/server/cluster/parse";
import type { KindFreshness, KindState, WatchedKind, WatchedKinds } from "@/server/cluster/snapshot";
import type { ObjectStore } from "@/server/cluster/store";
import { Backoff, type Clock, type Log, type Random } from "@/server/cluster/time";

const pageSize = 500;
const silenceMs = 90_000;
const maxEventLength = 32 * 1024 * 1024;
/** A watch that ended sooner and brought nothing is taken for a failure, so that a broken server is not hammered. */
const shortWatchMs = 1_000;

export interface ReflectorOptions<K extends WatchedKind> {
  readonly kind: K;
  readonly path: string;
  readonly client: ListWatchClient;
  readonly store: ObjectStore<WatchedKinds[K]>;
  readonly parse: ObjectParser<K>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Objects changed. Called often: coalesce. Whatever it throws is logged. */
  readonly onChange: () => void;
  /** The state (live, stale ...) changed. */
  readonly onState: () => void;
}

export interface Reflector {
  freshness(): KindFreshness;
  /** Resolves when the first list is complete, or the server said that it will not give one (forbidden, absent), or on stop. */
  readonly settled: Promise<void>;
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
}

export function startReflector<K extends WatchedKind>(options: ReflectorOptions<K>): Reflector {
  const reflector = new KindReflector(options);
  reflector.start();
  return reflector;
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

class KindReflector<K extends WatchedKind> implements Reflector {
  readonly settled: Promise<void>;
  private settle: () => void = () => undefined;
  private readonly controller = new AbortController();
  private readonly backoff: Backoff;
  private running: Promise<void> = Promise.resolve();
  private state: KindState = "loading";
  private reason: string | undefined;
  private sinceMs: number;
  private lastHeardMs: number | undefined;
  private failures = 0;
  private expiries = 0;
  private version: string | undefined;

  constructor(private readonly options: ReflectorOptions<K>) {
    this.backoff = new Backoff(options.random);
    this.sinceMs = options.clock.nowMs();
    this.settled = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  start(): void {
    this.running = this.run().finally(() => this.settle());
  }

  async stop(): Promise<void> {
    this.controller.abort();
    await this.running;
  }

  freshness(): KindFreshness {
    const { state, lastHeardMs, sinceMs, reason } = this;
    return { kind: this.options.kind, state, lastHeardMs, sinceMs, ...(reason === undefined ? {} : { reason }), objects: this.options.store.size };
  }

  private get stopped(): boolean {
    return this.controller.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      try {
        this.version ??= await this.list();
        await this.watch(this.version);
      } catch (error) {
        if (this.stopped) return;
        await this.afterFailure(error);
      }
    }
  }

  /** The whole collection in pages. A 410 between pages starts again: what was read so far is of no single moment. */
  private async list(): Promise<string> {
    const { client, path, parse, store, kind, log } = this.options;
    const objects: WatchedKinds[K][] = [];
    let rejected = 0;
    let resumeAt: string | undefined;
    let version: string;
    do {
      const page = await client.list<unknown>(path, { query: { limit: pageSize, continue: resumeAt }, signal: this.controller.signal });
      this.heard();
      for (const raw of page.items) {
        const object = parse(raw);
        if (object) objects.push(object);
        else rejected += 1;
      }
      version = page.metadata.resourceVersion ?? "";
      resumeAt = page.metadata.continue || undefined;
    } while (resumeAt !== undefined);
    if (version === "") throw new AppError("transient", `the list of ${kind} carries no resourceVersion`);
    if (rejected > 0) log.warn("objects without the fields of their kind were left out", { kind, rejected });
    if (this.stopped) return version;
    const changed = store.replaceAll(objects);
    this.becomeLive();
    if (changed) this.notify(this.options.onChange);
    this.settle();
    return version;
  }

  private async watch(from: string): Promise<void> {
    const { client, path, clock, random } = this.options;
    const startedMs = clock.nowMs();
    const controller = new AbortController();
    const stop = () => controller.abort();
    this.controller.signal.addEventListener("abort", stop);
    if (this.stopped) stop();
    const silence = this.endSilentWatch(controller);
    let events = 0;
    try {
      const query = {
        watch: true,
        allowWatchBookmarks: true,
        resourceVersion: from,
        timeoutSeconds: 240 + Math.floor(random.next() * 241),
      };
      const body = await client.stream(path, { query, signal: controller.signal });
      this.becomeLive();
      silence.byteCame();
      const lines = new LineSplitter(maxEventLength);
      for await (const chunk of body) {
        if (this.stopped) return;
        silence.byteCame();
        for (const line of lines.push(chunk)) {
          this.take(line);
          events += 1;
        }
      }
    } catch (error) {
      throw silence.expired() ? new AppError("transient", `nothing was heard for ${silenceMs / 1000} s`, { cause: error }) : error;
    } finally {
      silence.release();
      controller.abort();
      this.controller.signal.removeEventListener("abort", stop);
    }
    if (events === 0 && clock.nowMs() - startedMs < shortWatchMs) throw new AppError("transient", "the watch ended at once");
  }

  /** Aborts a watch that brings no byte, instead of trusting TCP to notice a dead peer. */
  private endSilentWatch(watch: AbortController) {
    const { clock } = this.options;
    const timer = new AbortController();
    let lastMs = clock.nowMs();
    let expired = false;
    const guard = async () => {
      for (;;) {
        const leftMs = lastMs + silenceMs - clock.nowMs();
        if (leftMs <= 0) break;
        await clock.sleep(leftMs, timer.signal);
      }
      expired = true;
      watch.abort();
    };
    guard().catch(() => undefined);
    return {
      byteCame: () => {
        lastMs = clock.nowMs();
      },
      expired: () => expired,
      release: () => timer.abort(),
    };
  }

  private take(line: string): void {
    const event = parseEvent(line);
    if (event.type === "ERROR") throw errorOfEvent(event.object);
    this.heard();
    this.backoff.reset();
    this.expiries = 0;
    const object = this.options.parse(event.object);
    const version = object?.metadata.resourceVersion ?? versionOf(event.object);
    if (version === undefined) throw new AppError("transient", `a watch event of type ${event.type} carries no resourceVersion`);
    this.version = version;
    if (event.type === "BOOKMARK") return;
    if (!object) {
      this.options.log.warn("an object without the fields of its kind was left out", { kind: this.options.kind });
      return;
    }
    if (this.apply(event.type, object)) this.notify(this.options.onChange);
  }

  private apply(type: string, object: WatchedKinds[K]): boolean {
    if (type === "DELETED") return this.options.store.remove(object);
    if (type === "ADDED" || type === "MODIFIED") return this.options.store.put(object);
    this.options.log.warn("a watch event of an unknown type was left out", { kind: this.options.kind, type });
    return false;
  }

  private async afterFailure(error: unknown): Promise<void> {
    this.failures += 1;
    const status = httpStatusOf(error);
    if (status === 410) {
      this.version = undefined;
      this.expiries += 1;
    }
    const reason = messageOf(error);
    const isNews = reason !== this.reason;
    this.become(this.stateAfter(status), reason);
    if (this.state === "forbidden" || this.state === "absent") this.settle();
    // The first 410 after an event is ordinary (history was compacted): list again at once.
    if (status === 410 && this.expiries === 1) return;
    const waitMs = Math.max(this.backoff.nextMs(), (isApiError(error) ? error.retryAfterMs : undefined) ?? 0);
    if (isNews) this.options.log.warn("reading again after a failure", { kind: this.options.kind, waitMs: Math.round(waitMs), reason });
    await this.pause(waitMs);
  }

  private stateAfter(status: number): KindState {
    if (status === 403) return "forbidden";
    if (status === 404) return "absent";
    if (this.failures > 1) return "stale";
    return this.lastHeardMs === undefined ? "loading" : "catching up";
  }

  private async pause(ms: number): Promise<void> {
    try {
      await this.options.clock.sleep(ms, this.controller.signal);
    } catch (error) {
      if (codeOf(error) !== "ABORT_ERR") throw error;
    }
  }

  private heard(): void {
    this.lastHeardMs = this.options.clock.nowMs();
  }

  private becomeLive(): void {
    this.heard();
    this.failures = 0;
    this.become("live", undefined);
  }

  private become(state: KindState, reason: string | undefined): void {
    this.reason = reason;
    if (this.state === state) return;
    this.state = state;
    this.sinceMs = this.options.clock.nowMs();
    this.notify(this.options.onState);
  }

  private notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.options.log.error("a listener of the reflector failed", error, { kind: this.options.kind });
    }
  }
}

function parseEvent(line: string): WatchEvent {
  const parsed: unknown = parseJson(line);
  if (typeof parsed === "object" && parsed !== null && "type" in parsed && typeof parsed.type === "string" && "object" in parsed) {
    return { type: parsed.type, object: parsed.object };
  }
  throw new AppError("transient", "a line of the watch is no event", { detail: line.slice(0, 300) });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new AppError("transient", "a line of the watch is not JSON", { detail: line.slice(0, 300), cause: error });
  }
}

function errorOfEvent(object: unknown): ApiError {
  const status: Status = isStatus(object) ? object : {};
  const seconds = status.details?.retryAfterSeconds;
  return new ApiError("transient", status.message ?? "the watch ended with an error", {
    httpStatus: typeof status.code === "number" ? status.code : status.reason === "Expired" ? 410 : 0,
    reason: status.reason ?? "",
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  });
}

function versionOf(object: unknown): string | undefined {
  const version = (object as Partial<KubeObject> | null)?.metadata?.resourceVersion;
  return typeof version === "string" && version !== "" ? version : undefined;
}
