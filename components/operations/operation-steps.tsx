import { proofOf, stageStateOf, type OperationRecord } from "@/components/operations/operation-types";
import { Proofs } from "@/components/ui/proof";
import { StageList } from "@/components/ui/stage-list";
import { ClockTime } from "@/components/ui/time";

const now: ReadonlySet<string> = new Set(["working", "failed", "stuck", "waiting", "unknown"]);

/** What was done, step by step, each with what shows it; the step it stands at is set off. */
export function OperationSteps({ record: { progress } }: { record: OperationRecord }) {
  const at = progress.steps.findIndex((step) => now.has(step.state));
  return (
    <StageList
      className="long-names"
      items={progress.steps.map((step, index) => ({
        key: `${index} ${step.title}`,
        name: step.title,
        state: stageStateOf(step.state),
        when: step.at && <ClockTime at={step.at} />,
        proof: <Proofs proofs={step.proof.map(proofOf)} />,
        open: index === at,
      }))}
    />
  );
}

/** The sentence that says what is the matter, and what comes next. */
export function OperationSentence({ record: { progress } }: { record: OperationRecord }) {
  return (
    <>
      <p className="say">{progress.sentence}</p>
      {progress.next.length > 0 && (
        <ol className="mt-2 grid list-inside list-decimal gap-1">
          {progress.next.map((next) => (
            <li key={next}>{next}</li>
          ))}
        </ol>
      )}
    </>
  );
}
