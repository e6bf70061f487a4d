import Link from "next/link";
import { paths } from "@/components/shell/paths";
import type { Outputs } from "@/components/trpc";
import { Dash } from "@/components/ui/dash";
import { Flash } from "@/components/ui/flash";
import { PluginName, ShortName } from "@/components/ui/plugin-name";
import { Status } from "@/components/ui/status";
import { UseBar } from "@/components/ui/use-bar";
import { WayTicks } from "@/components/volumes/way-ticks";

export type VolumeRow = Outputs["volume"]["list"]["rows"][number];

/** The cells of one volume. The first names it and opens it. */
export function VolumeCells({ row, cluster }: { row: VolumeRow; cluster: string }) {
  return (
    <>
      <td>
        <Link className="row" href={paths.volume(cluster, { ...row, uid: row.podUid })} prefetch={false} aria-label={row.key}>
          <span className="muted">{row.namespace}/</span>
          <ShortName name={row.pod} />
          <span className="muted"> / </span>
          <b>{row.volume}</b>
        </Link>
      </td>
      <td>
        <Flash value={row.word}>
          <Status word={row.word} />
        </Flash>
      </td>
      <td>
        <ServedBy row={row} />
      </td>
      <td>{row.node ?? <Dash why="not bound to a node" />}</td>
      <td>
        <Flash value={`${row.at} ${row.word}`}>
          <WayTicks ticks={row.ticks} summary={row.word === "ok" ? "all stages done" : `${row.at}: ${row.word}`} />
          <span className="muted text-xs">{row.at}</span>
        </Flash>
      </td>
      <td className="num">
        <SizeCell row={row} />
      </td>
      <td className="num last">
        <UseBar usedBytes={row.usedBytes} capacityBytes={row.capacityBytes} />
      </td>
      <td className="fold">
        {row.source.kind} {row.source.name && (
          <span className="name">
            <ShortName name={row.source.name} />
          </span>
        )}
      </td>
      <td className="mono fold">{row.mountedAt ?? <Dash why="no container mounts it" />}</td>
    </>
  );
}

export function ServedBy({ row: { plugin } }: { row: Pick<VolumeRow, "plugin"> }) {
  switch (plugin.state) {
    case "one":
      return <PluginName name={plugin.name} />;
    case "several":
      return <span className="text-stuck-fg" title={plugin.names.join(", ")}>several</span>;
    case "none":
      return <span className="text-stuck-fg" title="no volume plugin matched">none</span>;
    case "not yet":
      return <span className="muted" title="the claim has no volume yet">not yet</span>;
    case "unknown":
      return <span className="muted" title="the plugins of its node are not known">unknown</span>;
  }
}

function SizeCell({ row: { size, growsTo } }: { row: VolumeRow }) {
  if (size === undefined) return <Dash why="has no size of its own" />;
  if (growsTo === undefined) return <Flash value={size}>{size}</Flash>;
  return (
    <Flash value={`${size} ${growsTo}`}>
      <span className="muted" title="granted">
        {size} →
      </span>{" "}
      <span title="requested">{growsTo}</span>
    </Flash>
  );
}
