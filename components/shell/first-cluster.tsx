"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { pages } from "@/components/shell/pages";
import { paths } from "@/components/shell/paths";
import { ShellSkeleton } from "@/components/shell/skeleton";
import { Empty, Failed } from "@/components/shell/states";
import { useTRPC } from "@/components/trpc";

/** `/` leads to the first page of the first cluster. */
export function FirstCluster() {
  const router = useRouter();
  const clusters = useQuery(useTRPC().cluster.list.queryOptions());
  const first = clusters.data?.[0];
  useEffect(() => {
    if (first) router.replace(paths.list(first.id, pages[0]?.noun ?? ""));
  }, [first, router]);
  if (clusters.error) {
    return (
      <main className="p-4">
        <Failed what="The list of clusters could not be read" error={clusters.error} onRetry={() => void clusters.refetch()} />
      </main>
    );
  }
  if (clusters.data?.length === 0) {
    return (
      <main className="p-4">
        <Empty icon="nodes" title="No cluster is configured">
          <p>Voldeck was started without a cluster. Start it with a kubeconfig, or without one for this machine alone.</p>
        </Empty>
      </main>
    );
  }
  return <ShellSkeleton />;
}
