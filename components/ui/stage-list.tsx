import type { ReactNode } from "react";
import { Icon } from "@/components/ui/icon";
import { stageLooks } from "@/components/ui/status";
import type { StageState } from "@/lib/words";

export interface StageItem {
  readonly key: string;
  readonly name: string;
  readonly state: StageState;
  readonly when?: ReactNode;
  readonly proof: ReactNode;
  /** Where it stands now: set off from the others. */
  readonly open?: boolean;
}

const quiet: ReadonlySet<StageState> = new Set(["not applicable", "not reached"]);
const openTones: Partial<Record<StageState, string>> = { doing: "open-working", stuck: "open-stuck", failed: "open-failed" };

/** Stages one under the other: state, name, since when, and the proof. */
export function StageList({ items, className = "" }: { items: readonly StageItem[]; className?: string }) {
  return (
    <ol className={`stages py-1.5 ${className}`}>
      {items.map((item) => {
        const look = stageLooks[item.state];
        return (
          <li key={item.key} className={`${quiet.has(item.state) ? "off" : ""} ${item.open ? `open ${openTones[item.state] ?? "open-rest"}` : ""}`}>
            <span className={`d ${look.tone}`}>
              <Icon name={look.icon} />
              <span className="vh">{item.state}</span>
            </span>
            <span className="nm">{item.name}</span>
            <span className="when">{item.when}</span>
            <span>{item.proof}</span>
          </li>
        );
      })}
    </ol>
  );
}
