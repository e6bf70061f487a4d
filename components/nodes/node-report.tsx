import type { NodeDetail } from "@/components/nodes/node-page";
import { Empty } from "@/components/shell/states";

function NoReport({ what }: { what: string }) {
  return (
    <Empty icon="unknown" title={`${what} of this node are unknown`}>
      <p>No agent answers there, and the API does not say it. What would settle it: `voldeck inspect` on the node.</p>
    </Empty>
  );
}

/** Every mount below the root, as the mount table has it. */
export function NodeMounts({ detail: { report } }: { detail: NodeDetail }) {
  if (!report) return <NoReport what="Mounts" />;
  const mounts = [...report.volumes.flatMap((volume) => volume.mounts), ...report.otherMounts];
  const byTarget = new Map(mounts.map((mount) => [mount.target, mount]));
  if (byTarget.size === 0) return <p className="px-5 py-4">Nothing is mounted below {report.root}.</p>;
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
          {[...byTarget.values()].map((mount) => (
            <tr key={mount.target} title={mount.line}>
              <td className="proof">{mount.target}</td>
              <td className="proof">{mount.source}</td>
              <td className="proof">{mount.fsType}</td>
              <td className="proof">{mount.options.join(",")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** FlexVolume drivers in the plugin folder, and sockets of CSI drivers. */
export function NodeDrivers({ detail: { report } }: { detail: NodeDetail }) {
  if (!report) return <NoReport what="Drivers and sockets" />;
  const rows = [
    ...report.flexDrivers.map((driver) => ({ kind: "FlexVolume", name: driver.name, path: driver.path, problem: driver.problem })),
    ...report.pluginSockets.map((socket) => ({ kind: "socket", name: socket.driver ?? "–", path: socket.path, problem: undefined })),
  ];
  if (rows.length === 0) return <p className="px-5 py-4">No FlexVolume driver is installed and no plugin socket is there.</p>;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Drivers and sockets">
      <table className="t compared">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Kind</th>
            <th scope="col">Path</th>
            <th scope="col">Problem</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.path}>
              <td className="name">{row.name}</td>
              <td>{row.kind}</td>
              <td className="proof">{row.path}</td>
              <td className="proof text-failed-fg">{row.problem}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
