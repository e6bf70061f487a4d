import { Icon, type IconName } from "@/components/ui/icon";
import type { StageState, StatusWord } from "@/lib/words";

export const statusIcons: Readonly<Record<StatusWord, IconName>> = {
  ok: "ok",
  working: "working",
  waiting: "waiting",
  stuck: "stuck",
  failed: "failed",
  unknown: "unknown",
  "not applicable": "na",
};

const tones: Readonly<Record<StatusWord, string>> = {
  ok: "st-ok",
  working: "st-working",
  waiting: "st-waiting",
  stuck: "st-stuck",
  failed: "st-failed",
  unknown: "st-unknown",
  "not applicable": "st-na",
};

/**
 * A status: icon and word, always. In tables only stuck and failed are filled; `fill` is for heads of pages and panels.
 * `text` replaces the word where the page says more precisely what it is ("stuck at register").
 */
export function Status({ word, fill = false, text }: { word: StatusWord; fill?: boolean; text?: string }) {
  return (
    <span className={`st ${tones[word]} ${fill ? "st-fill" : "loud"}`}>
      <Icon name={statusIcons[word]} />
      {text ?? word}
    </span>
  );
}

/** How a stage's state looks: the icon and the word that is read out. */
export const stageLooks: Readonly<Record<StageState, { icon: IconName; tone: string; tick: string }>> = {
  done: { icon: "ok", tone: "c-ok", tick: "d" },
  doing: { icon: "working", tone: "c-working", tick: "w" },
  stuck: { icon: "stuck", tone: "c-stuck", tick: "s" },
  failed: { icon: "failed", tone: "c-failed", tick: "f" },
  waiting: { icon: "waiting", tone: "c-rest", tick: "z" },
  unknown: { icon: "unknown", tone: "c-rest", tick: "u" },
  "not applicable": { icon: "na", tone: "c-rest", tick: "n" },
  "not reached": { icon: "not-reached", tone: "c-rest", tick: "p" },
};
