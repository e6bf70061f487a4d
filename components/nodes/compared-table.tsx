import Link from "next/link";
import type { NodeDetail } from "@/components/nodes/node-page";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { Dash } from "@/components/ui/dash";
import { Status } from "@/components/ui/status";

type Compared = NodeDetail["compared"][number];

/** Wanted by pods, reported to the API and found on the node, side by side: differences first. */
export function ComparedTable({ detail: { compared, report } }: { detail: NodeDetail }) {
  const different = compared.filter((each) => each.differs);
  const agreed = compared.filter((each) => !each.differs);
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label="Wanted, reported, found">
        <table className="t compared">
          <thead>
            <tr>
              <th scope="col">Volume</th>
              <th scope="col">Status</th>
              <th scope="col">
                <b>Wanted</b> by pods bound here
              </th>
              <th scope="col">
                <b>Reported</b> to the API
              </th>
              <th scope="col">
                <b>Found</b> on disk and mounted
              </th>
              <th scope="col">What it means</th>
            </tr>
          </thead>
          {different.length > 0 && <Group title="Different" rows={different} />}
          {agreed.length > 0 && <Group title={report ? "In agreement" : "As the API has it"} rows={agreed} />}
        </table>
      </div>
      {compared.length === 0 && <p className="px-5 py-4">No pod here has a volume, and nothing is left behind.</p>}
      <p className="t-foot">
        <span>A dash under Reported: this kind is not reported to the API. {!report && "A dash under Found: no agent answers there."}</span>
        {report && (
          <span className="ml-auto">
            … is <span className="mono">{report.root}</span>
          </span>
        )}
      </p>
    </>
  );
}

function Group({ title, rows }: { title: string; rows: readonly Compared[] }) {
  return (
    <tbody>
      <tr className="grp">
        <th scope="rowgroup" colSpan={6}>
          <b>{title}</b> · {rows.length}
        </th>
      </tr>
      {rows.map((row) => (
        <ComparedRow key={row.key} compared={row} />
      ))}
    </tbody>
  );
}

function ComparedRow({ compared }: { compared: Compared }) {
  const { cluster } = useCluster();
  const { row } = compared;
  return (
    <tr data-key={compared.key}>
      <td>
        {row ? (
          <Link className="row" href={paths.volume(cluster, { ...row, uid: row.podUid })} prefetch={false}>
            {compared.title}
          </Link>
        ) : (
          compared.title
        )}
      </td>
      <td>
        <Status word={compared.word} />
      </td>
      <td className="proof">{compared.wanted ?? <Dash why="nobody wants it" />}</td>
      <td className="proof">{compared.reported ?? <Dash why="not reported to the API" />}</td>
      <td className="proof found">{compared.found ?? <Dash why="no agent answers there" />}</td>
      <td>{compared.meaning}</td>
    </tr>
  );
}
