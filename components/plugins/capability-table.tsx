import { capabilities, type CapabilityText } from "@/components/plugins/capabilities";
import type { PluginDetail } from "@/components/plugins/plugin-page";
import { Icon } from "@/components/ui/icon";
import { Section } from "@/components/ui/section";

/** What it can do, and what each means; for a CSI driver two things must hold. */
export function CapabilityTable({ detail }: { detail: PluginDetail }) {
  if (!detail.capabilities) {
    return (
      <Section title="What it can do" aside="unknown" padded>
        <p>No plugin could be made of this driver yet, so nothing is known of what it can do.</p>
      </Section>
    );
  }
  const isDriver = detail.kind === "CSI driver";
  return (
    <Section title="What it can do" aside={detail.accessModes.length > 0 ? detail.accessModes.join(", ") : undefined}>
      {isDriver && <p className="border-b border-line px-3.5 py-2">Two things must hold: the plugin has the interface, and the driver says it can.</p>}
      <div className="scroll" tabIndex={0} role="region" aria-label="Capabilities">
        <table className="t caps">
          <thead>
            <tr>
              <th scope="col">Capability</th>
              <th scope="col">Plugin</th>
              {isDriver && <th scope="col">Driver</th>}
            </tr>
          </thead>
          <tbody>
            {capabilities.map((capability) => (
              <CapabilityRow key={capability.key} capability={capability} detail={detail} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function CapabilityRow({ capability, detail }: { capability: CapabilityText; detail: PluginDetail }) {
  const own = detail.capabilities?.[capability.key];
  const said = detail.csiDriver && capability.driver?.(detail.csiDriver);
  return (
    <tr>
      <th scope="row">
        {capability.title}
        <span className="why">{said?.field ?? capability.means}</span>
      </th>
      <td>
        <YesNo answer={own} />
      </td>
      {detail.kind === "CSI driver" && <td>{said ? <YesNo answer={said.yes} /> : <span className="muted" title="no object says it">–</span>}</td>}
    </tr>
  );
}

function YesNo({ answer }: { answer: boolean | string | undefined }) {
  if (answer === true || answer === "yes") {
    return (
      <span className="st st-ok">
        <Icon name="check" />
        yes
      </span>
    );
  }
  return (
    <span className="st st-na">
      <Icon name="na" />
      {typeof answer === "string" ? answer : "no"}
    </span>
  );
}
