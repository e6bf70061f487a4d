import { CheckList, countsOf } from "@/components/operations/check-list";
import type { Outputs } from "@/components/trpc";
import { CopyField } from "@/components/ui/copy";
import { DialogPart } from "@/components/ui/dialog";
import { Ago } from "@/components/ui/time";

type ExpandPreview = Outputs["operation"]["previewExpand"];

/** What both kinds of change show before anybody confirms. */
export type Preview = Pick<ExpandPreview, "uid" | "decision" | "sizeBytes" | "dryRun" | "kubectl">;

export function ChangePreview({ preview }: { preview: Preview }) {
  const { checks } = preview.decision;
  return (
    <>
      {checks.length > 0 && (
        <DialogPart title="Checks" aside={countsOf(checks)}>
          <CheckList checks={checks} />
        </DialogPart>
      )}
      {preview.dryRun && (
        <DialogPart title="Dry run" aside={<>by the API server, <Ago at={preview.dryRun.atMs} /></>}>
          <div className="well proof">
            <b className={preview.dryRun.ok ? undefined : "text-failed-fg"}>{preview.dryRun.ok ? "Accepted" : "Refused"}</b>{" "}
            <span className="k">{preview.dryRun.ok ? "nothing saved" : "word for word:"}</span>
            <span className="block">
              <DryRunWords dryRun={preview.dryRun} />
            </span>
          </div>
        </DialogPart>
      )}
      <DialogPart title="Same with kubectl">
        <CopyField label="Command" text={preview.kubectl} />
      </DialogPart>
    </>
  );
}

/** From and to of an accepted change; else the server's words, whole. */
function DryRunWords({ dryRun: { change, words } }: { dryRun: NonNullable<Preview["dryRun"]> }) {
  if (!change) return words;
  return (
    <>
      {change.field}: <span className="k">{change.from} →</span> <b>{change.to}</b>
    </>
  );
}
