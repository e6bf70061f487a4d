import Link from "next/link";
import type { ClaimDetail } from "@/components/claims/claim-page";
import { OperationSentence, OperationSteps } from "@/components/operations/operation-steps";
import { tookMs } from "@/components/operations/operation-types";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { Section } from "@/components/ui/section";
import { Status } from "@/components/ui/status";
import { Ago, useNowMs } from "@/components/ui/time";
import { duration } from "@/components/ui/time-text";

type Operation = NonNullable<ClaimDetail["operations"]>[number];

/** The change that runs, step by step; then those that were. */
export function ClaimOperations({ detail: { operations } }: { detail: ClaimDetail }) {
  const { cluster } = useCluster();
  const running = operations?.find((operation) => operation.endedAt === undefined);
  const earlier = operations?.filter((operation) => operation !== running) ?? [];
  return (
    <>
      {running && (
        <Section
          title={`Growing to ${running.to}`}
          aside={
            <>
              <Status word={running.progress.status} />
              <span>by {running.who}</span>
              <Link href={paths.operation(cluster, running.id)}>Operation</Link>
            </>
          }
        >
          <OperationSteps record={running} />
          <div className="body border-t border-line">
            <OperationSentence record={running} />
          </div>
        </Section>
      )}
      {earlier.length > 0 && (
        <Section title="Earlier changes">
          <div className="scroll" tabIndex={0} role="region" aria-label="Earlier changes of this claim">
            <table className="t">
              <thead className="vh">
                <tr>
                  <th scope="col">What</th>
                  <th scope="col">Status</th>
                  <th scope="col">By</th>
                  <th scope="col">When</th>
                  <th scope="col">Took</th>
                </tr>
              </thead>
              <tbody>
                {earlier.map((operation) => (
                  <EarlierRow key={operation.id} operation={operation} />
                ))}
              </tbody>
            </table>
          </div>
        </Section>
      )}
    </>
  );
}

function EarlierRow({ operation }: { operation: Operation }) {
  const { cluster } = useCluster();
  const nowMs = useNowMs();
  return (
    <tr>
      <td>
        <Link className="row" href={paths.operation(cluster, operation.id)} prefetch={false}>
          From {operation.from} to {operation.to}
        </Link>
      </td>
      <td>
        <Status word={operation.progress.status} />
      </td>
      <td>{operation.who}</td>
      <td className="muted">
        <Ago at={operation.startedAt} />
      </td>
      <td className="num">{duration(tookMs(operation, nowMs))}</td>
    </tr>
  );
}
