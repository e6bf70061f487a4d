/** The fake plugins, probers and hosts that the goldens describe (finders, initPlugins). */
import type { PersistentVolumeSource, VolumeSource } from "@/lib/kube/volumes";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import {
  probeAddOrUpdate,
  probeRemove,
  type DynamicPluginProber,
  type PluginSources,
  type ProbeEvent,
  type VolumePlugin,
} from "@/server/volume/plugin";
import type { Clock, Log } from "@/server/volume/ports";
import type { Spec } from "@/server/volume/spec";

export interface FakePluginInput {
  readonly inst: string;
  readonly name: string;
  readonly sources: readonly string[];
  /** Names of Go methods. */
  readonly methods: readonly string[];
  readonly initErr?: string;
  readonly canAttach?: { readonly value: boolean; readonly err?: string };
  readonly canDeviceMount?: { readonly value: boolean; readonly err?: string };
}

export interface FakeProberInput {
  readonly initErr?: string;
  readonly probes?: readonly { readonly events: readonly FakeEventInput[] | null; readonly err?: string }[];
}

interface FakeEventInput {
  readonly op: string;
  readonly plugin?: FakePluginInput;
  readonly pluginName?: string;
}

/** What the fakes of one line did since it was last taken. */
export class FakeRecord {
  inits: { inst: string; host: string | null }[] = [];
  probes = 0;
  proberInits = 0;

  take(): { inits: { inst: string; host: string | null }[]; probes: number; proberInits: number } {
    const { inits, probes, proberInits } = this;
    [this.inits, this.probes, this.proberInits] = [[], 0, 0];
    return { inits, probes, proberInits };
  }
}

export interface FakePlugin extends VolumePlugin {
  readonly inst: string;
}

export function instanceOf(plugin: VolumePlugin): string {
  return "inst" in plugin && typeof plugin.inst === "string" ? plugin.inst : "";
}

export function fakePlugin(input: FakePluginInput, record: FakeRecord): FakePlugin {
  const notCalled = async (): Promise<never> => {
    throw new VolumeError(`${input.name}: not part of this fake`);
  };
  const plugin: FakePlugin = {
    inst: input.inst,
    sources: declaredSources(input.sources),
    async init(host) {
      record.inits.push({ inst: input.inst, host: host?.getNodeName() ?? null });
      if (input.initErr !== undefined) throw new VolumeError(input.initErr);
    },
    getPluginName: () => input.name,
    canSupport: (spec) => input.sources.includes("*") || kindsOf(spec).some((kind) => input.sources.includes(kind)),
    getVolumeName: notCalled,
    requiresRemount: async () => false,
    newMounter: notCalled,
    newUnmounter: notCalled,
    constructVolumeSpec: notCalled,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
  };
  return Object.assign(plugin, Object.fromEntries(input.methods.map((name) => [lowerFirst(name), methodOf(name, input)])));
}

function methodOf(name: string, input: FakePluginInput): () => unknown {
  if (name === "CanAttach") return () => said(input.canAttach);
  if (name === "CanDeviceMount") return () => said(input.canDeviceMount);
  if (name === "GetAccessModes") return () => [];
  return () => undefined;
}

async function said(answer: FakePluginInput["canAttach"]): Promise<boolean> {
  if (answer?.err !== undefined) throw new VolumeError(answer.err);
  return answer?.value ?? true;
}

/** `volume:<field>` for every source of the volume that is set, `pv:<field>` for those of the persistent volume. */
function kindsOf(spec: Spec): string[] {
  const set = (part: string, fields: object | undefined): string[] =>
    Object.entries(fields ?? {}).flatMap(([field, value]) => (value === null || value === undefined ? [] : [`${part}:${field}`]));
  return [...set("volume", spec.volume), ...set("pv", spec.persistentVolume?.spec)];
}

/** What a real plugin would declare, so that the published table's index is asked too. */
function declaredSources(kinds: readonly string[]): PluginSources | undefined {
  if (kinds.includes("*")) return undefined;
  const fieldsOf = (part: string): string[] => kinds.filter((kind) => kind.startsWith(part)).map((kind) => kind.slice(part.length));
  return {
    volume: fieldsOf("volume:") as (keyof VolumeSource)[],
    persistentVolume: fieldsOf("pv:") as (keyof PersistentVolumeSource)[],
  };
}

function lowerFirst(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/** The k-th probe gives the k-th entry, later ones nothing. */
export function fakeProber(input: FakeProberInput, record: FakeRecord): DynamicPluginProber {
  const left = [...(input.probes ?? [])];
  return {
    async init() {
      record.proberInits += 1;
      if (input.initErr !== undefined) throw new VolumeError(input.initErr);
    },
    async probe() {
      record.probes += 1;
      const probe = left.shift();
      const events = (probe?.events ?? []).map((event) => probeEvent(event, record));
      return { events, error: probe?.err === undefined ? undefined : new VolumeError(probe.err) };
    },
  };
}

function probeEvent(event: FakeEventInput, record: FakeRecord): ProbeEvent {
  const plugin = event.plugin && fakePlugin(event.plugin, record);
  return { plugin, pluginName: event.pluginName ?? "", op: operation(event.op) };
}

function operation(op: string): number {
  if (op === "AddOrUpdate") return probeAddOrUpdate;
  return op === "Remove" ? probeRemove : Number(op.replace("Unknown:", ""));
}

/** A host of which only its name is asked. */
export function namedHost(name: string): VolumeHost {
  return { getNodeName: () => name } as VolumeHost;
}

const quiet: Log = { info() {}, warn() {}, error() {} };
const stopped: Clock = { nowMs: () => 0, sleep: async () => {} };
export const stillPorts = { clock: stopped, log: quiet };
