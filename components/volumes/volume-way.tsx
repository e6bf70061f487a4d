import { Proofs } from "@/components/ui/proof";
import { Section } from "@/components/ui/section";
import { StageList } from "@/components/ui/stage-list";
import { Ago } from "@/components/ui/time";
import type { VolumeDetail } from "@/components/volumes/detail-types";
import { WayTicks } from "@/components/volumes/way-ticks";

/** Where it stands: every stage with what proves it, the one that gives the status set off. */
export function VolumeWay({ detail: { way, row, onNode } }: { detail: VolumeDetail }) {
  const calm = way.word === "ok" || way.word === "not applicable";
  return (
    <Section
      title="Where it stands"
      aside={
        <>
          <WayTicks ticks={row.ticks} summary={calm ? "all stages done" : `${way.at}: ${way.word}`} />
          {onNode.known ? (
            <span>
              node read <Ago at={onNode.takenAt} />
            </span>
          ) : (
            <span title={onNode.why}>observed</span>
          )}
        </>
      }
    >
      <StageList
        items={way.stages.map((stage) => ({
          key: stage.stage,
          name: stage.stage,
          state: stage.state,
          when: stage.since && <Ago at={stage.since} bare />,
          proof: <Proofs proofs={stage.proofs} />,
          open: !calm && stage.stage === way.at,
        }))}
      />
    </Section>
  );
}
