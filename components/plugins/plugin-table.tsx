import Link from "next/link";
import { capabilities } from "@/components/plugins/capabilities";
import { CapabilityCells, CapabilityHeads } from "@/components/plugins/capability-columns";
import { PluginCell } from "@/components/plugins/plugin-cell";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import type { Outputs } from "@/components/trpc";
import { PluginName } from "@/components/ui/plugin-name";
import { ClockTime } from "@/components/ui/time";

type Matrix = Outputs["plugin"]["list"];
type MatrixRow = Matrix["rows"][number];

interface Group {
  readonly title: string;
  readonly about: string;
  readonly rows: readonly MatrixRow[];
}

/** Several nodes are compared; of a single one there is room for what its plugins can do. */
const showsCapabilities = ({ hosts }: Matrix): boolean => hosts.length === 1;

const columnsOf = (matrix: Matrix): number => matrix.hosts.length + 3 + (showsCapabilities(matrix) ? capabilities.length : 0);

/** Nodes side by side, one plugin a row. */
export function PluginTable({ matrix, byKind }: { matrix: Matrix; byKind: boolean }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Plugins by node">
      <table className="t mx">
        <thead>
          <tr>
            <th className="hd" scope="col">
              Plugin
            </th>
            <th className="hd" scope="col">
              Kind
            </th>
            {matrix.hosts.map((host) => (
              <th key={host.nodeName} className="hd" scope="col" title={host.notVisible}>
                <b>{host.nodeName}</b>
                {[host.kubeletVersion, host.source === "node" ? "this machine" : "observed"].filter(Boolean).join(" · ")}
              </th>
            ))}
            {showsCapabilities(matrix) && <CapabilityHeads />}
            <th className="hd num" scope="col">
              Used by
            </th>
          </tr>
        </thead>
        {groupsOf(matrix, byKind).map((group) => (
          <PluginGroup key={group.title} group={group} matrix={matrix} />
        ))}
      </table>
    </div>
  );
}

function PluginGroup({ group, matrix }: { group: Group; matrix: Matrix }) {
  return (
    <tbody>
      <tr className="grp">
        <th scope="rowgroup" colSpan={columnsOf(matrix)}>
          <b>{group.title}</b> · {group.about}
        </th>
      </tr>
      {group.rows.map((row) => (
        <PluginRows key={row.name} row={row} matrix={matrix} />
      ))}
    </tbody>
  );
}

function PluginRows({ row, matrix }: { row: MatrixRow; matrix: Matrix }) {
  const { cluster } = useCluster();
  const errors = row.cells.flatMap((cell, index) => (cell.error === undefined ? [] : [{ cell, host: matrix.hosts[index]?.nodeName ?? "" }]));
  return (
    <>
      <tr className={`${row.differs ? "" : "low"} ${errors.length > 0 ? "haserr" : ""}`} data-key={row.name}>
        <td>
          <Link className="row" href={paths.plugin(cluster, row.name)} prefetch={false}>
            <PluginName name={row.name} />
          </Link>
        </td>
        <td>{row.kind}</td>
        {row.cells.map((cell, index) => (
          <td key={matrix.hosts[index]?.nodeName ?? index}>
            <PluginCell cell={cell} quiet={!row.differs} />
          </td>
        ))}
        {showsCapabilities(matrix) && <CapabilityCells row={row} />}
        <td className={`num ${row.usedBy === 0 ? "muted" : ""}`}>{row.usedBy.toLocaleString()}</td>
      </tr>
      {errors.map(({ cell, host }) => (
        <tr key={host} className="err">
          <td />
          <td colSpan={columnsOf(matrix) - 1}>
            <p className="proof">
              <span className="k">
                {host} · {cell.failedAtMs !== undefined && <ClockTime at={cell.failedAtMs} />} ·
              </span>{" "}
              <b>{cell.error}</b>
            </p>
          </td>
        </tr>
      ))}
    </>
  );
}

/** Differences first, or one group per kind; empty groups are left out. */
function groupsOf({ rows, hosts }: Matrix, byKind: boolean): readonly Group[] {
  const differ = rows.filter((row) => row.differs);
  const same = rows.filter((row) => !row.differs);
  const alone = hosts.length === 1;
  const groups: readonly Group[] = byKind
    ? [
        kindGroup(rows, { kind: "in-tree", title: "Built into the kubelet", about: "in the order they are asked" }),
        kindGroup(rows, { kind: "FlexVolume", title: "FlexVolume drivers", about: "probed in the plugin folder" }),
        kindGroup(rows, { kind: "CSI driver", title: "CSI drivers", about: "served by kubernetes.io/csi" }),
      ]
    : [
        { title: alone ? "Needs a look" : "Different from node to node", about: differ.length.toLocaleString(), rows: differ },
        { title: alone ? "On this node" : "The same on every node", about: countsInWords(same), rows: same },
      ];
  return groups.filter((group) => group.rows.length > 0);
}

function kindGroup(rows: readonly MatrixRow[], { kind, title, about }: { kind: MatrixRow["kind"]; title: string; about: string }): Group {
  const some = rows.filter((row) => row.kind === kind);
  return { title, about: `${some.length.toLocaleString()}, ${about}`, rows: some };
}

/** `13 built into the kubelet, in the order they are asked; 1 driver` */
function countsInWords(rows: readonly MatrixRow[]): string {
  const builtIn = rows.filter((row) => row.kind === "in-tree").length;
  const drivers = rows.length - builtIn;
  return [
    ...(builtIn > 0 ? [`${builtIn} built into the kubelet, in the order they are asked`] : []),
    ...(drivers > 0 ? [`${drivers.toLocaleString()} ${drivers === 1 ? "driver" : "drivers"}`] : []),
  ].join("; ");
}
