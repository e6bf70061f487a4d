"use client";

import { useQuery } from "@tanstack/react-query";
import { DropdownMenu as Menu } from "radix-ui";
import Link from "next/link";
import { Mark } from "@/components/shell/mark";
import { pages } from "@/components/shell/pages";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC } from "@/components/trpc";
import { Icon } from "@/components/ui/icon";

const firstNoun = pages[0]?.noun ?? "plugins";

export function ClusterSwitcher() {
  const { cluster, status } = useCluster();
  const clusters = useQuery(useTRPC().cluster.list.queryOptions());
  return (
    <Menu.Root>
      <Menu.Trigger className="cluster">
        <Mark className="mark" />
        <span className="word min-w-0 flex-1">
          <b className="truncate">{status?.summary.name ?? cluster}</b>
          <small className="truncate">{status ? aboutCluster(status) : "…"}</small>
          <span className="vh">, switch cluster</span>
        </span>
        <Icon name="up-down" className="word" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="start" sideOffset={4}>
          <Menu.Label className="menu-label">Clusters</Menu.Label>
          {clusters.data?.map((each) => (
            <Menu.Item key={each.id} asChild>
              <Link className="menu-item" href={paths.list(each.id, firstNoun)} aria-current={each.id === cluster || undefined}>
                <Icon name={each.id === cluster ? "check" : "plugins"} small className={each.id === cluster ? "" : "invisible"} />
                <span>
                  {each.name}
                  <small className="muted block">{each.server}</small>
                </span>
              </Link>
            </Menu.Item>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

function aboutCluster({ summary, counts }: NonNullable<ReturnType<typeof useCluster>["status"]>): string {
  const nodes = `${counts.nodes.toLocaleString()} ${counts.nodes === 1 ? "node" : "nodes"}`;
  return [summary.version, nodes].filter((text) => text !== undefined).join(" · ");
}
