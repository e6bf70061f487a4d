/** Plugins, probers and ports for the tests of this folder. */
import { VolumeError } from "@/server/volume/errors";
import { probeAddOrUpdate, probeRemove, type DynamicPluginProber, type ProbeEvent, type ProbeResult, type VolumePlugin } from "@/server/volume/plugin";
import type { Clock, Log } from "@/server/volume/ports";
import type { Spec } from "@/server/volume/spec";

/** A plugin that supports every spec unless `extra` says otherwise. */
export function testPlugin(name: string, extra: Partial<VolumePlugin> & object = {}): VolumePlugin {
  const notCalled = async (): Promise<never> => {
    throw new VolumeError("not called in this test");
  };
  return {
    init: async () => {},
    getPluginName: () => name,
    getVolumeName: notCalled,
    canSupport: () => true,
    requiresRemount: async () => false,
    newMounter: notCalled,
    newUnmounter: notCalled,
    constructVolumeSpec: notCalled,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    ...extra,
  };
}

export const noPlugin = { canSupport: (): boolean => false };

export function supportsVolumeField(field: "nfs" | "emptyDir" | "hostPath"): { canSupport: (spec: Spec) => boolean } {
  return { canSupport: (spec) => spec.volume?.[field] !== undefined };
}

export function addOrUpdate(plugin: VolumePlugin): ProbeEvent {
  return { plugin, pluginName: plugin.getPluginName(), op: probeAddOrUpdate };
}

export function removal(pluginName: string): ProbeEvent {
  return { pluginName, op: probeRemove };
}

/** Gives the results one after another, then nothing. */
export function scriptedProber(...results: readonly (readonly ProbeEvent[] | ProbeResult)[]): DynamicPluginProber & { probes: number } {
  const left = [...results];
  return {
    probes: 0,
    async init() {},
    async probe() {
      this.probes += 1;
      const next = left.shift() ?? [];
      return "events" in next ? next : { events: next };
    },
  };
}

/** A clock that stands until it is moved; sleepers wake when their time has come. */
export class ManualClock implements Clock {
  private now = 0;
  private sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];

  nowMs(): number {
    return this.now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.sleepers.push({ untilMs: this.now + ms, wake }));
  }

  /** Moves on and lets everything run that can run without more time. */
  async advance(ms: number): Promise<void> {
    this.now += ms;
    const due = this.sleepers.filter(({ untilMs }) => untilMs <= this.now);
    this.sleepers = this.sleepers.filter(({ untilMs }) => untilMs > this.now);
    for (const { wake } of due) wake();
    await settled();
  }
}

/** Lets every chain of promises that waits for nothing run to its end. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

export const quietLog: Log = { info() {}, warn() {}, error() {} };
