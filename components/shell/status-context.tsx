"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, type ReactNode } from "react";
import { useTRPC, type Outputs } from "@/components/trpc";

type ClusterStatus = Outputs["cluster"]["status"];

interface Shown {
  readonly cluster: string;
  readonly status: ClusterStatus | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** The server's clock less the browser's, so that ages are right whatever the browser's clock says. */
  readonly clockOffsetMs: number;
  /** The first picture of the cluster is not complete yet: what is missing may still come. */
  readonly reading: boolean;
}

const ShownCluster = createContext<Shown | undefined>(undefined);

export function ClusterStatusProvider({ cluster, children }: { cluster: string; children: ReactNode }) {
  const query = useQuery(useTRPC().cluster.status.queryOptions({ cluster }));
  const shown: Shown = {
    cluster,
    status: query.data,
    error: query.error,
    retry: () => void query.refetch(),
    reading: query.data === undefined || query.data.light.state === "catching up",
    clockOffsetMs: query.data ? query.data.nowMs - query.dataUpdatedAt : 0,
  };
  return <ShownCluster value={shown}>{children}</ShownCluster>;
}

/** Why nothing is known of a resource, when the cluster's picture of it is not fresh. Where rows are there, the banner says it. */
export function whyUnread(status: ClusterStatus | undefined, resource: string): string | undefined {
  const light = status?.light;
  if (light?.state !== "stale" || !light.kinds.includes(resource)) return undefined;
  return light.reason ?? "the API server does not answer";
}

/** The cluster that this page shows. */
export function useCluster(): Shown {
  const shown = useContext(ShownCluster);
  if (!shown) throw new Error("useCluster belongs below ClusterStatusProvider");
  return shown;
}
