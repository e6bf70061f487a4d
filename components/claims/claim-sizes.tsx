import type { ReactNode } from "react";
import type { ClaimDetail } from "@/components/claims/claim-page";
import { bytesInWords, exactBytes } from "@/components/ui/bytes";
import { Section } from "@/components/ui/section";
import { Ago } from "@/components/ui/time";
import { percentOf } from "@/components/ui/use-bar";
import { tryParseQuantity } from "@/lib/quantity";

type Row = ClaimDetail["row"];

/** Requested, granted, real and used: four things on one scale, never merged into one number. */
export function ClaimSizes({ row }: { row: Row }) {
  const percent = percentOf(row.usedBytes, row.capacityBytes);
  const inodes = percentOf(row.inodesUsed, row.inodes);
  const parts = [percent === undefined ? undefined : `${percent} % of real`, inodes === undefined ? undefined : `inodes ${inodes} %`].filter(Boolean).join(" · ");
  const used = (
    <>
      {parts}
      {row.measuredAt !== undefined && (
        <>
          {parts !== "" && " · "}
          <Ago at={row.measuredAt} />
        </>
      )}
    </>
  );
  return (
    <Section title="Size" aside="different things, each from its own source" padded>
      <dl className="fig">
        <Figure label="Requested" size={row.requested} source=".spec.resources.requests" />
        <Figure label="Granted" size={row.granted} source=".status.capacity" />
        <Figure label="Real" size={row.capacityBytes && bytesInWords(row.capacityBytes)} exact={row.capacityBytes} source="statfs on the node" unknown="no node reports it" />
        <Figure label="Used" size={row.usedBytes && bytesInWords(row.usedBytes)} exact={row.usedBytes} source={used} unknown="no node reports it" />
      </dl>
      <Scale row={row} />
    </Section>
  );
}

interface FigureProps {
  label: string;
  size: string | undefined;
  source: ReactNode;
  exact?: string | undefined;
  unknown?: string;
}

function Figure({ label, size, source, exact, unknown = "absent" }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd title={exact && exactBytes(exact)}>{size ?? "–"}</dd>
      <dd className="source">{size === undefined ? unknown : source}</dd>
    </div>
  );
}

/** Everything on one line: used solid, what is asked for beyond the grant hatched. */
function Scale({ row }: { row: Row }) {
  const [requested, granted] = [bytesOf(row.requested), bytesOf(row.granted)];
  const used = row.usedBytes === undefined ? undefined : BigInt(row.usedBytes);
  const whole = [requested, granted, row.capacityBytes === undefined ? undefined : BigInt(row.capacityBytes)].reduce<bigint>(
    (most, each) => (each !== undefined && each > most ? each : most),
    0n,
  );
  if (whole === 0n) return null;
  const share = (bytes: bigint) => `${Number((bytes * 1000n) / whole) / 10}%`;
  const words = [used !== undefined && `${bytesInWords(String(used))} used`, row.granted && `${row.granted} granted`, row.requested && `${row.requested} requested`];
  const growing = requested !== undefined && granted !== undefined && requested > granted;
  return (
    <>
      <div className="scale mt-4" role="img" aria-label={words.filter(Boolean).join(", ")}>
        {requested !== undefined && <span className="w" style={{ width: share(requested) }} />}
        {granted !== undefined && <span className="g bg-track" style={{ width: share(granted) }} />}
        {used !== undefined && <span className="u" style={{ width: share(used) }} />}
        {granted !== undefined && <span className="m" style={{ left: share(granted) }} />}
      </div>
      <p className="scale-ends" aria-hidden="true">
        <span>{used === undefined ? "0" : `${bytesInWords(String(used))} used`}</span>
        {granted !== undefined && (
          <span>
            <b>{row.granted}</b> {growing ? "granted" : "granted, requested"}
          </span>
        )}
        {(growing || granted === undefined) && (
          <span>
            <b>{row.requested}</b> requested
          </span>
        )}
      </p>
    </>
  );
}

function bytesOf(size: string | undefined): bigint | undefined {
  return tryParseQuantity(size)?.ceilValue();
}
