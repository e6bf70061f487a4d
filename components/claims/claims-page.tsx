"use client";

import Link from "next/link";
import { ListPage, type SortProps } from "@/components/list/list-page";
import { SortHead } from "@/components/list/sort-head";
import { paths } from "@/components/shell/paths";
import { useTRPCClient, type Outputs } from "@/components/trpc";
import { Dash } from "@/components/ui/dash";
import { Flash } from "@/components/ui/flash";
import { bytesInWords } from "@/components/ui/bytes";
import { ShortName } from "@/components/ui/plugin-name";
import { Status } from "@/components/ui/status";
import { Ago } from "@/components/ui/time";
import { UseBar } from "@/components/ui/use-bar";

const headTexts = ["Claim", "Status", "Requested", "Granted", "Real", "Used", "Class", "Used by"] as const;
const order = { columns: ["claim", "status", "class", "requested", "granted", "used"] } as const;
type Column = (typeof order.columns)[number];
type ClaimRow = Outputs["claim"]["list"]["rows"][number];

export function ClaimsPage() {
  const client = useTRPCClient();
  return (
    <ListPage
      title="Claims"
      question="How big, how full, may it grow?"
      icon="claims"
      resource="persistentvolumeclaims"
      path={["claim", "list"]}
      order={order}
      fetch={(query) => client.claim.list.query(query)}
      placeholder="Filter: words, class:fast, pod:web-0"
      headTexts={headTexts}
      heads={(sort: SortProps<Column>) => <ClaimHeads {...sort} />}
      cells={(row: ClaimRow, cluster) => <ClaimCells row={row} cluster={cluster} />}
      emptyTitle="No claim is here yet"
      empty={<p>Every PersistentVolumeClaim appears here as soon as it is in the API.</p>}
      aboutCommand="All claims. Real size and use are the node's own word: kubectl does not show them."
    />
  );
}

function ClaimHeads(sort: SortProps<Column>) {
  return (
    <>
      <SortHead column="claim" {...sort}>
        Claim
      </SortHead>
      <SortHead column="status" {...sort}>
        Status
      </SortHead>
      <SortHead column="requested" className="num" {...sort}>
        Requested
      </SortHead>
      <SortHead column="granted" className="num" {...sort}>
        Granted
      </SortHead>
      <th scope="col" className="num">
        Real
      </th>
      <SortHead column="used" className="num" {...sort}>
        Used
      </SortHead>
      <SortHead column="class" {...sort}>
        Class
      </SortHead>
      <th scope="col">Used by</th>
    </>
  );
}

function ClaimCells({ row, cluster }: { row: ClaimRow; cluster: string }) {
  return (
    <>
      <td>
        <Link className="row" href={paths.claim(cluster, row)} prefetch={false} aria-label={row.key}>
          <span className="muted">{row.namespace}/</span>
          <b>
            <ShortName name={row.name} />
          </b>
        </Link>
      </td>
      <td>
        <Flash value={row.standing}>
          <Status word={row.word} text={row.word === "ok" ? "ok" : row.standing} />
        </Flash>
      </td>
      <td className="num">
        <Flash value={row.requested ?? ""}>{row.requested ?? <Dash why="asks for no size" />}</Flash>
      </td>
      <td className="num">
        <Flash value={row.granted ?? ""}>{row.granted ?? <Dash why="nothing granted yet" />}</Flash>
      </td>
      <td className="num">
        {row.capacityBytes === undefined ? <Dash why="not reported by a node" /> : <span title={`${row.capacityBytes} bytes`}>{bytesInWords(row.capacityBytes)}</span>}
      </td>
      <td className="num">
        <UseBar usedBytes={row.usedBytes} capacityBytes={row.capacityBytes} />
      </td>
      <td>
        {row.className === undefined ? <Dash why="no class" /> : <span className="mono">{row.className}</span>}
        {row.mayGrow === false && <span className="muted">, may not grow</span>}
      </td>
      <td>
        <Users row={row} />
      </td>
    </>
  );
}

function Users({ row }: { row: ClaimRow }) {
  if (row.pods.length > 0) return <span className="name">{row.pods.map((pod) => pod.name).join(", ")}</span>;
  if (row.unusedSince === undefined) return <Dash why="no pod uses it" />;
  return (
    <span className="muted">
      unused since <Ago at={row.unusedSince} />
    </span>
  );
}
