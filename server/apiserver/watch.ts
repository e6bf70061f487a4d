/**
 * WATCH: initial events, the log since a revision, then changes as they come, until the client leaves or the time is over.
 * Source: k8s.io/apiserver/pkg/endpoints/handlers/watch.go and pkg/storage/cacher.
 */
import { canonical } from "@/lib/kube/go-decode";
import { newObject, stringifyJson, type JsonObject } from "@/lib/kube/json";
import type { ServerContext, WatchStream } from "./context";
import { apiVersionOf } from "./kinds";
import type { ListOptions } from "./options";
import type { Target } from "./request";
import { statusObject, transform, type Reply } from "./respond";
import { parseResourceVersion } from "./resource-version";
import { selects, type Selectors } from "./selection";
import { unknownError, expired } from "./status";
import type { Change } from "./store";

const bookmarkMs = 60_000;
/** A real server ends a watch without timeoutSeconds after 30 to 60 minutes. */
const longestMs = 45 * 60_000;

export interface WatchRequest {
  readonly reply: Reply;
  readonly target: Target;
  readonly options: ListOptions;
  readonly selectors: Selectors;
}

/** Throws ApiError 400 for a revision that is no number; a revision that is too old is told in the stream, as a real server does. */
export function watchObjects(request: WatchRequest): WatchStream {
  const from = parseResourceVersion(request.options.resourceVersion, unknownError);
  return { run: (send, signal) => new Watch(request, send).run(Number(from), signal) };
}

class Watch {
  private readonly context: ServerContext;
  private headersSent = false;
  /** Changes at or below this revision have been told. */
  private told = 0;

  constructor(
    private readonly request: WatchRequest,
    private readonly write: (text: string) => void,
  ) {
    this.context = request.reply.context;
  }

  async run(from: number, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal.addEventListener("abort", end);
    const unsubscribe = this.start(from);
    if (unsubscribe === undefined || signal.aborted) return;
    try {
      await this.untilEnd(ended.signal);
    } finally {
      unsubscribe();
      signal.removeEventListener("abort", end);
    }
  }

  /** Tells what has happened already and listens; undefined when the revision is too old and the stream ends. */
  private start(from: number): (() => void) | undefined {
    const { store } = this.context;
    const { options, target } = this.request;
    const initial = options.sendInitialEvents === true;
    if (!initial && from > 0 && from < store.oldestRevision) {
      this.sendError(from);
      return undefined;
    }
    if (initial || from === 0) {
      this.told = store.revision;
      if (options.sendInitialEvents !== false) this.sendInitial();
    } else {
      this.told = from;
      for (const change of store.changesSince(from, target.kind)) this.tell(change);
    }
    return store.subscribe((change) => this.tell(change));
  }

  private sendInitial(): void {
    const { target, selectors, options } = this.request;
    for (const { object } of this.context.store.list(target.kind, target.namespace)) {
      if (this.isMine(object) && selects(selectors, object)) this.send("ADDED", object);
    }
    if (options.allowWatchBookmarks && this.askedForInitialEvents()) this.sendBookmark(true);
  }

  /** The end of the initial events is marked only where the client itself asked for them. */
  private askedForInitialEvents(): boolean {
    return this.request.reply.query.has("sendInitialEvents");
  }

  private async untilEnd(signal: AbortSignal): Promise<void> {
    const { options } = this.request;
    const seconds = Number(options.timeoutSeconds ?? 0n);
    const endMs = this.context.clock.nowMs() + (seconds > 0 ? seconds * 1000 : longestMs);
    for (;;) {
      const leftMs = endMs - this.context.clock.nowMs();
      if (leftMs <= 0 || signal.aborted) return;
      try {
        await this.context.clock.sleep(Math.min(leftMs, bookmarkMs), signal);
      } catch {
        return;
      }
      if (options.allowWatchBookmarks && endMs > this.context.clock.nowMs()) this.sendBookmark(false);
    }
  }

  private tell(change: Change): void {
    const { target, selectors } = this.request;
    if (change.revision <= this.told) return;
    if (change.key.resource !== target.kind.resource || change.key.group !== target.kind.group) return;
    this.told = change.revision;
    if (target.namespace !== "" && change.key.namespace !== target.namespace) return;
    if (target.name !== "" && change.key.name !== target.name) return;
    const now = change.type !== "DELETED" && selects(selectors, change.object);
    const before = change.previous !== undefined && selects(selectors, change.previous);
    if (now) this.send(before ? "MODIFIED" : "ADDED", change.object);
    else if (before) this.send("DELETED", change.type === "DELETED" ? change.object : atRevision(change));
  }

  private isMine(object: JsonObject): boolean {
    const { name } = this.request.target;
    const metadata = object["metadata"];
    return name === "" || (typeof metadata === "object" && metadata !== null && !Array.isArray(metadata) && metadata["name"] === name);
  }

  private send(type: string, object: JsonObject): void {
    const shown = transform(this.request.reply, object, this.headersSent);
    this.headersSent = true;
    this.frame(type, shown);
  }

  private sendBookmark(endOfInitial: boolean): void {
    const { kind } = this.request.target;
    const metadata = newObject([["resourceVersion", String(this.context.store.revision)]]);
    if (endOfInitial) metadata["annotations"] = newObject([["k8s.io/initial-events-end", "true"]]);
    const object = newObject([["kind", kind.kind], ["apiVersion", apiVersionOf(kind)], ["metadata", metadata]]);
    const typed = kind.type === undefined ? object : canonical(kind.type, object);
    this.frame("BOOKMARK", transform(this.request.reply, typed, true));
  }

  private sendError(from: number): void {
    const error = expired(`too old resource version: ${from} (${this.context.store.oldestRevision})`);
    this.frame("ERROR", statusObject(error.status));
  }

  private frame(type: string, object: JsonObject): void {
    this.write(`${stringifyJson(newObject([["type", type], ["object", object]]))}\n`);
  }
}

/** An object that no longer matches is told as deleted: its last matching state, at the revision of the change. */
function atRevision(change: Change): JsonObject {
  const previous = change.previous ?? newObject();
  const metadata = previous["metadata"];
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return previous;
  const moved = newObject([...Object.entries(metadata)]);
  moved["resourceVersion"] = String(change.revision);
  return newObject([...Object.entries(previous).map(([key, value]): [string, typeof value] => [key, key === "metadata" ? moved : value])]);
}
