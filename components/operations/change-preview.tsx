import { proofOf } from "@/components/operations/operation-types";
import type { Outputs } from "@/components/trpc";
import { CopyField } from "@/components/ui/copy";
import { DialogPart } from "@/components/ui/dialog";
import { Icon, type IconName } from "@/components/ui/icon";
import { ProofLine } from "@/components/ui/proof";
import { Ago } from "@/components/ui/time";

type ExpandPreview = Outputs["operation"]["previewExpand"];

/** What both kinds of change show before anybody confirms. */
export type Preview = Pick<ExpandPreview, "uid" | "decision" | "sizeBytes" | "dryRun" | "kubectl">;
type Check = ExpandPreview["decision"]["checks"][number];

const looks: Readonly<Record<Check["verdict"], { icon: IconName; tone: string; word: string }>> = {
  pass: { icon: "check", tone: "c-ok", word: "pass" },
  refuse: { icon: "failed", tone: "text-failed-fg", word: "refuse" },
  unknown: { icon: "unknown", tone: "c-rest", word: "unknown" },
  note: { icon: "info", tone: "c-rest", word: "note" },
};

export function ChangePreview({ preview }: { preview: Preview }) {
  const { checks } = preview.decision;
  return (
    <>
      {checks.length > 0 && (
        <DialogPart title="Checks" aside={countsOf(checks)}>
          <ul className="checks">
            {[...checks.filter((check) => check.verdict === "refuse"), ...checks.filter((check) => check.verdict !== "refuse")].map((check) => (
              <CheckLine key={check.title} check={check} />
            ))}
          </ul>
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

export function CheckLine({ check }: { check: Check }) {
  const look = looks[check.verdict];
  const told = check.remedy !== undefined && check.verdict !== "pass";
  return (
    <li className={check.verdict === "refuse" ? "bad" : undefined}>
      <span className={look.tone}>
        <Icon name={look.icon} />
        <span className="vh">{look.word}</span>
      </span>
      <span className="ln">
        <span>{check.title}</span>
        <span className="proof">
          <ProofLine proof={proofOf(check.proof)} />
        </span>
      </span>
      {told && <span className="more">{check.remedy}</span>}
    </li>
  );
}

function countsOf(checks: readonly Check[]): string {
  const of = (verdict: Check["verdict"]) => checks.filter((check) => check.verdict === verdict).length;
  const refused = of("refuse");
  if (refused > 0) return `${refused} ${refused === 1 ? "refuses" : "refuse"}`;
  return [`${of("pass")} pass`, of("unknown") > 0 ? `${of("unknown")} unknown` : undefined].filter(Boolean).join(", ");
}
