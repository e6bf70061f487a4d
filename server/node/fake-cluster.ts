/** For tests: a cluster whose API is a map of objects, with the writes that a node makes. */
import { AppError } from "@/lib/errors";
import type { KubeObject } from "@/lib/kube/meta";
import { buildSnapshot, type StoreStates } from "@/server/cluster/build-snapshot";
import type { ClusterChange } from "@/server/cluster/cluster";
import { watchedKinds } from "@/server/cluster/resources";
import type { ClusterSnapshot, WatchedKind, WatchedKinds } from "@/server/cluster/snapshot";
import { ObjectStore } from "@/server/cluster/store";
import type { NodeClient } from "@/server/node/client";
import type { NodeCluster } from "@/server/node/node";

interface Write {
  readonly verb: "create" | "patch" | "replace" | "delete";
  readonly path: string;
  readonly body: unknown;
}

interface Target {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const pathForm = /^\/(?:api\/v1|apis\/storage\.k8s\.io\/v1)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;

export class FakeCluster implements NodeCluster {
  readonly writes: Write[] = [];
  readonly settled = Promise.resolve();
  /** Throws before a write is stored, when set. */
  refuse: ((write: Write) => Error | undefined) | undefined;
  private readonly stores = new Map<string, ObjectStore<KubeObject>>();
  private readonly objects = new Map<string, KubeObject>();
  private readonly listeners = new Set<(change: ClusterChange) => void>();
  private current: ClusterSnapshot | undefined;
  private version = 100;

  readonly client: NodeClient = {
    get: async <T>(path: string) => this.find(targetOf(path), path) as T,
    create: async <T>(path: string, body: unknown) => this.create(path, body as KubeObject) as T,
    replace: async <T>(path: string, body: unknown) => this.replace(path, body as KubeObject) as T,
    patch: async <T>(path: string, patch: { readonly body: unknown }) => this.patch(path, patch.body) as T,
    delete: async <T>(path: string, options?: { readonly body?: unknown }) => this.delete(path, options?.body) as T,
  };

