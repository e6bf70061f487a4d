"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { ReadOnly, useReadOnly } from "@/components/operations/read-only";
import { OperationSentence, OperationSteps } from "@/components/operations/operation-steps";
import { subjectInWords, tookMs, verbInWords, type OperationRecord } from "@/components/operations/operation-types";
import { PageHead } from "@/components/shell/page-head";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { Failed, isNotFound, NotFound } from "@/components/shell/states";
import { useTRPC } from "@/components/trpc";
import { Section } from "@/components/ui/section";
import { Status } from "@/components/ui/status";
import { Ago, ClockTime, useNowMs } from "@/components/ui/time";
import { duration } from "@/components/ui/time-text";
import { BarSection } from "@/components/volumes/volume-skeleton";
import { messageOf } from "@/lib/errors";

export function OperationPage({ id }: { id: string }) {
  const { cluster } = useCluster();
  const readOnly = useReadOnly();
  const query = useQuery(useTRPC().operation.get.queryOptions({ cluster, id }, { enabled: !readOnly }));
  if (readOnly) return <ReadOnly />;
  if (query.error && isNotFound(query.error)) {
    return (
      <NotFound
        title="No such operation"
        actions={
          <Link className="btn" href={paths.list(cluster, "operations")}>
            All operations
          </Link>
        }
      >
        <p>{messageOf(query.error)} in the journal of this Voldeck.</p>
      </NotFound>
    );
  }
  if (query.error && !query.data) return <Failed what="The operation could not be read" error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <BarSection title="Steps" rows={6} />;
  const { record, entries } = query.data;
  return (
    <>
      <PageHead
        title={
          <>
            <span>
              <span className="of">{verbInWords(record)}:</span> {subjectInWords(record)}, {record.from} to {record.to}
            </span>
            <Status word={record.progress.status} fill />
          </>
        }
        question={<OperationFacts record={record} />}
      />
      <div className="pad cols grid-cols-1 gap-4 desk:grid-cols-[minmax(0,1.12fr)_minmax(0,1fr)]">
        <Section title="Steps">
          <OperationSteps record={record} />
        </Section>
        <div className="cols gap-4">
          <Section title={record.progress.ended ? "How it ended" : "Where it stands"} padded>
            <OperationSentence record={record} />
          </Section>
          <Section title="Journal" aside="written before each step">
            <ol className="events">
              {entries.map((entry, index) => (
                <li key={index} className="history">
                  <span className="muted text-xs">
                    <ClockTime at={entry.at} />
                  </span>
                  <span>
                    <b>{entry.phase}</b> <span className="proof">{withoutPhase(entry)}</span>
                  </span>
                </li>
              ))}
            </ol>
          </Section>
        </div>
      </div>
    </>
  );
}

/** A note may begin with the phase that stands before it. */
function withoutPhase({ phase, note }: { readonly phase: string; readonly note: string }): string {
  return note === phase ? "" : note.startsWith(`${phase} `) ? note.slice(phase.length + 1) : note;
}

function OperationFacts({ record }: { record: OperationRecord }) {
  const { cluster } = useCluster();
  const nowMs = useNowMs();
  const { namespace, name, volume } = record.subject;
  const href = volume === undefined ? paths.claim(cluster, { namespace, name }) : paths.volume(cluster, { namespace, pod: name, volume });
  return (
    <span className="facts">
      <span>
        {volume === undefined ? "Claim" : "Volume"}{" "}
        <Link className="mono" href={href} prefetch={false}>
          {namespace}/{subjectInWords(record)}
        </Link>
      </span>
      <span>by {record.who}</span>
      <span>
        started <Ago at={record.startedAt} />
      </span>
      <span>
        {duration(tookMs(record, nowMs))}
        {record.endedAt === undefined && " so far"}
      </span>
    </span>
  );
}
