/**
 * Finds FlexVolume drivers: all of them at the first probe, after that the ones whose folder changed. A driver that fails is tried
 * again after a pause, or when its folder changes. Source: pkg/volume/flexvolume/probe.go of v1.37.2; limit and pauses are ours: there
 * every finder runs it again, so that one driver that sleeps, or fails at length, holds up the node.
 */
import { codeOf, messageOf, messageWithCauses } from "@/lib/errors";
import { baseName, cleanPath, dirName } from "@/lib/go-path";
import { isWithin } from "@/server/volume/elapsed";
import { aggregate, VolumeError, wrap } from "@/server/volume/errors";
import { unescapeQualifiedName } from "@/server/volume/paths";
import {
  probeAddOrUpdate,
  probeRemove,
  type DynamicPluginProber,
  type ProbeEvent,
  type ProbeFailure,
  type ProbeResult,
} from "@/server/volume/plugin";
import type { DriverCheck, DriverRunner } from "@/server/volume/plugins/flexvolume/driver-call";
import { executablePath, newFlexVolumePlugin } from "@/server/volume/plugins/flexvolume/plugin";
import type { HostPorts, WatchEvent, WatchHandle } from "@/server/volume/ports";

export interface FlexVolumeProberOptions {
  /** `--volume-plugin-dir` of a kubelet. */
  readonly pluginDir: string;
  readonly ports: Pick<HostPorts, "files" | "exec" | "watcher" | "log" | "clock">;
  /** Asked before every run of a driver; throws when it must not be run. See `newDriverCheck`. */
  readonly checkDriver: DriverCheck;
  /** Limit of one call of a driver; two minutes unless named. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 120_000;
const initTimeoutMs = 15_000;
/** How long a driver is left alone that failed, and one that ran into its limit; unless its folder changes. */
const pauseMs = { failed: 5_000, timeout: 300_000 } as const;

export interface FlexVolumeProber extends DynamicPluginProber {
  onChange(listener: () => void): void;
  /** Stops watching; a probe still works. */
  close(): Promise<void>;
}

export function newFlexVolumeProber(options: FlexVolumeProberOptions): FlexVolumeProber {
  return new Prober(options);
}

/** A change of one driver's folder. A new object for each, so that one seen while the driver runs is not taken for the one before. */
interface Change {
  readonly dir: string;
  readonly op: typeof probeAddOrUpdate | typeof probeRemove;
}

class Prober implements FlexVolumeProber {
  private readonly pluginDir: string;
  private readonly ports: FlexVolumeProberOptions["ports"];
  private readonly runner: DriverRunner;
  private probeAllNeeded = true;
  /** The last change of each driver's folder, by the folder's name. */
  private readonly pending = new Map<string, Change>();
  /** Changes whose driver failed: when, and for how long it is left alone. */
  private readonly paused = new WeakMap<Change, { readonly sinceMs: number; readonly forMs: number }>();
  private watch: WatchHandle | undefined;
  private readonly listeners: (() => void)[] = [];

  constructor({ pluginDir, ports, checkDriver, timeoutMs = defaultTimeoutMs }: FlexVolumeProberOptions) {
    this.pluginDir = cleanPath(pluginDir);
    this.ports = ports;
    this.runner = { exec: ports.exec, log: ports.log, checkDriver, timeoutMs, initTimeoutMs: Math.min(timeoutMs, initTimeoutMs) };
  }

  /** Throws VolumeError when the folder can't be made or watched; the manager then goes without drivers. */
  async init(): Promise<void> {
    this.probeAllNeeded = true;
    this.pending.clear();
    await this.makePluginDir();
    await this.startWatching();
  }