  freshness() {
    return { kinds: watchedKinds.map((kind) => ({ kind, state: "live" as const, lastHeardMs: 1, sinceMs: 1, objects: 0 })) };
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  snapshot(): ClusterSnapshot {
    const states = Object.fromEntries(watchedKinds.map((kind) => [kind, this.store(kind).take()])) as unknown as StoreStates;
    this.current = buildSnapshot(this.current, states, 0);
    return this.current;
  }

  /** Adds or replaces an object, as another client would. */
  put<K extends WatchedKind>(kind: K, object: WatchedKinds[K]): WatchedKinds[K] {
    const metadata = { uid: `uid-${object.metadata.name ?? ""}`, ...object.metadata, resourceVersion: String((this.version += 1)) };
    return this.keep(kind, { ...object, metadata }) as WatchedKinds[K];
  }

  remove(kind: WatchedKind, namespace: string | undefined, name: string): void {
    const object = this.objects.get(keyOf({ kind, namespace, name }));
    if (!object) return;
    this.objects.delete(keyOf({ kind, namespace, name }));
    this.store(kind).remove(object);
    this.tell();
  }

  get<K extends WatchedKind>(kind: K, namespace: string | undefined, name: string): WatchedKinds[K] | undefined {
    return this.objects.get(keyOf({ kind, namespace, name })) as WatchedKinds[K] | undefined;
  }

  events(): readonly WatchedKinds["events"][] {
    return [...this.snapshot().eventsByUid.values()].flat();
  }

  private store(kind: string): ObjectStore<KubeObject> {
    const store = this.stores.get(kind) ?? new ObjectStore<KubeObject>();
    this.stores.set(kind, store);
    return store;
  }

  private keep(kind: string, object: KubeObject): KubeObject {
    const frozen = structuredClone(object);
    this.objects.set(keyOf({ kind, namespace: object.metadata.namespace, name: object.metadata.name }), frozen);
    this.store(kind).put(frozen);
    this.tell();
    return frozen;
  }

  private note(verb: Write["verb"], path: string, body: unknown): Target {
    const write = { verb, path, body };
    const refused = this.refuse?.(write);
    if (refused) throw refused;
    this.writes.push(write);
    return targetOf(path);
  }

  private find(target: Target, path: string): KubeObject {
    const object = this.objects.get(keyOf(target));
    if (!object) throw new AppError("not-found", `${target.kind} "${target.name ?? path}" not found`);
    return object;
  }

  private create(path: string, body: KubeObject): KubeObject {
    const target = this.note("create", path, body);
    if (target.subresource === "binding") {
      const pod = this.find(target, path) as WatchedKinds["pods"];
      const nodeName = (body as unknown as { target: { name: string } }).target.name;
      return this.keep("pods", this.bumped({ ...pod, spec: { ...pod.spec, nodeName } } as KubeObject));
    }
    const key = keyOf({ kind: target.kind, namespace: target.namespace, name: body.metadata.name });
    if (this.objects.has(key)) throw new AppError("conflict", `${target.kind} "${body.metadata.name ?? ""}" already exists`);
    const metadata = { ...body.metadata, namespace: target.namespace, uid: `uid-${body.metadata.name ?? ""}` };
    return this.keep(target.kind, this.bumped({ ...body, metadata }));
  }

  private replace(path: string, body: KubeObject): KubeObject {
    const target = this.note("replace", path, body);
    const known = this.find(target, path);
    if (body.metadata.resourceVersion !== undefined && body.metadata.resourceVersion !== known.metadata.resourceVersion) {
      throw new AppError("conflict", "the object has been modified");
    }
    return this.keep(target.kind, this.bumped(body));
  }

  private patch(path: string, body: unknown): KubeObject {
    const target = this.note("patch", path, body);
    const known = this.find(target, path);
    const expected = (body as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion;
    if (expected !== undefined && expected !== known.metadata.resourceVersion) throw new AppError("conflict", "the object has been modified");
    return this.keep(target.kind, this.bumped(merged(known, body) as KubeObject));
  }

  private delete(path: string, body: unknown): KubeObject {
    const target = this.note("delete", path, body);
    const known = this.find(target, path);
    this.remove(target.kind as WatchedKind, target.namespace, target.name ?? "");
    return known;
  }

  private bumped(object: KubeObject): KubeObject {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String((this.version += 1)) } };
  }

  private tell(): void {
    for (const listener of this.listeners) listener({ snapshot: this.snapshot(), kinds: new Set(watchedKinds), freshness: false });
  }
}

function targetOf(path: string): Target {
  const [, namespace, kind = "", name, subresource] = pathForm.exec(path) ?? [];
  if (kind === "") throw new Error(`the fake API does not know ${path}`);
  return { kind, namespace, name: name && decodeURIComponent(name), subresource };
}

function keyOf({ kind, namespace, name }: Pick<Target, "kind" | "namespace" | "name">): string {
  return `${kind}|${namespace ?? ""}|${name ?? ""}`;
}

/** A merge patch; lists of conditions merge by type, as a strategic one would have it. */
function merged(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch) && patch.length > 0 && patch.every(isTyped)) return mergedByType(Array.isArray(target) ? target.filter(isTyped) : [], patch);
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) continue;
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

interface Typed {
  readonly type: string;
  readonly $patch?: string;
}

function isTyped(item: unknown): item is Typed {
  return typeof item === "object" && item !== null && "type" in item && typeof item.type === "string";
}

function mergedByType(target: readonly Typed[], patch: readonly Typed[]): readonly unknown[] {
  const types = new Set(patch.map((item) => item.type));
  const changed = patch.filter((item) => item.$patch !== "delete").map((item) => merged(target.find((known) => known.type === item.type), item));
  return [...target.filter((item) => !types.has(item.type)), ...changed];
}
