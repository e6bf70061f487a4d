/** One plugin or CSI driver over all nodes: what it can do, where it is, whom it serves, and how it came to be. */
import type { CSIDriverSpec } from "@/lib/kube/storage";
import { absent } from "@/server/api/absent";
import type { ClusterView, PluginHost } from "@/server/api/context";
import { pluginMatrix, probeEvents, type MatrixCell, type MatrixHost, type PluginKind, type ProbeEventRow } from "@/server/api/plugin-matrix";
import { volumeRows, type VolumeRow } from "@/server/api/volume-rows";
import type { Capabilities } from "@/server/volume/plugin-table";

export interface PluginOnHost extends MatrixHost, MatrixCell {
  readonly path?: string;
  /** Given by the driver for its node. */
  readonly nodeId?: string;
  readonly topologyKeys?: readonly string[];
}

export interface InitRow {
  readonly nodeName: string;
  readonly atMs: number;
  readonly error?: string;
}

export interface PluginDetail {
  readonly version: number;
  readonly name: string;
  readonly kind: PluginKind;
  /** For a CSI driver the capabilities of kubernetes.io/csi; the driver's own word stands in `csiDriver`. */
  readonly capabilities?: Capabilities;
  readonly interfaces: readonly string[];
  readonly accessModes: readonly string[];
  readonly csiDriver?: CSIDriverSpec;
  /** What its capabilities can't tell, in a sentence. */
  readonly note?: string;
  readonly hosts: readonly PluginOnHost[];
  readonly volumes: readonly VolumeRow[];
  readonly volumesTotal: number;
  readonly inits: readonly InitRow[];
  readonly events: readonly ProbeEventRow[];
}

const csiPlugin = "kubernetes.io/csi";
const volumesMax = 100;

export function pluginDetail(view: ClusterView, name: string): PluginDetail {
  const matrix = pluginMatrix(view, "");
  const row = matrix.rows.find((each) => each.name === name);
  if (!row) throw absent(view, "nodes", `No node has a plugin or driver ${name}`);
  const hosts = view.pluginHosts();
  const isDriver = row.kind === "CSI driver";
  const own = firstRow(hosts, isDriver ? csiPlugin : name);
  const snapshot = view.snapshot();
  const volumes = volumeRows(view).filter(({ row: each }) => (isDriver ? each.driver === name : serves(each, name)));
  return {
    version: matrix.version,
    name,
    kind: row.kind,
    capabilities: own?.capabilities,
    interfaces: own?.interfaces ?? [],
    accessModes: own?.accessModes ?? [],
    csiDriver: isDriver ? snapshot.csiDrivers.get(name)?.spec : undefined,
    note: isDriver ? undefined : own?.note,
    hosts: matrix.hosts.map((host, index) => {
      const driver = isDriver ? snapshot.csiNodes.get(host.nodeName)?.spec.drivers?.find((each) => each.name === name) : undefined;
      return {
        ...host,
        ...(row.cells[index] ?? { state: "unknown" as const, word: "unknown" as const, volumes: 0 }),
        path: rowsOf(hosts, host.nodeName).find((each) => each.name === name)?.path,
        nodeId: driver?.nodeID,
        topologyKeys: driver?.topologyKeys ?? undefined,
      };
    }),
    volumes: volumes.slice(0, volumesMax).map((each) => each.row),
    volumesTotal: volumes.length,
    inits: initRows(hosts, name),
    events: probeEvents(hosts).filter((event) => event.pluginName === name),
  };
}

function serves({ plugin, source }: VolumeRow, name: string): boolean {
  if (plugin.state === "one") return plugin.name === name;
  return source.kind === "flexVolume" && source.name === name;
}

function rowsOf(hosts: readonly PluginHost[], nodeName: string) {
  return hosts.find((host) => host.nodeName === nodeName)?.table.rows ?? [];
}

function firstRow(hosts: readonly PluginHost[], name: string) {
  for (const host of hosts) {
    const row = host.table.rows.find((each) => each.name === name);
    if (row) return row;
  }
  return undefined;
}

/** Each time a manager was started with this plugin, newest first. */
function initRows(hosts: readonly PluginHost[], name: string): readonly InitRow[] {
  const rows = hosts.flatMap(({ nodeName, table }) =>
    table.inits
      .filter((record) => record.registered.includes(name) || record.errors.some((error) => error.includes(name)))
      .map((record) => ({ nodeName, atMs: record.atMs, error: record.errors.find((error) => error.includes(name)) })),
  );
  return rows.sort((a, b) => b.atMs - a.atMs);
}
