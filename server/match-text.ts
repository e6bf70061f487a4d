/** The answers of `voldeck match` for a person at a terminal: a table per object, then what needs words. */
import { withoutControls } from "@/lib/controls";
import type { Match } from "@/server/diagnosis/evidence";
import type { ManifestVolume } from "@/server/diagnosis/manifest-match";
import { columns } from "@/server/print";

export function matchText(volumes: readonly ManifestVolume[], { verbose }: { readonly verbose: boolean }): string {
  const sections = [...Map.groupBy(volumes, ({ owner }) => owner)].map(([owner, own]) => [withoutControls(owner), ...ownerLines(own, verbose)]);
  return sections.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function ownerLines(volumes: readonly ManifestVolume[], verbose: boolean): readonly string[] {
  const head = ["VOLUME", "SOURCE", "ON THE NODE", "ATTACHED BY", "GROWS"];
  const rows = volumes.map((volume) => [
    volume.volume,
    [volume.source.kind, volume.source.name].filter(Boolean).join(" "),
    pluginText(volume.node),
    volume.attachController.kind === "none" ? "-" : pluginText(volume.attachController),
    volume.grows.answer,
  ]);
  return [...columns([head, ...rows].map((row) => row.map(withoutControls))), ...volumes.flatMap((volume) => reasons(volume, verbose))].map((line) => `  ${line}`);
}

function pluginText(match: Match): string {
  switch (match.kind) {
    case "one":
      return match.plugin;
    case "several":
      return match.plugins.join(" and ");
    case "none":
    case "unknown":
      return match.kind;
  }
}

/** That a configMap cannot grow needs no words. */
function reasons({ volume, claim, node, grows, verdicts = [] }: ManifestVolume, verbose: boolean): readonly string[] {
  const why = node.kind === "one" ? [] : [node.kind === "unknown" ? node.why : node.text];
  if (verbose || claim !== undefined || grows.answer !== "no") why.push(`grows: ${grows.answer}, ${grows.why}`);
  const answers = verbose ? verdicts.map(({ name, could, reason }) => `  ${could ? "yes" : "no "}  ${name}: ${reason}`) : [];
  return [...why.map((text) => `${volume}: ${text}`), ...answers].map(withoutControls);
}
