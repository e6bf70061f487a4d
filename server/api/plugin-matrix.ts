/** The plugins of all nodes side by side: differences first, then what is the same everywhere, in the order it is asked. */
import { parseFilter } from "@/lib/filter";
import { pluginFilterFields } from "@/lib/inputs/plugin";
import type { StatusWord } from "@/lib/words";
import type { ClusterView, PluginHost } from "@/server/api/context";
import { volumeRows } from "@/server/api/volume-rows";
import type { Capabilities, PluginRow, ProbeRecord } from "@/server/volume/plugin-table";

export type PluginKind = "in-tree" | "FlexVolume" | "CSI driver";

export interface MatrixHost {
  readonly nodeName: string;
  readonly kubeletVersion?: string;
  readonly source: PluginHost["source"];
  readonly notVisible?: string;
}

/** One plugin on one node. */
export interface MatrixCell {
  readonly state: "registered" | "probed" | "failed" | "absent" | "unknown";
  readonly word: StatusWord;
  /** Volumes on this node that it serves, or that wait for it. */
  readonly volumes: number;
  readonly error?: string;
  readonly failedAtMs?: number;
  readonly loadedAtMs?: number;
  /** How many more volumes a CSI driver takes there. */
  readonly limit?: number;
}

export interface MatrixRow {
  readonly name: string;
  readonly kind: PluginKind;
  /** Not the same on every node that can be seen. */
  readonly differs: boolean;
  /** In the order of the hosts. */
  readonly cells: readonly MatrixCell[];
  readonly usedBy: number;
  /** Of the plugin, the same on every node; absent for a CSI driver, and where no plugin could be made. */
  readonly capabilities?: Capabilities;
}

export interface ProbeEventRow {
  readonly key: string;
  readonly nodeName: string;
  readonly atMs: number;
  readonly count: number;
  readonly op: ProbeRecord["op"];
  readonly pluginName: string;
  readonly outcome: ProbeRecord["outcome"];
  readonly text: string;
}

export interface PluginMatrix {
  readonly version: number;
  /** The nodes shown; the filter `node:` chooses among all. */
  readonly hosts: readonly MatrixHost[];
  readonly hostsTotal: number;
  /** Rows of all plugins, filtered; `total` is before the filter. */
  readonly rows: readonly MatrixRow[];
  readonly total: number;
  /** Newest first. */
  readonly events: readonly ProbeEventRow[];
}

/** Columns that fit side by side; a filter reaches the others. */
const hostsMax = 12;
const eventsMax = 100;

export function pluginMatrix(view: ClusterView, filterText: string): PluginMatrix {
  const snapshot = view.snapshot();
  const all = view.pluginHosts();
  const filter = parseFilter(filterText, pluginFilterFields);
  const valuesOf = (field: string) => filter.fields.filter((each) => each.field === field).map((each) => each.value);
  const nodes = valuesOf("node");
  const hosts = all.filter((host) => nodes.length === 0 || nodes.some((value) => host.nodeName.toLowerCase().includes(value))).slice(0, hostsMax);
  const served = servedCounts(view);
  const rows = [...pluginRows(hosts, served), ...driverRows(view, hosts, served)];
  const names = [...filter.words, ...valuesOf("name")];
  const kinds = valuesOf("kind");
  const shown = rows.filter(
    (row) =>
      names.every((value) => row.name.toLowerCase().includes(value)) &&
      (kinds.length === 0 || kinds.some((value) => row.kind.toLowerCase().includes(value))),
  );
  return {
    version: snapshot.version,
    hosts: hosts.map(({ nodeName, kubeletVersion, source, notVisible }) => ({ nodeName, kubeletVersion, source, notVisible })),
    hostsTotal: all.length,
    rows: [...shown.filter((row) => row.differs), ...shown.filter((row) => !row.differs)],
    total: rows.length,
    events: probeEvents(all),
  };
}

/** Every plugin name and CSI driver known to a cluster, without the cells: what the rail counts. */
export function countPlugins(view: ClusterView): number {
  const names = new Set(view.pluginHosts().flatMap((host) => host.table.rows.map((row) => row.name)));
  return names.size + knownDrivers(view).size;
}

