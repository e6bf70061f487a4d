import { proofOf } from "@/components/operations/operation-types";
import type { Outputs } from "@/components/trpc";
import { Icon, type IconName } from "@/components/ui/icon";
import { ProofLine } from "@/components/ui/proof";

type Check = Outputs["claim"]["growth"]["checks"][number];

const looks: Readonly<Record<Check["verdict"], { icon: IconName; tone: string; word: string }>> = {
  pass: { icon: "check", tone: "c-ok", word: "pass" },
  refuse: { icon: "failed", tone: "text-failed-fg", word: "refuse" },
  unknown: { icon: "unknown", tone: "c-rest", word: "unknown" },
  note: { icon: "info", tone: "c-rest", word: "note" },
};

/** What refuses comes first. `stacked`: the proof stands below its check, in a narrow column. */
export function CheckList({ checks, stacked = false }: { checks: readonly Check[]; stacked?: boolean }) {
  return (
    <ul className={stacked ? "checks stacked" : "checks"}>
      {[...checks.filter((check) => check.verdict === "refuse"), ...checks.filter((check) => check.verdict !== "refuse")].map((check) => (
        <CheckLine key={check.title} check={check} />
      ))}
    </ul>
  );
}

function CheckLine({ check }: { check: Check }) {
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

/** How many pass, or how many refuse. */
export function countsOf(checks: readonly Check[]): string {
  const of = (verdict: Check["verdict"]) => checks.filter((check) => check.verdict === verdict).length;
  const refused = of("refuse");
  if (refused > 0) return `${refused} ${refused === 1 ? "refuses" : "refuse"}`;
  return [`${of("pass")} pass`, of("unknown") > 0 ? `${of("unknown")} unknown` : undefined].filter(Boolean).join(", ");
}
