/**
 * VolumePluginManager: the registered and the probed plugins of one host, and the finders over them. Everything that probes runs
 * under one lock, as in Go; `published` is for pages and waits for nothing.
 * Source: pkg/volume/plugins.go (VolumePluginMgr): order of checks, error texts, what is nothing and what is an error.
 */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { compareText } from "@/lib/names";
import { AtMostEvery } from "@/server/volume/at-most-every";
import { AsyncLock } from "@/server/volume/async-lock";
import { aggregate, isNoPluginMatched, nilDereference, VolumeError } from "@/server/volume/errors";
import { isKubeletVolumeHost, type VolumeHost } from "@/server/volume/host";
import { NoopExpandableVolumePlugin } from "@/server/volume/noop-expandable-plugin";
import {
  isAttachablePlugin,
  isBlockPlugin,
  isDeletablePlugin,
  isDeviceMountablePlugin,
  isExpandablePlugin,
  isNodeExpandablePlugin,
  isPersistentPlugin,
  isProvisionablePlugin,
  isRecyclablePlugin,
  type AttachableVolumePlugin,
  type BlockVolumePlugin,
  type DeletableVolumePlugin,
  type DeviceMountableVolumePlugin,
  type DynamicPluginProber,
  type ExpandableVolumePlugin,
  type NodeExpandableVolumePlugin,
  type PersistentVolumePlugin,
  type ProvisionableVolumePlugin,
  type RecyclableVolumePlugin,
  type VolumePlugin,
} from "@/server/volume/plugin";
import { PluginHistory } from "@/server/volume/plugin-history";
import { errorOf, matchOf, PluginMatcher, type PluginEntry, type PluginOrigin } from "@/server/volume/plugin-matcher";
import { emptyTable, rowOfPlugin, type PluginRow, type PluginTable } from "@/server/volume/plugin-table";
import type { CancelSignal, Clock, Log } from "@/server/volume/ports";
import { invalidName, ProbedPlugins } from "@/server/volume/probed-plugins";
import { goSyntaxOf, isKubeletExpandable, type Spec } from "@/server/volume/spec";

const requestedRefreshIntervalMs = 1_000;

export class VolumePluginManager {
  host: VolumeHost | undefined;

  private readonly clock: Clock;
  private readonly log: Log;
  private readonly lock = new AsyncLock();
  private readonly history = new PluginHistory();
  private readonly plugins = new Map<string, VolumePlugin>();
  private readonly probed: ProbedPlugins;
  private table: PluginTable = emptyTable;
  private readonly listeners = new Set<(table: PluginTable) => void>();
  private readonly requestedRefreshes: AtMostEvery;

  constructor(ports: { readonly clock: Clock; readonly log: Log }) {
    this.clock = ports.clock;
    this.log = ports.log;
    this.probed = new ProbedPlugins(this.history, ports);
    this.requestedRefreshes = new AtMostEvery(requestedRefreshIntervalMs, ports.clock);
  }

  /**
   * Registers plugins and initialises each with the host. A second call adds to the same plugins and replaces host and prober.
   * Throws AggregatedError with what failed; the other plugins work all the same.
   */
  initPlugins(
    plugins: readonly VolumePlugin[],
    prober: DynamicPluginProber | undefined,
    host: VolumeHost | undefined,
  ): Promise<void> {
    return this.lock.run(async () => {
      this.host = host;
      const proberError = await this.probed.adopt(prober, () => this.requestRefresh());
      const errors: unknown[] = [];
      for (const plugin of plugins) {
        const error = await this.register(plugin);
        if (error !== undefined) errors.push(error);
      }
      this.history.initialised({
        atMs: this.clock.nowMs(),
        nodeName: host?.getNodeName(),
        registered: plugins.map((plugin) => plugin.getPluginName()),
        errors: errors.map(messageOf),
        proberError,
      });
      this.publish();
      await this.refreshProbedPlugins();
      const failed = aggregate(errors);
      if (failed) throw failed;
    });
  }

  private async register(plugin: VolumePlugin): Promise<unknown> {
    const name = plugin.getPluginName();
    const refusal = invalidName(name) ?? this.registeredBefore(name);
    if (refusal) return this.notRegistered(name, refusal);
    try {
      await plugin.init(this.host);
    } catch (error) {
      this.log.error("Failed to load volume plugin", error, { pluginName: name });
      return this.notRegistered(name, error);
    }
    this.plugins.set(name, plugin);
    this.history.loaded("registered", name, this.clock.nowMs());
    return undefined;
  }

