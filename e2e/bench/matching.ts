/** What is matched: a kubelet's 13 plugins and 5 probed drivers, and specs as pods have them. */
import { createMemoryHost } from "@/server/hosts/memory";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { probeAddOrUpdate, type DynamicPluginProber } from "@/server/volume/plugin";
import { newKubeletPlugins } from "@/server/volume/plugins";
import { newFlexVolumePlugin } from "@/server/volume/plugins/flexvolume/plugin";
import type { Exec } from "@/server/volume/ports";
import { newSpecFromPersistentVolume, newSpecFromVolume, type Spec } from "@/server/volume/spec";

export const registeredCount = 13;
export const probedCount = 5;

export async function newBenchManager(): Promise<VolumePluginManager> {
  const { host, ports } = createMemoryHost();
  const manager = new VolumePluginManager({ clock: ports.clock, log: ports.log });
  await manager.initPlugins(newKubeletPlugins(), prober(ports.log), host);
  const counts = ["registered", "probed"].map((origin) => manager.published().rows.filter((row) => row.origin === origin).length);
  if (counts[0] !== registeredCount || counts[1] !== probedCount) throw new Error(`${counts.join(" + ")} plugins`);
  return manager;
}

/** Drivers that answer init well; nothing else is asked of them. */
function prober(log: Parameters<typeof newFlexVolumePlugin>[2]["log"]): DynamicPluginProber {
  const output = '{"status":"Success","capabilities":{"attach":false}}';
  const exec: Exec = { run: async () => ({ exitCode: 0, signal: undefined, output, timedOut: false, truncated: false }) };
  const runner = { exec, log, checkDriver: async () => undefined, timeoutMs: 1000 };
  let asked = false;
  return {
    init: async () => undefined,
    probe: async () => {
      if (asked) return { events: [] };
      asked = true;
      const names = Array.from({ length: probedCount }, (_, index) => `example.com~driver${index}`);
      const plugins = await Promise.all(names.map((name) => newFlexVolumePlugin("/drivers", name, runner)));
      return { events: plugins.map((plugin) => ({ op: probeAddOrUpdate, plugin, pluginName: plugin.getPluginName() })) };
    },
  };
}

/** In the shares of a usual cluster: every pod has its token, many a config or a claim, few the rest. */
export function specsOf(count: number): readonly Spec[] {
  return Array.from({ length: count }, (_, index) => specAt(index));
}

function specAt(index: number): Spec {
  const name = `volume-${index}`;
  const claimed = (source: Parameters<typeof newSpecFromPersistentVolume>[0]) => newSpecFromPersistentVolume(source, false);
  switch (index % 10) {
    case 0:
    case 1:
    case 2:
      return newSpecFromVolume({ name, projected: { sources: [{ serviceAccountToken: { path: "token" } }] } });
    case 3:
    case 4:
      return newSpecFromVolume({ name, configMap: { name } });
    case 5:
      return newSpecFromVolume({ name, secret: { secretName: name } });
    case 6:
      return newSpecFromVolume({ name, emptyDir: {} });
    case 7:
      return claimed({ metadata: { name }, spec: { csi: { driver: "ebs.csi.aws.com", volumeHandle: name } } });
    case 8:
      return claimed({ metadata: { name }, spec: { local: { path: `/disks/${name}` } } });
    default:
      return claimed({ metadata: { name }, spec: { flexVolume: { driver: `example.com/driver${index % probedCount}` } } });
  }
}
