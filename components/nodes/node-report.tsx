import Link from "next/link";
import type { ReactNode } from "react";
import type { NodeDetail } from "@/components/nodes/node-page";
import { paths } from "@/components/shell/paths";
import { Empty } from "@/components/shell/states";
import { useCluster } from "@/components/shell/status-context";
import { Dash } from "@/components/ui/dash";
import { optionsInWords } from "@/components/ui/mount-options";
import { Status } from "@/components/ui/status";
import type { NodeReport } from "@/lib/node-report";
import type { StatusWord } from "@/lib/words";

export function NoReport({ what }: { what: string }) {
  return (
    <Empty icon="unknown" title={`${what} of this node are unknown`}>
      <p>No agent answers there, and the API does not say it. What would settle it: `voldeck inspect` on the node.</p>
    </Empty>
  );
}

/** One per target: the topmost. */
export function mountsOf(report: NodeReport): NodeReport["otherMounts"] {
  const mounts = [...report.volumes.flatMap((volume) => volume.mounts), ...report.otherMounts];
  return [...new Map(mounts.map((mount) => [mount.target, mount])).values()];
}

/** Every mount below the root, as the mount table has it. */
export function NodeMounts({ detail: { report } }: { detail: NodeDetail }) {
  if (!report) return <NoReport what="Mounts" />;
  const mounts = mountsOf(report);
  if (mounts.length === 0) return <p className="px-5 py-4">Nothing is mounted below {report.root}.</p>;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Mounts">
      <table className="t compared">
        <thead>
          <tr>
            <th scope="col">Mounted at</th>
            <th scope="col">From</th>
            <th scope="col">Type</th>
            <th scope="col">Options</th>
          </tr>
        </thead>
        <tbody>
          {mounts.map((mount) => (
            <tr key={mount.target} title={mount.line}>
              <td className="proof">{mount.target}</td>
              <td className="proof">{mount.source}</td>
              <td className="proof">{mount.fsType}</td>
              <td className="proof">{optionsInWords(mount.options)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Installed {
  readonly path: string;
  readonly name: ReactNode;
  readonly kind: string;
  readonly word: StatusWord;
  readonly state: string;
}

/** FlexVolume drivers and plugin sockets as they lie on the disk: none was run or dialled for this page. */
export function NodeDrivers({ detail: { report } }: { detail: NodeDetail }) {
  const { cluster } = useCluster();
  if (!report) return <NoReport what="Drivers and sockets" />;
  const rows = [...report.flexDrivers.map((driver) => driverRow(cluster, driver)), ...report.pluginSockets.map(socketRow)];
  return (
    <>
      {rows.length === 0 ? (
        <Empty icon="plugins" title="No driver is installed on this node">
          <p>FlexVolume drivers and the sockets of CSI drivers are listed here as soon as they lie on its disk.</p>
        </Empty>
      ) : (
        <InstalledTable rows={rows} />
      )}
      {report.unread?.map(({ path, why }) => (
        <p key={path} className="t-foot">
          {path} could not be listed: {why}
        </p>
      ))}
    </>
  );
}

function driverRow(cluster: string, { name, path, problem }: NodeReport["flexDrivers"][number]): Installed {
  const link = (
    <Link className="row" href={paths.plugin(cluster, name)} prefetch={false}>
      {name}
    </Link>
  );
  const stands = problem === undefined ? { word: "ok" as const, state: "executable" } : { word: "failed" as const, state: problem };
  return { path, kind: "FlexVolume driver", name: link, ...stands };
}

function socketRow({ path, driver }: NodeReport["pluginSockets"][number]): Installed {
  return { path, kind: "plugin socket", name: driver ?? <Dash why="its path names no driver" />, word: "unknown", state: "there, not dialled" };
}

function InstalledTable({ rows }: { rows: readonly Installed[] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Drivers and sockets">
      <table className="t compared">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Kind</th>
            <th scope="col">State</th>
            <th scope="col">Path</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.path} data-key={row.path}>
              <td className="name">{row.name}</td>
              <td>{row.kind}</td>
              <td>
                <Status word={row.word} text={row.state} />
              </td>
              <td className="proof">{row.path}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
