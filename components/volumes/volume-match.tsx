import { Icon } from "@/components/ui/icon";
import { PluginName } from "@/components/ui/plugin-name";
import { Section } from "@/components/ui/section";
import type { VolumeDetail } from "@/components/volumes/detail-types";

type Match = NonNullable<VolumeDetail["match"]>;

/** Why this plugin: every plugin in the order asked, could it or could it not, and the field that decided. */
export function VolumeMatch({ detail: { match, matchNote, row } }: { detail: VolumeDetail }) {
  return (
    <Section title="Why this plugin" aside={match && `asked on ${row.node ?? "no node"}, in this order`}>
      {match ? <Answers match={match} /> : <p className="body">{whyNoMatch(row.plugin.state)}</p>}
      {matchNote && <p className="body border-t border-line text-fg-3">{matchNote}</p>}
    </Section>
  );
}

function whyNoMatch(state: VolumeDetail["row"]["plugin"]["state"]): string {
  if (state === "not yet") return "The claim has no persistent volume yet, so there is nothing to ask the plugins about.";
  return "The plugins of its node are not known, so none could be asked.";
}

function Answers({ match }: { match: Match }) {
  const could = match.plugins.filter((plugin) => plugin.could);
  return (
    <>
      <p className="border-b border-line px-3.5 py-2">
        <Verdict match={match} could={could.length} />
      </p>
      <div className="scroll" tabIndex={0} role="region" aria-label="Every plugin, asked">
        <table className="t asked">
          <thead className="vh">
            <tr>
              <th scope="col">Order</th>
              <th scope="col">Plugin</th>
              <th scope="col">Answer</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {match.plugins.map((plugin, index) => (
              <tr key={`${plugin.origin} ${plugin.name}`} className={plugin.could ? "yes" : undefined}>
                <td>{index + 1}</td>
                <td>
                  <PluginName name={plugin.name} />
                </td>
                <td>
                  {plugin.could ? (
                    <span className="st st-ok text-fg">
                      <Icon name="check" />
                      could
                    </span>
                  ) : (
                    <span className="muted">could not</span>
                  )}
                </td>
                <td className={plugin.could ? undefined : "muted"} title={plugin.reason}>
                  {plugin.origin === "probed" && "probed; "}
                  {inShort(plugin.reason)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Thirteen reasons that begin alike: what they share is left out, and stands on hover. */
function inShort(reason: string): string {
  return reason.replaceAll("persistentVolume.spec.", "PV.").replaceAll("volume.", "");
}

function Verdict({ match, could }: { match: Match; could: number }) {
  const all = match.plugins.length;
  if (match.winner !== undefined) {
    return (
      <>
        Of {all} plugins exactly one could serve it: <b className="mono">{match.winner}</b>.
      </>
    );
  }
  return (
    <>
      Of {all} plugins {could === 0 ? "none" : could} could serve it, so the kubelet answers: <b className="mono">{match.error?.message}</b>
    </>
  );
}
