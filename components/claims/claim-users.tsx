import Link from "next/link";
import type { ClaimDetail } from "@/components/claims/claim-page";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { Section } from "@/components/ui/section";
import { Ago } from "@/components/ui/time";

export function ClaimUsers({ detail: { row } }: { detail: ClaimDetail }) {
  const { cluster } = useCluster();
  if (row.pods.length === 0) {
    return (
      <Section title="Pods using it" padded>
        <p>
          No pod uses it
          {row.unusedSince !== undefined && (
            <>
              , since <Ago at={row.unusedSince} />
            </>
          )}
          . Its data stays.
        </p>
      </Section>
    );
  }
  return (
    <Section title="Pods using it">
      <table className="t">
        <thead className="vh">
          <tr>
            <th scope="col">Pod</th>
            <th scope="col">Node</th>
          </tr>
        </thead>
        <tbody>
          {row.pods.map((pod) => (
            <tr key={`${pod.name} ${pod.volume}`}>
              <td>
                <Link className="row mono" href={paths.volume(cluster, { namespace: row.namespace, pod: pod.name, volume: pod.volume })} prefetch={false}>
                  {pod.name}
                </Link>{" "}
                <span className="muted">as {pod.volume}</span>
              </td>
              <td>{pod.node ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
