/** A kubelet's plugin manager over the memory host: the 13 plugins, and the CSIDriver objects of the golden hosts. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { checkedAgainstExplain } from "@/e2e/goldens/explained";
import { stillPorts } from "@/e2e/goldens/fake-plugin";
import type { CSIDriver } from "@/lib/kube/storage";
import { createMemoryHost } from "@/server/hosts/memory";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newKubeletPlugins } from "@/server/volume/plugins";

/** The objects that the goldens put into the lister of every host: the answer of their line `csiDrivers`. */
export function goldenCSIDrivers(): readonly CSIDriver[] {
  const file = path.join(path.dirname(fileURLToPath(import.meta.url)), "data/volume/realplugins.jsonl.gz");
  const lines = gunzipSync(readFileSync(file)).toString("utf8").split("\n");
  const line = lines.find((text) => text.includes('"fn":"csiDrivers"'));
  const parsed: { out: CSIDriver[] } = JSON.parse(line ?? '{"out":[]}');
  return parsed.out;
}

let manager: Promise<VolumePluginManager> | undefined;

/** One for all lines: nothing that is asked of it changes it. */
export function kubeletManager(): Promise<VolumePluginManager> {
  manager ??= newKubeletManager();
  return manager;
}

async function newKubeletManager(): Promise<VolumePluginManager> {
  const created = checkedAgainstExplain(stillPorts);
  const { host } = createMemoryHost({ csiDrivers: goldenCSIDrivers() });
  await created.initPlugins(newKubeletPlugins(), undefined, host);
  return created;
}
