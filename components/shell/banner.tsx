"use client";

import { useState } from "react";
import { ManifestBanner } from "@/components/manifests/manifest-banner";
import { useCluster } from "@/components/shell/status-context";
import type { Outputs } from "@/components/trpc";
import { CopyField } from "@/components/ui/copy";
import { Dialog, DialogPart } from "@/components/ui/dialog";
import { Strip } from "@/components/ui/strip";
import { ClockTime } from "@/components/ui/time";
import { rightsInWords, ruleFor, type MissingRight } from "@/lib/missing-right";

type Status = Outputs["cluster"]["status"];

/** One at a time, above the page's own head, not closable while true. */
export function Banner() {
  const { status } = useCluster();
  if (!status) return null;
  const forbidden = new Set(status.missing.map(({ resource }) => resource));
  const isStale = status.light.state === "stale";
  if (isStale && status.light.kinds.some((kind) => !forbidden.has(kind))) return <StaleStrip light={status.light} />;
  if (forbidden.size > 0) return <ForbiddenStrip missing={status.missing} nothingElse={isStale} />;
  return <ManifestBanner otherwise={<ModeStrip summary={status.summary} />} />;
}

function StaleStrip({ light }: { light: Status["light"] }) {
  const { retry } = useCluster();
  return (
    <Strip look="b-stale" icon="clock" live>
      <p>
        <b>Stale{light.sinceMs !== undefined && <> since <ClockTime at={light.sinceMs} /></>}.</b>{" "}
        {light.kinds.join(", ")}: {withoutStop(light.reason ?? "the server does not answer")}.{" "}
        {light.heardAtMs === undefined ? "What was never read is not shown; the rest is the state of then." : "What you see of them is the state of then."}
      </p>
      <button type="button" className="underline" onClick={retry}>
        Look again
      </button>
    </Strip>
  );
}

function withoutStop(text: string): string {
  return text.replace(/[.\s]+$/u, "");
}

/** Names what is missing and what is shown all the same; the rule is one click away. */
function ForbiddenStrip({ missing, nothingElse }: { missing: readonly MissingRight[]; nothingElse: boolean }) {
  const [open, setOpen] = useState(false);
  const { retry } = useCluster();
  return (
    <Strip look="b-stale" icon="lock" live>
      <p>
        <b>{nothingElse ? "Nothing of this cluster may be read." : "Not all of this cluster may be read."}</b> Missing: {rightsInWords(missing)}.{" "}
        {nothingElse ? "Until one of them is given, the pages stay empty." : "What rests on them is unknown; everything else is shown."}
      </p>
      <button type="button" className="underline" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        The rule
      </button>
      <button type="button" className="underline" onClick={retry}>
        Look again
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Missing rights" about="A cluster admin applies this rule and binds it to you.">
        <DialogPart>
          <CopyField label="Rule" text={ruleFor(missing, "voldeck-read")} />
        </DialogPart>
      </Dialog>
    </Strip>
  );
}

function ModeStrip({ summary }: { summary: Status["summary"] }) {
  if (summary.mode === "bundle") {
    return (
      <Strip look="b-rec" icon="bundle">
        <p>
          <b>Recorded.</b> {summary.name}, read-only. Nothing here can be changed.
        </p>
      </Strip>
    );
  }
  if (!summary.simulated) return null;
  return (
    <Strip look="b-sim" icon="flask">
      <p>
        <b>Simulated.</b> This node is a memory host: nothing is mounted and no driver is called.
      </p>
    </Strip>
  );
}