  async probe(): Promise<ProbeResult> {
    if (!this.probeAllNeeded) return this.probePending();
    // Cleared first: what changes while the folder is read is seen by the next probe.
    this.probeAllNeeded = false;
    return this.probeAll();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  async close(): Promise<void> {
    await this.watch?.close();
    this.watch = undefined;
  }

  private async probeAll(): Promise<ProbeResult> {
    let names: readonly string[];
    try {
      const entries = await this.ports.files.readDir(this.pluginDir);
      names = entries.filter(({ name, kind }) => kind === "directory" && !name.startsWith(".")).map(({ name }) => name);
    } catch (error) {
      return { events: [], error: wrap(`error reading the Flexvolume directory: ${messageOf(error)}`, error) };
    }
    return this.attempt(names.map((dir) => ({ dir, op: probeAddOrUpdate })));
  }

  private probePending(): Promise<ProbeResult> {
    const nowMs = this.ports.clock.nowMs();
    const isPaused = (change: Change): boolean => {
      const pause = this.paused.get(change);
      return pause !== undefined && isWithin(pause.forMs, pause.sinceMs, nowMs);
    };
    return this.attempt([...this.pending.values()].filter((change) => !isPaused(change)));
  }

  private async attempt(changes: readonly Change[]): Promise<ProbeResult> {
    const events: ProbeEvent[] = [];
    const errors: unknown[] = [];
    const failures: ProbeFailure[] = [];
    for (const change of changes) {
      const { dir } = change;
      try {
        events.push(await this.eventOf(change));
        // A change seen while the driver ran is left for the next probe.
        if (this.pending.get(dir) === change) this.pending.delete(dir);
      } catch (error) {
        const forMs = codeOf(error) === "timeout" ? pauseMs.timeout : pauseMs.failed;
        this.paused.set(change, { sinceMs: this.ports.clock.nowMs(), forMs });
        errors.push(wrap(`error creating Flexvolume plugin from directory ${dir}, skipping. Error: ${messageOf(error)}`, error));
        const path = executablePath(this.pluginDir, dir);
        failures.push({ pluginName: unescapeQualifiedName(dir), path, message: messageWithCauses(error) });
      }
    }
    const error = aggregate(errors);
    return error ? { events, error, failures } : { events };
  }

  private async eventOf({ dir, op }: Change): Promise<ProbeEvent> {
    if (op === probeRemove) return { op, pluginName: unescapeQualifiedName(dir) };
    const plugin = await newFlexVolumePlugin(this.pluginDir, dir, this.runner);
    return { op, plugin, pluginName: plugin.getPluginName() };
  }

  private async makePluginDir(): Promise<void> {
    try {
      await this.ports.files.mkdirAll(this.pluginDir, 0o755);
    } catch (error) {
      throw new VolumeError(`error (re-)creating driver directory: ${messageOf(error)}`, "volume-error", error);
    }
  }

  private async startWatching(): Promise<void> {
    await this.close();
    try {
      this.watch = await this.ports.watcher.watch(this.pluginDir, {
        onEvent: (event) => this.seen(event),
        onError: (error) => this.overlooked(error),
      });
    } catch (error) {
      throw wrap(`error adding watch on Flexvolume directory: ${messageOf(error)}`, error);
    }
  }

  /** A watch that lost events can't be trusted: everything is looked at again. */
  private overlooked(error: unknown): void {
    this.ports.log.error("the watch on the FlexVolume folder lost events", error, { path: this.pluginDir });
    this.probeAllNeeded = true;
    this.notify();
  }

  private seen({ path, kind }: WatchEvent): void {
    const changed = cleanPath(path);
    if (changed === this.pluginDir) {
      if (kind === "remove") void this.watchAgain();
      return;
    }
    if (baseName(changed).startsWith(".") || !changed.startsWith(`${this.pluginDir}/`)) return;
    const dir = changed.slice(this.pluginDir.length + 1).split("/")[0] ?? "";
    const isDriver = changed === executablePath(this.pluginDir, dir) || dirName(changed) === this.pluginDir;
    const op = kind === "remove" && isDriver ? probeRemove : probeAddOrUpdate;
    // While everything is about to be looked at, single changes add nothing.
    if (!this.probeAllNeeded) this.pending.set(dir, { dir, op });
    this.notify();
  }

  private async watchAgain(): Promise<void> {
    try {
      await this.makePluginDir();
      await this.startWatching();
    } catch (error) {
      this.ports.log.error("the FlexVolume folder could not be watched again", error, { path: this.pluginDir });
    }
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
