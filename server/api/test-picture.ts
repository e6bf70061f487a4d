/** A small made-up cluster for tests of procedures: what a view answers, from plain lists of objects. */
import { kubectlWith } from "@/lib/kubectl";
import type { KubeObject } from "@/lib/kube/meta";
import type { NodeReport } from "@/lib/node-report";
import { AppError } from "@/lib/errors";
import type { ApiContext, ClusterSummary, ClusterView, PluginHost } from "@/server/api/context";
import { buildSnapshot, type StoreStates } from "@/server/cluster/build-snapshot";
import type { ClusterSnapshot, KindFreshness, WatchedKind, WatchedKinds } from "@/server/cluster/snapshot";
import { objectKey } from "@/server/cluster/store";
import type { VolumePlugin } from "@/server/volume/plugin";
import { PluginMatcher, type PluginOrigin } from "@/server/volume/plugin-matcher";
import { rowOfPlugin, type PluginTable } from "@/server/volume/plugin-table";
import type { Spec } from "@/server/volume/spec";

export const nowMs = Date.parse("2026-12-01T12:04:40Z");

export type Objects = { readonly [K in WatchedKind]?: readonly WatchedKinds[K][] };

const kinds: readonly WatchedKind[] = [
  "pods",
  "persistentvolumeclaims",
  "persistentvolumes",
  "storageclasses",
  "csidrivers",
  "csinodes",
  "volumeattachments",
  "nodes",
  "namespaces",
  "events",
];

export function snapshotOf(objects: Objects): ClusterSnapshot {
  const states = Object.fromEntries(
    kinds.map((kind) => {
      const listed: readonly KubeObject[] = objects[kind] ?? [];
      const byKey = new Map(listed.map((object) => [objectKey(object), object]));
      return [kind, { objects: byKey, changed: byKey }];
    }),
  );
  return buildSnapshot(undefined, states as unknown as StoreStates, nowMs);
}

export interface StubPlugin {
  readonly name: string;
  readonly origin?: PluginOrigin;
  readonly volume?: readonly string[];
  readonly persistentVolume?: readonly string[];
  readonly driver?: string;
  /** Extension methods it has. */
  readonly methods?: readonly string[];
  readonly failure?: string;
}

/** A published table of plugins that only know which specs they support. */
export function tableOf(plugins: readonly StubPlugin[], probes: PluginTable["probes"] = []): PluginTable {
  const made = plugins.map((stub) => ({ stub, plugin: stubPlugin(stub) }));
  const origin = (stub: StubPlugin): PluginOrigin => stub.origin ?? "registered";
  return {
    version: 1,
    publishedAtMs: nowMs,
    rows: made.map(({ stub, plugin }) =>
      stub.failure === undefined
        ? rowOfPlugin(plugin, stub.name, { origin: origin(stub), loadedAtMs: nowMs })
        : rowOfPlugin(undefined, stub.name, { origin: origin(stub), failure: { atMs: nowMs, error: stub.failure } }),
    ),
    inits: [{ atMs: nowMs, nodeName: "node1", registered: plugins.filter((stub) => origin(stub) === "registered").map(({ name }) => name), errors: [] }],
    probes,
    matcher: new PluginMatcher(
      made.flatMap(({ stub, plugin }) => (stub.failure === undefined ? [{ name: stub.name, origin: origin(stub), plugin }] : [])),
    ),
  };
}

function stubPlugin(stub: StubPlugin): VolumePlugin {
  const { volume = [], persistentVolume = [], driver } = stub;
  const refuse = (): never => {
    throw new Error(`${stub.name} is a stub`);
  };
  const sourceOf = (spec: Spec): unknown =>
    volume.map((field) => Reflect.get(spec.volume ?? {}, field)).find((source) => source !== undefined) ??
    persistentVolume.map((field) => Reflect.get(spec.persistentVolume?.spec ?? {}, field)).find((source) => source !== undefined);
  const methods = Object.fromEntries((stub.methods ?? []).map((method) => [method, refuse]));
  const plugin = {
    ...methods,
    init: refuse,
    getPluginName: () => stub.name,
    getVolumeName: refuse,
    canSupport: (spec: Spec) => {
      const source = sourceOf(spec);
      if (typeof source !== "object" || source === null) return false;
      return driver === undefined || ("driver" in source && source.driver === driver);
    },
    requiresRemount: refuse,
    newMounter: refuse,
    newUnmounter: refuse,
    constructVolumeSpec: refuse,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: refuse,
    sources: { volume, persistentVolume, driver } as VolumePlugin["sources"],
  };
  return plugin;
}

export interface Picture {
  readonly objects: Objects;
  readonly hosts?: readonly PluginHost[];
  readonly reports?: readonly NodeReport[];
  readonly summary?: Partial<ClusterSummary>;
  readonly freshness?: readonly KindFreshness[];
}

export function viewOf(picture: Picture): ClusterView & { change(topics: readonly ["volume"]): void } {
  const snapshot = snapshotOf(picture.objects);
  const listeners = new Set<Parameters<ClusterView["onChange"]>[0]>();
  const summary: ClusterSummary = {
    id: "testbed-1a2b3c",
    name: "testbed",
    mode: "live",
    server: "https://127.0.0.1:6443",
    version: "v1.37.2",
    simulated: false,
    insecure: false,
    ...picture.summary,
  };
  const freshness = picture.freshness ?? kinds.map((kind) => ({ kind, state: "live" as const, lastHeardMs: nowMs - 2000, sinceMs: nowMs - 60_000, objects: 1 }));
  return {
    summary,
    kubectl: kubectlWith(["--context", summary.name]),
    snapshot: () => snapshot,
    freshness: () => ({ kinds: freshness }),
    pluginHosts: () => picture.hosts ?? [],
    nodeReport: (name) => picture.reports?.find((report) => report.nodeName === name),
    getObject: ({ resource, namespace, name }) => {
      const listed: readonly KubeObject[] = kinds.filter((kind) => kind === resource).flatMap((kind) => objectsOf(picture.objects, kind));
      const found = listed.find((object) => object.metadata.name === name && object.metadata.namespace === namespace);
      return found ? Promise.resolve(found) : Promise.reject(new AppError("not-found", `${resource} "${name}" not found`));
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change: (topics) => listeners.forEach((listener) => listener({ version: 2, topics })),
  };
}

function objectsOf(objects: Objects, kind: WatchedKind): readonly KubeObject[] {
  return objects[kind] ?? [];
}

export function contextOf(view: ClusterView): ApiContext {
  return {
    person: { name: "ada" },
    nowMs: () => nowMs,
    isClosing: () => false,
    logInternal: () => "ref",
    clusters: {
      list: () => [view.summary],
      viewFor: (_person, id) => {
        if (id !== view.summary.id) throw new AppError("not-found", `There is no cluster ${id}`);
        return view;
      },
    },
  };
}