/** Drivers that some node has, that an object announces, or that a volume asks for. */
function knownDrivers(view: ClusterView): ReadonlySet<string> {
  const snapshot = view.snapshot();
  const names = new Set(snapshot.csiDrivers.keys());
  for (const node of snapshot.csiNodes.values()) for (const driver of node.spec.drivers ?? []) names.add(driver.name);
  for (const { row } of volumeRows(view)) if (row.driver !== undefined) names.add(row.driver);
  return names;
}

type Counts = ReadonlyMap<string, number>;

/** Volumes by `<node>/<plugin>` and by `<node>/driver <driver>`. */
function servedCounts(view: ClusterView): Counts {
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { row } of volumeRows(view)) {
    if (row.node === undefined) continue;
    if (row.plugin.state === "one") add(`${row.node}/${row.plugin.name}`);
    if (row.driver !== undefined) add(`${row.node}/driver ${row.driver}`);
    if (row.source.kind === "flexVolume" && row.plugin.state !== "one") add(`${row.node}/${row.source.name ?? ""}`);
  }
  return counts;
}

function pluginRows(hosts: readonly PluginHost[], served: Counts): MatrixRow[] {
  const tables = hosts.map((host) => new Map(host.table.rows.map((row) => [row.name, row])));
  const names = new Set(hosts.flatMap((host) => host.table.rows.map((row) => row.name)));
  return [...names].map((name) => {
    const cells = hosts.map((host, index) => pluginCell(host, tables[index]?.get(name), served.get(`${host.nodeName}/${name}`) ?? 0));
    const known = tables.flatMap((table) => table.get(name) ?? []);
    const capabilities = known.find((row) => row.capabilities !== undefined)?.capabilities;
    return { ...matrixRow(name, known[0]?.kind ?? "in-tree", cells), capabilities };
  });
}

function pluginCell(host: PluginHost, row: PluginRow | undefined, volumes: number): MatrixCell {
  if (!row) {
    // An observed node shows only what every kubelet of its version has.
    const hidden = host.notVisible !== undefined;
    return { state: hidden ? "unknown" : "absent", word: hidden ? "unknown" : volumes > 0 ? "stuck" : "not applicable", volumes };
  }
  if (row.state === "failed") {
    return { state: "failed", word: "failed", volumes, error: row.error, failedAtMs: row.failedAtMs, loadedAtMs: row.loadedAtMs };
  }
  return { state: row.origin, word: "ok", volumes, loadedAtMs: row.loadedAtMs };
}

function driverRows(view: ClusterView, hosts: readonly PluginHost[], served: Counts): MatrixRow[] {
  const { csiNodes } = view.snapshot();
  return [...knownDrivers(view)].sort().map((name) => {
    const cells = hosts.map(({ nodeName }): MatrixCell => {
      const volumes = served.get(`${nodeName}/driver ${name}`) ?? 0;
      const driver = csiNodes.get(nodeName)?.spec.drivers?.find((each) => each.name === name);
      if (driver) return { state: "registered", word: "ok", volumes, limit: driver.allocatable?.count };
      return { state: "absent", word: volumes > 0 ? "stuck" : "not applicable", volumes };
    });
    return matrixRow(name, "CSI driver", cells);
  });
}

function matrixRow(name: string, kind: PluginKind, cells: readonly MatrixCell[]): MatrixRow {
  const seen = new Set(cells.filter((cell) => cell.state !== "unknown").map((cell) => cell.state));
  const troubled = cells.some((cell) => cell.word === "stuck" || cell.word === "failed");
  return { name, kind, differs: seen.size > 1 || troubled, cells, usedBy: cells.reduce((sum, cell) => sum + cell.volumes, 0) };
}

export function probeEvents(hosts: readonly PluginHost[]): readonly ProbeEventRow[] {
  const rows = hosts.flatMap(({ nodeName, table }) =>
    table.probes.map((record) => ({
      key: `${nodeName}/${record.id}`,
      nodeName,
      atMs: record.lastAtMs,
      count: record.count,
      op: record.op,
      pluginName: record.pluginName,
      outcome: record.outcome,
      text: record.text,
    })),
  );
  return rows.sort((a, b) => b.atMs - a.atMs).slice(0, eventsMax);
}
