/** Which plugin of a node serves a pod's volume, read from the node's published table: no lock, no probe, no driver. */
import type { PodVolume } from "@/server/cluster/snapshot";
import { errorOf } from "@/server/volume/plugin-matcher";
import { rowOf, type PluginTable } from "@/server/volume/plugin-table";
import { newSpecFromPersistentVolume, newSpecFromVolume, type Spec } from "@/server/volume/spec";
import type { Match } from "./evidence";

export interface AskedHost {
  readonly table: PluginTable;
  /** What this host cannot show, in words: then "none" is no proof for a probed kind. */
  readonly notVisible?: string;
}

/** The spec that the kubelet would ask its plugins for; undefined while a claim has no persistent volume. */
export function specOf({ volume, claimName, persistentVolume }: PodVolume): Spec | undefined {
  if (claimName === undefined) return newSpecFromVolume(volume);
  if (!persistentVolume) return undefined;
  return newSpecFromPersistentVolume(persistentVolume, volume.persistentVolumeClaim?.readOnly ?? false);
}

export function matchOn(host: AskedHost | undefined, volume: PodVolume): Match {
  const spec = specOf(volume);
  if (!spec) return { kind: "unknown", why: "the claim has no persistent volume yet" };
  if (!host) return { kind: "unknown", why: "no plugins of this node are known" };
  const { table } = host;
  const match = table.matcher.match(spec);
  const asked = table.matcher.entries.length;
  if (match.outcome === "found") {
    const capabilities = rowOf(table, match.entry.name)?.capabilities;
    return {
      kind: "one",
      plugin: match.entry.name,
      asked,
      attachable: capabilities?.attach ?? false,
      deviceMountable: capabilities?.deviceMount ?? false,
    };
  }
  const text = errorOf(match)?.message ?? "";
  if (match.outcome === "several") return { kind: "several", plugins: match.names, text };
  const flexDriver = spec.volume?.flexVolume ?? spec.persistentVolume?.spec.flexVolume;
  if (flexDriver && host.notVisible !== undefined) return { kind: "unknown", why: host.notVisible };
  return { kind: "none", asked, text };
}
