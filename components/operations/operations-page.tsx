"use client";

import Link from "next/link";
import { ListPage, type SortProps } from "@/components/list/list-page";
import { SortHead } from "@/components/list/sort-head";
import { ReadOnly, useReadOnly } from "@/components/operations/read-only";
import { subjectInWords, tookMs, verbInWords } from "@/components/operations/operation-types";
import { paths } from "@/components/shell/paths";
import { useTRPCClient, type Outputs } from "@/components/trpc";
import { Flash } from "@/components/ui/flash";
import { Status } from "@/components/ui/status";
import { Ago, useNowMs } from "@/components/ui/time";
import { duration } from "@/components/ui/time-text";

const headTexts = ["Subject", "Status", "What", "From", "To", "By", "Started", "Took", "Now"] as const;
const order = { columns: ["started", "status", "subject"], descending: true } as const;
type Column = (typeof order.columns)[number];
type OperationRow = Outputs["operation"]["list"]["rows"][number];

export function OperationsPage() {
  const client = useTRPCClient();
  const readOnly = useReadOnly();
  if (readOnly) return <ReadOnly />;
  return (
    <ListPage
      title="Operations"
      question="What was done, by whom, how did it end?"
      icon="operations"
      resource=""
      path={["operation", "list"]}
      order={order}
      fetch={(query) => client.operation.list.query(query)}
      placeholder="Filter: subject, by:admin, status:failed"
      headTexts={headTexts}
      heads={(sort: SortProps<Column>) => <OperationHeads {...sort} />}
      cells={(row: OperationRow, cluster) => <OperationCells row={row} cluster={cluster} />}
      emptyTitle="Nothing was changed from here yet"
      empty={<p>Grow a claim from its page, or resize a memory volume from its own: every change stands here from its start, and stays across restarts.</p>}
      foot={<span className="wide">Kept across restarts; read from the cluster and the journal</span>}
    />
  );
}

function OperationHeads(sort: SortProps<Column>) {
  return (
    <>
      <SortHead column="subject" {...sort}>
        Subject
      </SortHead>
      <SortHead column="status" {...sort}>
        Status
      </SortHead>
      <th scope="col">What</th>
      <th scope="col" className="num">
        From
      </th>
      <th scope="col" className="num">
        To
      </th>
      <th scope="col">By</th>
      <SortHead column="started" {...sort}>
        Started
      </SortHead>
      <th scope="col" className="num">
        Took
      </th>
      <th scope="col" className="fold">
        Now
      </th>
    </>
  );
}

function OperationCells({ row, cluster }: { row: OperationRow; cluster: string }) {
  const nowMs = useNowMs();
  return (
    <>
      <td>
        <Link className="row" href={paths.operation(cluster, row.id)} prefetch={false}>
          <span className="muted">{row.subject.namespace}/</span>
          <b>{subjectInWords(row)}</b>
        </Link>
      </td>
      <td>
        <Flash value={row.word}>
          <Status word={row.word} />
        </Flash>
      </td>
      <td>{verbInWords(row)}</td>
      <td className="num muted">{row.from}</td>
      <td className="num">{row.to}</td>
      <td>{row.who}</td>
      <td>
        <Ago at={row.startedAt} />
      </td>
      <td className="num">{duration(tookMs(row, nowMs))}</td>
      <td className="fold max-w-96 truncate" title={row.progress.sentence}>
        {row.progress.sentence}
      </td>
    </>
  );
}
