/**
 * What a plugin manager remembers for its published table: when each plugin was loaded, which failed and why, the calls of initPlugins,
 * and the last probe events.
 */
import type { PluginOrigin } from "@/server/volume/plugin-matcher";
import type { InitRecord, LoadTimes, ProbeRecord } from "@/server/volume/plugin-table";

const keptProbes = 200;
const keptInits = 20;

type Failure = NonNullable<LoadTimes["failure"]>;

export class PluginHistory {
  /** Rises whenever there is something new to publish. */
  revision = 0;

  private readonly loadedAt: Record<PluginOrigin, Map<string, number>> = { registered: new Map(), probed: new Map() };
  private readonly failures: Record<PluginOrigin, Map<string, Failure>> = { registered: new Map(), probed: new Map() };
  private inits: readonly InitRecord[] = [];
  private probes: readonly ProbeRecord[] = [];
  private lastId = 0;

  loaded(origin: PluginOrigin, name: string, atMs: number): void {
    this.loadedAt[origin].set(name, atMs);
    this.failures[origin].delete(name);
  }

  failed(origin: PluginOrigin, name: string, failure: Failure): void {
    this.failures[origin].set(name, failure);
  }

  removed(name: string): void {
    this.loadedAt.probed.delete(name);
    this.failures.probed.delete(name);
  }

  timesOf(origin: PluginOrigin, name: string): LoadTimes {
    return { origin, loadedAtMs: this.loadedAt[origin].get(name), failure: this.failures[origin].get(name) };
  }

  namesOfFailed(origin: PluginOrigin): readonly string[] {
    return [...this.failures[origin].keys()];
  }

  initialised(record: InitRecord): void {
    this.inits = [...this.inits, Object.freeze(record)].slice(-keptInits);
    this.revision += 1;
  }

  /** A driver that goes on failing in the same way is one record with a count, and nothing new. */
  probed(said: Omit<ProbeRecord, "id" | "atMs" | "lastAtMs" | "count">, atMs: number): void {
    const last = this.probes.findLast(({ pluginName }) => pluginName === said.pluginName);
    if (last && said.outcome === "failed" && last.outcome === "failed" && last.text === said.text) {
      const again = Object.freeze({ ...last, lastAtMs: atMs, count: last.count + 1 });
      this.probes = this.probes.map((record) => (record === last ? again : record));
      return;
    }
    this.lastId += 1;
    this.revision += 1;
    this.probes = [...this.probes, Object.freeze({ id: this.lastId, atMs, lastAtMs: atMs, count: 1, ...said })].slice(-keptProbes);
  }

  records(): { readonly inits: readonly InitRecord[]; readonly probes: readonly ProbeRecord[] } {
    return { inits: Object.freeze([...this.inits]), probes: Object.freeze([...this.probes]) };
  }
}
