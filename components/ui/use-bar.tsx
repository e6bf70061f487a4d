import { bytesInWords } from "@/components/ui/bytes";
import { Dash } from "@/components/ui/dash";

const amberPercent = 80;
const redPercent = 90;

interface UseBarProps {
  usedBytes: string | undefined;
  capacityBytes: string | undefined;
  /** Why use is not known, on hover. */
  unknown?: string;
  /** For what is counted in something else than bytes. */
  inWords?: (amount: string) => string;
}

/** Used part of a volume: grey below 80 %, amber from 80 %, red from 90 %; unknown use is a dash, never 0 %. */
export function UseBar({ usedBytes, capacityBytes, unknown = "not reported by the node", inWords = bytesInWords }: UseBarProps) {
  const percent = percentOf(usedBytes, capacityBytes);
  if (percent === undefined || usedBytes === undefined || capacityBytes === undefined) {
    return <Dash why={unknown} />;
  }
  const tone = percent >= redPercent ? "bad" : percent >= amberPercent ? "warn" : "";
  const text = percent >= redPercent ? "text-failed-fg" : percent >= amberPercent ? "text-stuck-fg" : "";
  return (
    <span className="use" title={`${inWords(usedBytes)} of ${inWords(capacityBytes)} used`}>
      <span className="bar" aria-hidden="true">
        <i className={tone} style={{ width: `${Math.min(100, percent)}%` }} />
      </span>
      <span className={text}>{percent} %</span>
    </span>
  );
}

/** Whole percent, rounded down so that only a full volume says 100; undefined when it can't be said. */
export function percentOf(usedBytes: string | undefined, capacityBytes: string | undefined): number | undefined {
  if (usedBytes === undefined || capacityBytes === undefined) return undefined;
  const capacity = BigInt(capacityBytes);
  return capacity > 0n ? Number((BigInt(usedBytes) * 100n) / capacity) : undefined;
}