  private registeredBefore(name: string): VolumeError | undefined {
    if (!this.plugins.has(name)) return undefined;
    return new VolumeError(`volume plugin ${goQuote(name)} was registered more than once`);
  }

  private notRegistered(name: string, error: unknown): unknown {
    if (!this.plugins.has(name)) {
      this.history.failed("registered", name, { atMs: this.clock.nowMs(), error: messageOf(error) });
    }
    return error;
  }

  private async refreshProbedPlugins(): Promise<void> {
    const before = this.history.revision;
    try {
      await this.probed.refresh(this.host);
    } finally {
      if (this.history.revision !== before) this.publish();
    }
  }

  /** The one plugin that supports the spec; throws when there is none (`no-plugin-matched`) or several. */
  findPluginBySpec(spec: Spec | undefined): Promise<VolumePlugin> {
    return this.lock.run(async () => {
      if (!spec) throw new VolumeError("could not find plugin because volume spec is nil");
      const supporting = (entries: readonly PluginEntry[]): PluginEntry[] => entries.filter(({ plugin }) => plugin.canSupport(spec));
      const registered = supporting(entriesOf("registered", this.plugins));
      await this.refreshProbedPlugins();
      const match = matchOf([...registered, ...supporting(entriesOf("probed", this.probed.plugins))]);
      if (match.outcome === "found") return match.entry.plugin;
      throw errorOf(match);
    });
  }

  findPluginByName(name: string): Promise<VolumePlugin> {
    return this.lock.run(async () => {
      const registered = this.plugins.get(name);
      await this.refreshProbedPlugins();
      const probed = this.probed.plugins.get(name);
      if (registered && probed) {
        const names = `${registered.getPluginName()} and ${probed.getPluginName()}`;
        throw new VolumeError(`multiple volume plugins matched: ${names}`);
      }
      const match = registered ?? probed;
      if (!match) throw new VolumeError(`no volume plugin matched name: ${name}`);
      return match;
    });
  }

  /** Hides why no plugin was found, as the real one does. */
  async findPersistentPluginBySpec(spec: Spec | undefined): Promise<PersistentVolumePlugin> {
    const plugin = await this.findPluginBySpec(spec).catch((error: unknown) => {
      throw new VolumeError(`could not find volume plugin for spec: ${goSyntaxOf(spec)}`, "volume-error", error);
    });
    return required(plugin, isPersistentPlugin, "persistent");
  }

  async findPersistentPluginByName(name: string): Promise<PersistentVolumePlugin> {
    return required(await this.findPluginByName(name), isPersistentPlugin, "persistent");
  }

  async findRecyclablePluginBySpec(spec: Spec | undefined): Promise<RecyclableVolumePlugin> {
    return required(await this.findPluginBySpec(spec), isRecyclablePlugin, "recyclable");
  }

  async findProvisionablePluginByName(name: string): Promise<ProvisionableVolumePlugin> {
    return required(await this.findPluginByName(name), isProvisionablePlugin, "provisionable");
  }

  async findDeletablePluginBySpec(spec: Spec | undefined): Promise<DeletableVolumePlugin> {
    return required(await this.findPluginBySpec(spec), isDeletablePlugin, "deletable");
  }

  async findDeletablePluginByName(name: string): Promise<DeletableVolumePlugin> {
    return required(await this.findPluginByName(name), isDeletablePlugin, "deletable");
  }

  /** Nothing when the plugin has no attacher or says that this volume needs none. */
  async findAttachablePluginBySpec(spec: Spec | undefined): Promise<AttachableVolumePlugin | undefined> {
    const plugin = ifIs(await this.findPluginBySpec(spec), isAttachablePlugin);
    return plugin && spec && (await plugin.canAttach(spec)) ? plugin : undefined;
  }

  async findAttachablePluginByName(name: string): Promise<AttachableVolumePlugin | undefined> {
    return ifIs(await this.findPluginByName(name), isAttachablePlugin);
  }

  /** Nothing when the plugin mounts no devices or says that it does not mount this one. */
  async findDeviceMountablePluginBySpec(spec: Spec | undefined): Promise<DeviceMountableVolumePlugin | undefined> {
    const plugin = ifIs(await this.findPluginBySpec(spec), isDeviceMountablePlugin);
    return plugin && spec && (await plugin.canDeviceMount(spec)) ? plugin : undefined;
  }

  async findDeviceMountablePluginByName(name: string): Promise<DeviceMountableVolumePlugin | undefined> {
    return ifIs(await this.findPluginByName(name), isDeviceMountablePlugin);
  }

