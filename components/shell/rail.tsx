"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { Fragment } from "react";
import { ClusterSwitcher } from "@/components/shell/cluster-switcher";
import { pages, type Page } from "@/components/shell/pages";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { IconButton } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";

interface RailProps {
  folded?: boolean;
  /** Without it the rail can't be folded (the sheet of a phone). */
  onFold?: () => void;
  onNavigate?: () => void;
}

export function Rail({ folded = false, onFold, onNavigate }: RailProps) {
  return (
    <>
      <ClusterSwitcher />
      <RailPages onNavigate={onNavigate} />
      <div className="foot">
        <span className="min-w-0 flex-1">Voldeck {process.env.VOLDECK_VERSION}</span>
        {onFold && <IconButton small label={folded ? "Unfold the rail" : "Fold the rail"} icon="fold" onClick={onFold} />}
      </div>
    </>
  );
}

function RailPages({ onNavigate }: { onNavigate: (() => void) | undefined }) {
  const { cluster, status } = useCluster();
  const noun = usePathname().split("/")[3];
  return (
    <nav aria-label="Pages">
      {pages.filter((page) => page.noun !== "operations" || status?.counts.operations !== undefined).map((page) => (
        <Fragment key={page.noun}>
          {page.noun === "operations" && <div className="gap" />}
          <Link href={paths.list(cluster, page.noun)} title={page.title} aria-current={page.noun === noun ? "page" : undefined} onClick={onNavigate}>
            <Icon name={page.icon} />
            <span className="word">{page.title}</span>
            <Count page={page} />
          </Link>
        </Fragment>
      ))}
    </nav>
  );
}

/** How many there are; of operations how many run, and nothing while none does. */
function Count({ page }: { page: Page }) {
  const count = useCluster().status?.counts[page.count];
  if (count === undefined) return null;
  if (page.noun !== "operations") return <span className="n">{count.toLocaleString()}</span>;
  if (count === 0) return null;
  return (
    <span className="n busy" title={`${count} running`}>
      {count}
      <span className="vh"> running</span>
    </span>
  );
}
