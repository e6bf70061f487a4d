"use client";

import { ListPage, type SortProps } from "@/components/list/list-page";
import { SortHead } from "@/components/list/sort-head";
import { useUrlState } from "@/components/list/url-state";
import { useTRPCClient } from "@/components/trpc";
import { VolumeCells, type VolumeRow } from "@/components/volumes/columns";
import { TokenChip } from "@/components/volumes/token-chip";

const headTexts = ["Pod / volume", "Status", "Plugin", "Node", "Way", "Size", "Used", "Source", "Mounted at"] as const;
const order = { columns: ["pod", "status", "plugin", "node", "size", "used"] } as const;
type Column = (typeof order.columns)[number];

export function VolumesPage() {
  const client = useTRPCClient();
  const url = useUrlState();
  const tokens = url.get("tokens") === "1";
  return (
    <ListPage
      title="Volumes"
      question="Which plugin serves each pod volume, and is it all right?"
      icon="volumes"
      resource="pods"
      path={["volume", "list"]}
      order={order}
      more={{ tokens }}
      fetch={(query) => client.volume.list.query({ ...query, tokens })}
      placeholder="Filter: words, plugin:csi, status:stuck"
      headTexts={headTexts}
      heads={(sort: SortProps<Column>) => <VolumeHeads {...sort} />}
      cells={(row: VolumeRow, cluster) => <VolumeCells row={row} cluster={cluster} />}
      emptyTitle="No pod has a volume yet"
      empty={<p>Every volume of every pod appears here as soon as the pod is in the API. On a standalone node a pod comes from a file in the manifests folder.</p>}
      chips={(list) => <TokenChip shown={tokens} hidden={list?.hiddenTokens ?? 0} onChange={(shown) => url.step({ tokens: shown ? "1" : "" })} />}
      aboutCommand="All volumes of all pods, one a line. Status and plugin are Voldeck's own: kubectl can't filter by them."
      foot={<span className="only-folded ml-auto">2 columns folded: source and path</span>}
    />
  );
}

function VolumeHeads(sort: SortProps<Column>) {
  return (
    <>
      <SortHead column="pod" {...sort}>
        Pod / volume
      </SortHead>
      <SortHead column="status" {...sort}>
        Status
      </SortHead>
      <SortHead column="plugin" {...sort}>
        Plugin
      </SortHead>
      <SortHead column="node" {...sort}>
        Node
      </SortHead>
      <th scope="col">Way</th>
      <SortHead column="size" className="num" {...sort}>
        Size
      </SortHead>
      <SortHead column="used" className="num last" {...sort}>
        Used
      </SortHead>
      <th scope="col" className="fold">
        Source
      </th>
      <th scope="col" className="fold">
        Mounted at
      </th>
    </>
  );
}
