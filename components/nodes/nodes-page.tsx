"use client";

import Link from "next/link";
import { ListPage, type SortProps } from "@/components/list/list-page";
import { SortHead } from "@/components/list/sort-head";
import { DiskUse, InodeUse } from "@/components/nodes/disk-use";
import { paths } from "@/components/shell/paths";
import { useTRPCClient, type Outputs } from "@/components/trpc";
import { Dash } from "@/components/ui/dash";
import { Flash } from "@/components/ui/flash";
import { Status } from "@/components/ui/status";
import { Ago } from "@/components/ui/time";

const headTexts = ["Node", "Status", "Kubelet", "Report", "Volumes", "Mounts", "Disk", "Inodes", "Drivers", "Attached / in use", "Why"] as const;
const order = { columns: ["node", "status", "volumes"] } as const;
type Column = (typeof order.columns)[number];
type NodeRow = Outputs["node"]["list"]["rows"][number];

export function NodesPage() {
  const client = useTRPCClient();
  return (
    <ListPage
      title="Nodes"
      question="Which nodes are in trouble with storage?"
      icon="nodes"
      resource="nodes"
      path={["node", "list"]}
      order={order}
      fetch={(query) => client.node.list.query(query)}
      placeholder="Filter: name, status:stuck, version:1.37"
      headTexts={headTexts}
      heads={(sort: SortProps<Column>) => <NodeHeads {...sort} />}
      cells={(row: NodeRow, cluster) => <NodeCells row={row} cluster={cluster} />}
      emptyTitle="No node is here yet"
      empty={<p>A node appears here as soon as its kubelet has registered it.</p>}
      aboutCommand="All nodes. What is mounted there only the node itself can say."
    />
  );
}

function NodeHeads(sort: SortProps<Column>) {
  return (
    <>
      <SortHead column="node" {...sort}>
        Node
      </SortHead>
      <SortHead column="status" {...sort}>
        Status
      </SortHead>
      <th scope="col">Kubelet</th>
      <th scope="col">Report</th>
      <SortHead column="volumes" className="num" {...sort}>
        Volumes
      </SortHead>
      <th scope="col" className="num">
        Mounts
      </th>
      <th scope="col" className="num">
        Disk
      </th>
      <th scope="col" className="num">
        Inodes
      </th>
      <th scope="col">Drivers</th>
      <th scope="col" className="num">
        Attached / in use
      </th>
      <th scope="col" className="fold">
        Why
      </th>
    </>
  );
}

function NodeCells({ row, cluster }: { row: NodeRow; cluster: string }) {
  return (
    <>
      <td>
        <Link className="row name" href={paths.node(cluster, row.name)} prefetch={false}>
          {row.name}
        </Link>
      </td>
      <td>
        <Flash value={row.word}>
          <Status word={row.word} />
        </Flash>
      </td>
      <td>
        {row.kubeletVersion ?? <Dash why="not reported" />}
        {row.ready === false && <span className="text-failed-fg">, not ready</span>}
      </td>
      <td>{row.reportedAt === undefined ? <span className="muted">observed</span> : <Ago at={row.reportedAt} />}</td>
      <td className="num">
        {row.volumes}
        {row.troubled > 0 && <span className="text-stuck-fg">, {row.troubled} in trouble</span>}
      </td>
      <td className="num">{row.mounts ?? <Dash why="no agent answers there" />}</td>
      <td className="num">
        <DiskUse row={row} />
      </td>
      <td className="num">
        <InodeUse row={row} />
      </td>
      <td>
        {row.drivers.length === 0 ? (
          <Dash why="no CSI driver registered" />
        ) : (
          <span title={row.drivers.map((driver) => driver.name).join(", ")}>
            {row.drivers.length}
            {row.drivers.map((driver) => driver.limit !== undefined && <span key={driver.name} className="muted">{` · ${driver.used} of ${driver.limit}`}</span>)}
          </span>
        )}
      </td>
      <td className="num">
        {row.attached} / {row.inUse}
      </td>
      <td className="fold muted">{row.why}</td>
    </>
  );
}
