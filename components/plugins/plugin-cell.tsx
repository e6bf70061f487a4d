import type { Outputs } from "@/components/trpc";
import { Ago } from "@/components/ui/time";
import { Flash } from "@/components/ui/flash";
import { Status } from "@/components/ui/status";

type MatrixCell = Outputs["plugin"]["list"]["rows"][number]["cells"][number];

/** One plugin on one node: there, failed, absent, or not to be seen from here. */
export function PluginCell({ cell, quiet }: { cell: MatrixCell; quiet: boolean }) {
  return (
    <Flash value={`${cell.state} ${cell.failedAtMs ?? cell.loadedAtMs ?? ""}`}>
      <CellText cell={cell} quiet={quiet} />
    </Flash>
  );
}

function CellText({ cell, quiet }: { cell: MatrixCell; quiet: boolean }) {
  switch (cell.state) {
    case "unknown":
      return <Status word="unknown" />;
    case "absent":
      return cell.volumes > 0 ? <Status word="stuck" text={`absent, ${waiting(cell.volumes)}`} /> : <span className="muted">absent</span>;
    case "failed":
      return <Status word="failed" text={cell.volumes > 0 ? `init failed, ${waiting(cell.volumes)}` : "init failed"} />;
    case "registered":
    case "probed":
      return (
        <>
          <Status word="ok" text={cell.state} />
          {cell.limit !== undefined && (
            <span className="muted text-xs">
              &ensp;{cell.volumes} of {cell.limit}
            </span>
          )}
          {cell.state === "probed" && !quiet && cell.loadedAtMs !== undefined && (
            <span className="muted text-xs">
              &ensp;
              <Ago at={cell.loadedAtMs} bare />
            </span>
          )}
        </>
      );
  }
}

function waiting(volumes: number): string {
  return volumes === 1 ? "1 volume waits" : `${volumes} volumes wait`;
}
