import Link from "next/link";
import type { PluginDetail } from "@/components/plugins/plugin-page";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { ShortName } from "@/components/ui/plugin-name";
import { Section } from "@/components/ui/section";
import { Status } from "@/components/ui/status";

/** For whom: the volumes it serves, and those that wait for it. */
export function PluginVolumes({ detail }: { detail: PluginDetail }) {
  const { cluster } = useCluster();
  const { volumes, volumesTotal } = detail;
  const filter = `${detail.kind === "CSI driver" ? "driver" : "plugin"}:${detail.name}`;
  return (
    <Section title="Volumes it serves" aside={volumes.length < volumesTotal ? `first ${volumes.length} of ${volumesTotal.toLocaleString()}` : volumesTotal.toLocaleString()}>
      {volumes.length === 0 ? (
        <p className="body">No pod has a volume of it.</p>
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Volumes">
          <table className="t">
            <thead className="vh">
              <tr>
                <th scope="col">Volume</th>
                <th scope="col">Status</th>
                <th scope="col">Node</th>
              </tr>
            </thead>
            <tbody>
              {volumes.map((row) => (
                <tr key={row.key} data-key={row.key}>
                  <td>
                    <Link className="row" href={paths.volume(cluster, { ...row, uid: row.podUid })} prefetch={false} aria-label={row.key}>
                      <span className="muted">{row.namespace}/</span>
                      <ShortName name={row.pod} />
                      <span className="muted"> / </span>
                      <b>{row.volume}</b>
                    </Link>
                  </td>
                  <td>
                    <Status word={row.word} text={row.word === "ok" ? "ok" : `${row.word} at ${row.at}`} />
                  </td>
                  <td>{row.node ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {volumesTotal > 0 && (
        <p className="t-foot">
          <Link href={paths.filtered(cluster, "volumes", filter)} prefetch={false}>
            All in the list of volumes
          </Link>
        </p>
      )}
    </Section>
  );
}
