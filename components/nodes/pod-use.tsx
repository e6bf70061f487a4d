import Link from "next/link";
import type { NodeDetail } from "@/components/nodes/node-page";
import { NoReport } from "@/components/nodes/node-report";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { bytesInWords, exactBytes } from "@/components/ui/bytes";
import { Dash } from "@/components/ui/dash";

type PodUse = NonNullable<NodeDetail["pods"]>[number];

/** What the volumes of each pod hold, the largest first. */
export function PodUseTable({ pods }: { pods: NodeDetail["pods"] }) {
  if (!pods) return <NoReport what="The use of volumes" />;
  if (pods.length === 0) return <p className="px-5 py-4">No pod here has a volume.</p>;
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label="Use by pod">
        <table className="t">
          <thead>
            <tr>
              <th scope="col">Pod</th>
              <th scope="col">Namespace</th>
              <th scope="col" className="num">
                Volumes
              </th>
              <th scope="col" className="num">
                Used
              </th>
              <th scope="col" className="num">
                Inodes
              </th>
            </tr>
          </thead>
          <tbody>
            {pods.map((pod) => (
              <PodRow key={pod.uid} pod={pod} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="t-foot">Sums of what the node measured. A volume that pods share counts for each of them; a raw block device has no use to measure.</p>
    </>
  );
}

function PodRow({ pod }: { pod: PodUse }) {
  const { cluster } = useCluster();
  const unmeasured = pod.volumes - pod.measured;
  return (
    <tr data-key={pod.uid}>
      <td>
        {pod.name === undefined ? (
          <span className="mono">{pod.uid}</span>
        ) : (
          <Link className="row" href={paths.filtered(cluster, "volumes", `pod:${pod.name}`)} prefetch={false}>
            {pod.name}
          </Link>
        )}
      </td>
      <td>{pod.namespace ?? <Dash why="the API knows no such pod" />}</td>
      <td className="num">
        {pod.volumes}
        {unmeasured > 0 && <span className="muted">, {unmeasured} not measured</span>}
      </td>
      <td className="num">{pod.usedBytes === undefined ? <Dash why="none of its volumes is measured" /> : <span title={exactBytes(pod.usedBytes)}>{bytesInWords(pod.usedBytes)}</span>}</td>
      <td className="num">{pod.inodesUsed === undefined ? <Dash why="none of its volumes is measured" /> : BigInt(pod.inodesUsed).toLocaleString()}</td>
    </tr>
  );
}
