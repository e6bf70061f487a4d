"use client";

import { useQuery } from "@tanstack/react-query";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC } from "@/components/trpc";
import type { ManifestState } from "@/lib/manifests";

/** What became of the manifests; undefined where the cluster is not made from any, or not known yet. */
export function useManifests(): ManifestState | undefined {
  const { cluster, status } = useCluster();
  const enabled = status?.summary.mode === "standalone";
  return useQuery(useTRPC().manifest.state.queryOptions({ cluster }, { enabled })).data;
}

export function countText(count: number, noun: string): string {
  return `${count.toLocaleString()} ${count === 1 ? noun : `${noun}s`}`;
}
