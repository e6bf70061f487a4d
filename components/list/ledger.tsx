import { statusIcons } from "@/components/ui/status";
import { Icon } from "@/components/ui/icon";
import { statusWords, type StatusWord } from "@/lib/words";

interface LedgerProps {
  label: string;
  counts: Readonly<Record<StatusWord, number>> | undefined;
  chosen: string;
  onChoose: (word: StatusWord | "") => void;
}

const tones: Readonly<Record<StatusWord, string>> = {
  failed: "st-failed",
  stuck: "st-stuck",
  working: "st-working",
  waiting: "st-waiting",
  unknown: "st-unknown",
  ok: "st-ok",
  "not applicable": "st-na",
};

/** All of them, by status word; each word is also a filter. */
export function Ledger({ label, counts, chosen, onChoose }: LedgerProps) {
  const all = counts && statusWords.reduce((sum, word) => sum + counts[word], 0);
  const shown = statusWords.filter((word) => word !== "not applicable" || (counts?.[word] ?? 0) > 0 || chosen === word);
  return (
    <nav className="ledger" aria-label={label}>
      <button type="button" className="total" aria-current={chosen === "" || undefined} onClick={() => onChoose("")}>
        <b>{all?.toLocaleString() ?? "–"}</b> all
      </button>
      {shown.map((word) => (
        <button
          type="button"
          key={word}
          className={counts?.[word] ? "" : "zero"}
          aria-current={chosen === word || undefined}
          onClick={() => onChoose(chosen === word ? "" : word)}
        >
          <span className={`st ${tones[word]}`}>
            <Icon name={statusIcons[word]} />
          </span>
          <b>{counts?.[word].toLocaleString() ?? "–"}</b> {word}
        </button>
      ))}
    </nav>
  );
}
