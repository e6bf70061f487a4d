"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { ManifestDetails } from "@/components/manifests/manifest-details";
import { useManifests } from "@/components/manifests/use-manifests";
import { ComparedTable } from "@/components/nodes/compared-table";
import { NodeFacts } from "@/components/nodes/node-facts";
import { mountsOf, NodeDrivers, NodeMounts } from "@/components/nodes/node-report";
import { PodUseTable } from "@/components/nodes/pod-use";
import { useUrlState } from "@/components/list/url-state";
import { PageHead } from "@/components/shell/page-head";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { isNotFound, NotFound, Unreadable } from "@/components/shell/states";
import { useTRPC, type Outputs } from "@/components/trpc";
import { AsKubectl } from "@/components/ui/kubectl";
import { Status } from "@/components/ui/status";
import { BarSection } from "@/components/volumes/volume-skeleton";
import { messageOf } from "@/lib/errors";

export type NodeDetail = Outputs["node"]["get"];

const tabs = [
  { tab: "", text: "Wanted, reported, found" },
  { tab: "mounts", text: "Mounts" },
  { tab: "use", text: "Use by pod" },
  { tab: "drivers", text: "Drivers and sockets" },
] as const;
/** Only where the node's pods come from files. */
const manifestsTab = { tab: "manifests", text: "Manifests" } as const;

export function NodePage({ name }: { name: string }) {
  const { cluster } = useCluster();
  const query = useQuery(useTRPC().node.get.queryOptions({ cluster, name }));
  if (query.error && isNotFound(query.error)) {
    return (
      <NotFound
        title={`Node ${name} is not here`}
        actions={
          <Link className="btn" href={paths.list(cluster, "nodes")}>
            All nodes
          </Link>
        }
      >
        <p>{messageOf(query.error)}.</p>
      </NotFound>
    );
  }
  if (query.error && !query.data) {
    return <Unreadable what={`Node ${name} could not be read`} error={query.error} onRetry={() => void query.refetch()} skeleton={<NodeSkeleton name={name} />} />;
  }
  if (!query.data) return <NodeSkeleton name={name} />;
  return <NodeBody detail={query.data} />;
}

function NodeSkeleton({ name }: { name: string }) {
  return (
    <div className="pad pt-4" aria-busy="true">
      <BarSection title={name} rows={8} />
    </div>
  );
}

/** What a view holds, beside its name. */
function countIn(tab: string, { report, pods }: NodeDetail): number | undefined {
  if (tab === "mounts") return report && mountsOf(report).length;
  if (tab === "use") return pods?.length;
  return tab === "drivers" ? report && report.flexDrivers.length + report.pluginSockets.length : undefined;
}

function NodeBody({ detail }: { detail: NodeDetail }) {
  const url = useUrlState();
  const manifests = useManifests();
  const shown = manifests ? [...tabs, manifestsTab] : tabs;
  const chosen = shown.find((each) => each.tab === url.get("tab"))?.tab ?? "";
  const differences = detail.compared.filter((each) => each.differs).length;
  return (
    <>
      <PageHead
        title={
          <>
            <span className="mono">{detail.row.name}</span>
            <Status word={detail.row.word} fill text={differences === 0 ? detail.row.word : `${differences} ${differences === 1 ? "difference" : "differences"}`} />
          </>
        }
        question="What is really on this node?"
        actions={<AsKubectl command={detail.command} about="The node as the API holds it." />}
      />
      <NodeFacts detail={detail} />
      <div className="tabs" role="group" aria-label="Views">
        {shown.map(({ tab, text }) => (
          <button key={tab} type="button" aria-current={tab === chosen || undefined} onClick={() => url.step({ tab })}>
            {text} <span className="muted">{countIn(tab, detail)}</span>
          </button>
        ))}
      </div>
      {chosen === "" && <ComparedTable detail={detail} />}
      {chosen === "mounts" && <NodeMounts detail={detail} />}
      {chosen === "use" && <PodUseTable pods={detail.pods} />}
      {chosen === "drivers" && <NodeDrivers detail={detail} />}
      {chosen === "manifests" && manifests && (
        <section className="node-manifests" aria-label="Manifests">
          <ManifestDetails state={manifests} />
        </section>
      )}
    </>
  );
}
