"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { ReactNode } from "react";
import { errorCodeOf } from "@/components/errors";
import { pages } from "@/components/shell/pages";
import { paths } from "@/components/shell/paths";
import { NotFound } from "@/components/shell/states";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC } from "@/components/trpc";

/** The server knows no cluster of the address: neither by this slug, nor could it be one. */
export function isNoCluster(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === "not-found" || code === "invalid";
}

/** The page, unless its address names a cluster that is not there. */
export function KnownCluster({ children }: { children: ReactNode }) {
  const { status, error } = useCluster();
  return status === undefined && isNoCluster(error) ? <NoCluster /> : children;
}

function NoCluster() {
  const { cluster } = useCluster();
  const clusters = useQuery(useTRPC().cluster.list.queryOptions());
  return (
    <NotFound
      title="There is no such cluster"
      actions={clusters.data?.map((each) => (
        <Link key={each.id} className="btn" href={paths.list(each.id, pages[0]?.noun ?? "")}>
          {each.name}
        </Link>
      ))}
    >
      <p>
        No cluster here goes by <span className="name">{cluster}</span>. It may be one of another Voldeck, or its kubeconfig is no longer given.
      </p>
    </NotFound>
  );
}