  /**
   * The no-op plugin for a volume that only the node can grow, whatever kept a plugin from being found; nothing for any other that
   * no plugin matches.
   */
  async findExpandablePluginBySpec(spec: Spec | undefined): Promise<ExpandableVolumePlugin | undefined> {
    try {
      return ifIs(await this.findPluginBySpec(spec), isExpandablePlugin);
    } catch (error) {
      if (isKubeletExpandable(spec) && spec) return new NoopExpandableVolumePlugin(spec);
      if (isNoPluginMatched(error)) return undefined;
      throw error;
    }
  }

  async findExpandablePluginByName(name: string): Promise<ExpandableVolumePlugin | undefined> {
    return ifIs(await this.findPluginByName(name), isExpandablePlugin);
  }

  async findMapperPluginBySpec(spec: Spec | undefined): Promise<BlockVolumePlugin | undefined> {
    return ifIs(await this.findPluginBySpec(spec), isBlockPlugin);
  }

  async findMapperPluginByName(name: string): Promise<BlockVolumePlugin | undefined> {
    return ifIs(await this.findPluginByName(name), isBlockPlugin);
  }

  async findNodeExpandablePluginBySpec(spec: Spec | undefined): Promise<NodeExpandableVolumePlugin | undefined> {
    return ifIs(await this.findPluginBySpec(spec), isNodeExpandablePlugin);
  }

  async findNodeExpandablePluginByName(name: string): Promise<NodeExpandableVolumePlugin | undefined> {
    return ifIs(await this.findPluginByName(name), isNodeExpandablePlugin);
  }

  /** Starts the informers of a kubelet's host, and waits until they have synced. Other hosts need nothing. */
  async run(signal: CancelSignal): Promise<void> {
    if (!isKubeletVolumeHost(this.host)) return;
    const informers = this.host.getInformerFactory();
    if (!informers) throw nilDereference("informer factory of the host");
    informers.start(signal);
    await informers.waitForCacheSync(signal);
  }

  /** The table as it was published last: no lock, no probe, no driver. */
  published(): PluginTable {
    return this.table;
  }

  /** Calls back with each table published from now on. Returns how to stop that. */
  onPublished(listener: (table: PluginTable) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Asks for a refresh of the probed plugins soon: at most one begins in a second, however often it is asked for. */
  requestRefresh(): void {
    const refresh = (begin: () => void): Promise<void> =>
      this.lock.run(() => {
        begin();
        return this.refreshProbedPlugins();
      });
    this.requestedRefreshes.request(refresh, (error) => this.log.error("Error refreshing probed plugins", error));
  }

  private publish(): void {
    const entries = [...entriesOf("registered", this.plugins), ...entriesOf("probed", this.probed.plugins)];
    this.table = Object.freeze({
      version: this.table.version + 1,
      publishedAtMs: this.clock.nowMs(),
      rows: Object.freeze([...this.rowsOf("registered", this.plugins), ...this.rowsOf("probed", this.probed.plugins)]),
      ...this.history.records(),
      matcher: new PluginMatcher(entries),
    });
    for (const listener of this.listeners) this.tell(listener);
  }

  /** A page that fails must not fail a find. */
  private tell(listener: (table: PluginTable) => void): void {
    try {
      listener(this.table);
    } catch (error) {
      this.log.error("Error telling a reader of the plugin table", error);
    }
  }

  private rowsOf(origin: PluginOrigin, plugins: ReadonlyMap<string, VolumePlugin>): PluginRow[] {
    const names = [...new Set([...plugins.keys(), ...this.history.namesOfFailed(origin)])];
    if (origin === "probed") names.sort(compareText);
    return names.map((name) => rowOfPlugin(plugins.get(name), name, this.history.timesOf(origin, name)));
  }
}

function entriesOf(origin: PluginOrigin, plugins: ReadonlyMap<string, VolumePlugin>): PluginEntry[] {
  return [...plugins].map(([name, plugin]) => ({ name, origin, plugin }));
}

function ifIs<T extends VolumePlugin>(plugin: VolumePlugin, is: (plugin: VolumePlugin) => plugin is T): T | undefined {
  return is(plugin) ? plugin : undefined;
}

function required<T extends VolumePlugin>(plugin: VolumePlugin, is: (plugin: VolumePlugin) => plugin is T, what: string): T {
  if (!is(plugin)) throw new VolumeError(`no ${what} volume plugin matched`);
  return plugin;
}
