"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { CapabilityTable } from "@/components/plugins/capability-table";
import { PluginHistory } from "@/components/plugins/plugin-history";
import { PluginHosts } from "@/components/plugins/plugin-hosts";
import { PluginVolumes } from "@/components/plugins/plugin-volumes";
import { PageHead } from "@/components/shell/page-head";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { isNotFound, NotFound, Unreadable } from "@/components/shell/states";
import { useTRPC, type Outputs } from "@/components/trpc";
import { Icon } from "@/components/ui/icon";
import { Status } from "@/components/ui/status";
import { useUrlState } from "@/components/list/url-state";
import { BarSection } from "@/components/volumes/volume-skeleton";
import { messageOf } from "@/lib/errors";
import type { StatusWord } from "@/lib/words";

export type PluginDetail = Outputs["plugin"]["get"];

export function PluginPage({ name }: { name: string }) {
  const { cluster } = useCluster();
  const node = useUrlState().get("node");
  const query = useQuery(useTRPC().plugin.get.queryOptions({ cluster, name }));
  if (query.error && isNotFound(query.error)) {
    return (
      <NotFound
        title={`No plugin ${name}`}
        actions={
          <Link className="btn" href={paths.list(cluster, "plugins")}>
            All plugins
          </Link>
        }
      >
        <p>{messageOf(query.error)}. A FlexVolume driver that was removed is no longer known.</p>
      </NotFound>
    );
  }
  if (query.error && !query.data) {
    return <Unreadable what={`${name} could not be read`} error={query.error} onRetry={() => void query.refetch()} skeleton={<PluginSkeleton name={name} />} />;
  }
  if (!query.data) return <PluginSkeleton name={name} />;
  const detail = query.data;
  const hosts = node === "" ? detail.hosts : detail.hosts.filter((host) => host.nodeName === node);
  return (
    <>
      <PageHead
        title={
          <>
            <span className="mono">{name}</span>
            <Status word={overall(detail)} fill />
          </>
        }
        question={detail.kind === "CSI driver" ? "CSI driver, served by kubernetes.io/csi" : `${detail.kind} plugin`}
      />
      {detail.note && (
        <p className="flex gap-2 px-3.5 pb-3 desk:px-5" role="note">
          <Icon name="info" className="mt-0.5 flex-none" />
          {detail.note}
        </p>
      )}
      <div className="pad cols grid-cols-1 gap-4 desk:grid-cols-[minmax(0,1.12fr)_minmax(0,1fr)]">
        <div className="cols gap-4">
          <PluginHosts hosts={hosts} all={detail.hosts.length} />
          <PluginVolumes detail={detail} />
          <PluginHistory detail={detail} />
        </div>
        <CapabilityTable detail={detail} />
      </div>
    </>
  );
}

/** The gravest word of its nodes. */
function overall(detail: PluginDetail): StatusWord {
  const words = new Set(detail.hosts.map((host) => host.word));
  return (["failed", "stuck", "ok", "unknown"] as const).find((word) => words.has(word)) ?? "not applicable";
}

function PluginSkeleton({ name }: { name: string }) {
  return (
    <div aria-busy="true">
      <PageHead title={<span className="mono">{name}</span>} question="…" />
      <div className="pad cols grid-cols-1 gap-4 desk:grid-cols-2">
        <BarSection title="On each node" rows={3} />
        <BarSection title="What it can do" rows={12} />
      </div>
    </div>
  );
}
