/**
 * The published table of a plugin manager: what pages, `explain` and `matchAll` read, without lock or probe. Immutable; a manager
 * publishes a new one after each refresh that changed something. Times are milliseconds since 1970.
 */
import { interfacesOf, isPersistentPlugin, type ExtensionInterface, type VolumePlugin } from "@/server/volume/plugin";
import { PluginMatcher, type Match, type PluginOrigin } from "@/server/volume/plugin-matcher";
import type { Spec } from "@/server/volume/spec";

export interface Capabilities {
  readonly attach: boolean;
  readonly deviceMount: boolean;
  readonly mount: boolean;
  readonly block: boolean;
  /** Grows on the controller. */
  readonly expand: boolean;
  readonly nodeExpand: boolean;
  readonly resizeEphemeral: boolean;
  readonly recycle: boolean;
  readonly provision: boolean;
  readonly delete: boolean;
  readonly seLinuxMount: "yes" | "no" | "per driver";
  readonly mountOptions: boolean;
}

/** The columns of the capability matrix, in order. */
export const capabilityNames = [
  "attach",
  "deviceMount",
  "mount",
  "block",
  "expand",
  "nodeExpand",
  "resizeEphemeral",
  "recycle",
  "provision",
  "delete",
  "seLinuxMount",
  "mountOptions",
] as const satisfies readonly (keyof Capabilities)[];

export interface PluginRow {
  readonly name: string;
  readonly origin: PluginOrigin;
  readonly kind: "in-tree" | "FlexVolume";
  readonly interfaces: readonly ExtensionInterface[];
  /** Undefined for a driver of which no plugin could be made. */
  readonly capabilities?: Capabilities;
  readonly accessModes: readonly string[];
  /** `failed`: the last attempt to load it failed, for `error`. */
  readonly state: "ok" | "failed";
  /** Finders return it. A failed update of a probed plugin leaves the earlier instance serving. */
  readonly serving: boolean;
  readonly error?: string;
  readonly failedAtMs?: number;
  readonly loadedAtMs?: number;
  /** Where a probed driver lies on the host. */
  readonly path?: string;
  /** What its interfaces can't tell: a feature gate that is locked off, in a sentence. */
  readonly note?: string;
}

/** One call of initPlugins. */
export interface InitRecord {
  readonly atMs: number;
  /** Undefined for a nil host. */
  readonly nodeName?: string;
  readonly registered: readonly string[];
  readonly errors: readonly string[];
  /** Why the prober was replaced by one that finds nothing. */
  readonly proberError?: string;
}

/** One thing that a probe said, oldest first; the same thing said again in a row only raises `count` and `lastAtMs`. */
export interface ProbeRecord {
  /** Rises by one per record of this manager. */
  readonly id: number;
  readonly atMs: number;
  readonly lastAtMs: number;
  readonly count: number;
  readonly op: "add or update" | "remove" | "unknown" | "probe";
  /** "" where the record is about the probe as a whole. */
  readonly pluginName: string;
  readonly outcome: "loaded" | "updated" | "removed" | "failed" | "ignored";
  readonly text: string;
}

export interface PluginTable {
  /** Rises with each table of a manager; 0 before the first initPlugins. */
  readonly version: number;
  readonly publishedAtMs: number;
  /** The registered ones in their order, then the probed ones by name. */
  readonly rows: readonly PluginRow[];
  readonly inits: readonly InitRecord[];
  readonly probes: readonly ProbeRecord[];
  readonly matcher: PluginMatcher;
}

export const emptyTable: PluginTable = Object.freeze({
  version: 0,
  publishedAtMs: 0,
  rows: Object.freeze([]),
  inits: Object.freeze([]),
  probes: Object.freeze([]),
  matcher: new PluginMatcher([]),
});

/** The match of each spec, in their order. */
export function matchAll(table: PluginTable, specs: readonly Spec[]): Match[] {
  return specs.map((spec) => table.matcher.match(spec));
}

/** The row of a name; where a registered and a probed plugin share it, the registered one. */
export function rowOf(table: PluginTable, name: string): PluginRow | undefined {
  return table.rows.find((row) => row.name === name);
}

export function capabilitiesOf(plugin: VolumePlugin): Capabilities {
  const interfaces = new Set(interfacesOf(plugin));
  return {
    attach: interfaces.has("AttachableVolumePlugin"),
    deviceMount: interfaces.has("DeviceMountableVolumePlugin"),
    mount: true,
    block: interfaces.has("BlockVolumePlugin"),
    expand: interfaces.has("ExpandableVolumePlugin"),
    nodeExpand: interfaces.has("NodeExpandableVolumePlugin"),
    resizeEphemeral: interfaces.has("ResizableEphemeralVolumePlugin"),
    recycle: interfaces.has("RecyclableVolumePlugin"),
    provision: interfaces.has("ProvisionableVolumePlugin"),
    delete: interfaces.has("DeletableVolumePlugin"),
    seLinuxMount: plugin.about?.seLinuxMount ?? "no",
    mountOptions: plugin.supportsMountOption(),
  };
}

export interface LoadTimes {
  readonly origin: PluginOrigin;
  readonly loadedAtMs?: number;
  readonly failure?: { readonly atMs: number; readonly error: string; readonly path?: string };
}

/** The row of a plugin (undefined: a driver that never became one). */
export function rowOfPlugin(plugin: VolumePlugin | undefined, name: string, { origin, ...times }: LoadTimes): PluginRow {
  return Object.freeze({
    name,
    origin,
    kind: plugin?.about?.kind ?? (origin === "probed" ? "FlexVolume" : "in-tree"),
    interfaces: plugin ? interfacesOf(plugin) : [],
    capabilities: plugin && capabilitiesOf(plugin),
    accessModes: plugin && isPersistentPlugin(plugin) ? plugin.getAccessModes() : [],
    state: times.failure ? "failed" : "ok",
    serving: times.loadedAtMs !== undefined,
    error: times.failure?.error,
    failedAtMs: times.failure?.atMs,
    loadedAtMs: times.loadedAtMs,
    path: plugin?.about?.driverPath ?? times.failure?.path,
    note: plugin?.about?.note,
  });
}
