"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { crumbsOf } from "@/components/shell/crumbs";
import { useCluster } from "@/components/shell/status-context";

export function Breadcrumb() {
  const { cluster, status } = useCluster();
  const crumbs = crumbsOf(usePathname(), { id: cluster, name: status?.summary.name ?? cluster });
  return (
    <nav className="min-w-0 flex-1" aria-label="Where you are">
      <ol className="crumbs">
        {crumbs.map((crumb, index) =>
          crumb.href === undefined ? (
            <li key={index} className="min-w-0">
              <span aria-current="page">{crumb.text}</span>
            </li>
          ) : (
            <li key={index} className="wide">
              <Link href={crumb.href} prefetch={false}>
                {crumb.text}
              </Link>
            </li>
          ),
        )}
      </ol>
    </nav>
  );
}
