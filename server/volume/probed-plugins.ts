/**
 * The plugins that a prober found, and how its events change them. Not locked: the manager calls it under its own lock.
 * Source: pkg/volume/plugins.go (refreshProbedPlugins, initProbedPlugin, dummyPluginProber).
 */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { isQualifiedName } from "@/lib/names";
import { nilDereference, VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import {
  probeAddOrUpdate,
  probeRemove,
  type DynamicPluginProber,
  type ProbeEvent,
  type ProbeFailure,
  type ProbeResult,
  type VolumePlugin,
} from "@/server/volume/plugin";
import type { PluginHistory } from "@/server/volume/plugin-history";
import type { ProbeRecord } from "@/server/volume/plugin-table";
import type { Clock, Log } from "@/server/volume/ports";

type ProbeOp = ProbeRecord["op"];

/** Finds nothing; stands in for a missing prober, and for good for one that could not be initialised. */
const dummyProber: DynamicPluginProber = {
  init: async () => {},
  probe: async () => ({ events: [] }),
};

export class ProbedPlugins {
  readonly plugins: ReadonlyMap<string, VolumePlugin>;

  private readonly found = new Map<string, VolumePlugin>();
  private readonly history: PluginHistory;
  private readonly clock: Clock;
  private readonly log: Log;
  private prober: DynamicPluginProber = dummyProber;

  constructor(history: PluginHistory, ports: { readonly clock: Clock; readonly log: Log }) {
    this.plugins = this.found;
    this.history = history;
    this.clock = ports.clock;
    this.log = ports.log;
  }

  /** Probes with this prober from now on. Returns the text of the error for which the dummy took its place. */
  async adopt(prober: DynamicPluginProber | undefined, onChange: () => void): Promise<string | undefined> {
    this.prober = prober ?? dummyProber;
    try {
      await this.prober.init();
    } catch (error) {
      this.log.error("Error initializing dynamic plugin prober", error);
      this.prober = dummyProber;
      return messageOf(error);
    }
    prober?.onChange?.(() => {
      if (this.prober === prober) onChange();
    });
    return undefined;
  }

  /**
   * Takes in what the prober has to tell. A driver that fails is logged and left out, and an instance of it from before stays. Throws
   * where Go crashes: an event without a plugin, other than a removal, and the rest of its batch is lost.
   */
  async refresh(host: VolumeHost | undefined): Promise<void> {
    const { events, error, failures = [] } = await this.probe();
    if (error !== undefined) this.log.error("Error dynamically probing plugins", error);
    if (error !== undefined && failures.length === 0) this.record("probe", "", { outcome: "failed", text: messageOf(error) });
    for (const failure of failures) this.failed(failure);
    for (const event of events) await this.takeIn(event, host);
  }

  private async probe(): Promise<ProbeResult> {
    try {
      return await this.prober.probe();
    } catch (error) {
      return { events: [], error };
    }
  }

  private async takeIn(event: ProbeEvent, host: VolumeHost | undefined): Promise<void> {
    if (event.op === probeRemove) return this.remove(event.pluginName);
    const known = event.op === probeAddOrUpdate;
    if (!event.plugin) {
      const error = nilDereference(`plugin of the probe event for ${goQuote(event.pluginName)}`);
      this.record(known ? "add or update" : "unknown", event.pluginName, { outcome: "failed", text: error.message });
      throw error;
    }
    if (known) return this.load(event.plugin, host);
    const name = event.plugin.getPluginName();
    this.log.error("Unknown Operation on PluginName.", undefined, { pluginName: name });
    this.record("unknown", name, { outcome: "ignored", text: `operation ${event.op} is not known` });
  }

  private remove(name: string): void {
    const outcome = this.found.delete(name) ? "removed" : "ignored";
    this.history.removed(name);
    this.record("remove", name, { outcome, text: "" });
  }

  private async load(plugin: VolumePlugin, host: VolumeHost | undefined): Promise<void> {
    const name = plugin.getPluginName();
    try {
      await initProbedPlugin(plugin, host);
    } catch (error) {
      this.log.error("Error initializing dynamically probed plugin", error, { pluginName: name });
      this.failed({ pluginName: name, path: plugin.about?.driverPath, message: messageOf(error) });
      return;
    }
    const outcome = this.found.has(name) ? "updated" : "loaded";
    this.found.set(name, plugin);
    this.history.loaded("probed", name, this.clock.nowMs());
    this.record("add or update", name, { outcome, text: "" });
  }

  private failed({ pluginName, path, message }: ProbeFailure): void {
    this.history.failed("probed", pluginName, { atMs: this.clock.nowMs(), error: message, path });
    this.record("add or update", pluginName, { outcome: "failed", text: message });
  }

  private record(op: ProbeOp, pluginName: string, what: Pick<ProbeRecord, "outcome" | "text">): void {
    this.history.probed({ op, pluginName, ...what }, this.clock.nowMs());
  }
}

/** The error of a plugin whose name is not a qualified name. */
export function invalidName(name: string): VolumeError | undefined {
  const messages = isQualifiedName(name);
  return messages.length === 0
    ? undefined
    : new VolumeError(`volume plugin has invalid name: ${goQuote(name)}: ${messages.join(";")}`);
}

async function initProbedPlugin(plugin: VolumePlugin, host: VolumeHost | undefined): Promise<void> {
  const name = plugin.getPluginName();
  const refusal = invalidName(name);
  if (refusal) throw refusal;
  try {
    await plugin.init(host);
  } catch (error) {
    throw new VolumeError(`failed to load volume plugin ${name}, error: ${messageOf(error)}`, "volume-error", error);
  }
}
