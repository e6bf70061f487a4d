import { PluginCell } from "@/components/plugins/plugin-cell";
import type { PluginDetail } from "@/components/plugins/plugin-page";
import { Section } from "@/components/ui/section";
import { ClockTime } from "@/components/ui/time";

/** Where it is: state, path and error, node by node. */
export function PluginHosts({ hosts, all }: { hosts: PluginDetail["hosts"]; all: number }) {
  return (
    <Section title="On each node" aside={hosts.length < all ? `${hosts.length} of ${all} nodes` : undefined}>
      <div className="scroll" tabIndex={0} role="region" aria-label="Nodes">
        <table className="t">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">State</th>
              <th scope="col">Where from</th>
              <th scope="col" className="num">
                Volumes
              </th>
            </tr>
          </thead>
          <tbody>
            {hosts.map((host) => (
              <HostRows key={host.nodeName} host={host} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function HostRows({ host }: { host: PluginDetail["hosts"][number] }) {
  return (
    <>
      <tr className={host.error === undefined ? undefined : "haserr"} data-key={host.nodeName}>
        <td className="name">{host.nodeName}</td>
        <td>
          <PluginCell cell={host} quiet={false} />
        </td>
        <td className="proof whitespace-normal">
          {host.path ?? (host.nodeId === undefined ? undefined : `node id ${host.nodeId}`) ?? host.notVisible ?? (host.state === "registered" ? "built in" : "")}
          {host.topologyKeys && <span className="k"> · {host.topologyKeys.join(", ")}</span>}
        </td>
        <td className="num">{host.volumes}</td>
      </tr>
      {host.error !== undefined && (
        <tr className="err">
          <td colSpan={4}>
            <p className="proof">
              {host.failedAtMs !== undefined && (
                <span className="k">
                  <ClockTime at={host.failedAtMs} /> ·{" "}
                </span>
              )}
              <b>{host.error}</b>
            </p>
          </td>
        </tr>
      )}
    </>
  );
}
