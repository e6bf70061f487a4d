import { capabilities } from "@/components/plugins/capabilities";
import type { Outputs } from "@/components/trpc";
import { Icon } from "@/components/ui/icon";

type Row = Outputs["plugin"]["list"]["rows"][number];

/** One node has room for what each of its plugins can do. */
export function CapabilityHeads() {
  return capabilities.map(({ key, short, title, means }) => (
    <th key={key} className="hd cap" scope="col" title={`${title}: ${means}`}>
      {short}
    </th>
  ));
}

/** Dashes, with the reason, where no plugin could be made or the driver lies behind one. */
export function CapabilityCells({ row }: { row: Row }) {
  const { capabilities: own } = row;
  const unknown = row.kind === "CSI driver" ? "what the driver can do stands on its page" : "no plugin could be made of it";
  return capabilities.map(({ key }) => (
    <td key={key} className="cap" title={own ? undefined : unknown}>
      {own ? <Mark answer={own[key]} /> : <span className="muted">–</span>}
    </td>
  ));
}

function Mark({ answer }: { answer: boolean | string }) {
  if (answer === false || answer === "no") return <span className="sr-only">no</span>;
  if (typeof answer === "string" && answer !== "yes") return <span className="muted text-xs">{answer}</span>;
  return (
    <>
      <Icon name="check" />
      <span className="sr-only">yes</span>
    </>
  );
}
