"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { Mark } from "@/components/shell/mark";
import { pages } from "@/components/shell/pages";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC, type Outputs } from "@/components/trpc";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";

const firstNoun = pages[0]?.noun ?? "plugins";

/** Which cluster one looks at, and the way to another. */
export function ClusterSwitcher() {
  const { cluster, status } = useCluster();
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="cluster" onClick={() => setOpen(true)} aria-haspopup="dialog">
        <Mark className="mark" />
        <span className="word min-w-0 flex-1">
          <b className="truncate">{status?.summary.name ?? cluster}</b>
          <small className="truncate">{status ? aboutCluster(status) : "…"}</small>
          <span className="vh">, switch cluster</span>
        </span>
        <Icon name="up-down" className="word" />
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Clusters" about="Of the kubeconfigs given, or this machine alone.">
        <ClusterList current={cluster} onChoose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function ClusterList({ current, onChoose }: { current: string; onChoose: () => void }) {
  const clusters = useQuery(useTRPC().cluster.list.queryOptions());
  return (
    <ul className="p-2">
      {clusters.data?.map((each) => (
        <li key={each.id}>
          <Link className="menu-item" href={paths.list(each.id, firstNoun)} aria-current={each.id === current || undefined} onClick={onChoose}>
            <Icon name="check" small className={each.id === current ? "" : "invisible"} />
            <span>
              {each.name}
              <small className="muted block">
                {each.server}
                {each.insecure && ", certificate not checked"}
              </small>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function aboutCluster({ summary, counts }: Outputs["cluster"]["status"]): string {
  const nodes = counts.nodes === undefined ? undefined : `${counts.nodes.toLocaleString()} ${counts.nodes === 1 ? "node" : "nodes"}`;
  return [summary.version, nodes].filter((text) => text !== undefined).join(" · ");
}
