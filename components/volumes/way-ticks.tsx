import { stageLooks } from "@/components/ui/status";
import { stages, type StageState } from "@/lib/words";

interface WayTicksProps {
  ticks: readonly StageState[];
  /** Where it stands, read out as a whole. */
  summary: string;
}

/** The way of a volume: one tick per stage, always in the same order; where it stands is tall and coloured. */
export function WayTicks({ ticks, summary }: WayTicksProps) {
  return (
    <span className="way" role="img" aria-label={summary}>
      {stages.map((stage, index) => {
        const state = ticks[index] ?? "unknown";
        return <i key={stage} className={stageLooks[state].tick} title={`${stage}: ${state}`} />;
      })}
    </span>
  );
}
