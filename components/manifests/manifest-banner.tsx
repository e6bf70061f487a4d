"use client";

import { useState, type ReactNode } from "react";
import { ManifestDialog } from "@/components/manifests/manifest-dialog";
import { countText, useManifests } from "@/components/manifests/use-manifests";
import { Strip } from "@/components/ui/strip";
import type { ManifestState } from "@/lib/manifests";

/** Something about the manifests needs a person; `otherwise` where nothing does. */
export function ManifestBanner({ otherwise }: { otherwise: ReactNode }) {
  const state = useManifests();
  const [open, setOpen] = useState(false);
  const said = state && bannerText(state);
  return (
    <>
      {said ? (
        <Strip look="b-stale" icon="stuck" live>
          <p>
            <b>{said.title}</b> {said.text}
          </p>
          <button type="button" className="underline" aria-haspopup="dialog" onClick={() => setOpen(true)}>
            {said.action}
          </button>
        </Strip>
      ) : (
        otherwise
      )}
      {state && <ManifestDialog state={state} open={open} onClose={() => setOpen(false)} />}
    </>
  );
}

function bannerText({ folder, problem, waiting, errors }: ManifestState): { title: string; text: string; action: string } | undefined {
  if (problem !== undefined) {
    return { title: "The manifests can't be read.", text: `${folder}: ${problem}. What they brought stays.`, action: "Details" };
  }
  if (waiting) {
    const objects = waiting.objects.length === 1 ? "1 object is" : `${waiting.objects.length.toLocaleString()} objects are`;
    return { title: "A removal waits for you.", text: `${objects} no longer in the manifests: ${waiting.reason}.`, action: "Review" };
  }
  const [first] = errors;
  if (!first) return undefined;
  return {
    title: `${countText(errors.length, "error")} in the manifests.`,
    text: `${first.file}, line ${first.line}: ${firstLine(first.message)}. What the file brought before stays.`,
    action: errors.length === 1 ? "Details" : "All errors",
  };
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/[.:]$/, "");
}
