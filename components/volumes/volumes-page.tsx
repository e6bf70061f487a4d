"use client";

import { ListPage, type SortProps } from "@/components/list/list-page";
import { SortHead } from "@/components/list/sort-head";
import { useUrlState } from "@/components/list/url-state";
import { useTRPCClient, type Outputs } from "@/components/trpc";
import { Segments } from "@/components/ui/segments";
import { VolumeCells, type VolumeRow } from "@/components/volumes/columns";
import { TokenChip } from "@/components/volumes/token-chip";
import { volumeGroups, type VolumeGroup } from "@/lib/inputs/volume";

const headTexts = ["Pod / volume", "Status", "Plugin", "Node", "Way", "Size", "Used", "Source", "Mounted at"] as const;
const order = { columns: ["pod", "status", "plugin", "node", "size", "used"] } as const;
type Column = (typeof order.columns)[number];
type VolumeList = Outputs["volume"]["list"];
type GroupHead = VolumeList["heads"][number];
type VolumeLine = VolumeRow | GroupHead;

const groupings = [
  { value: "", text: "No groups" },
  { value: "pod", text: "Pod" },
  { value: "plugin", text: "Plugin" },
  { value: "node", text: "Node" },
  { value: "claim", text: "Claim" },
] as const;

export function VolumesPage() {
  const client = useTRPCClient();
  const url = useUrlState();
  const tokens = url.get("tokens") === "1";
  const group = volumeGroups.find((each) => each === url.get("group"));
  return (
    <ListPage
      title="Volumes"
      question="Which plugin serves each pod volume, and is it all right?"
      icon="volumes"
      resource="pods"
      path={["volume", "list"]}
      order={order}
      more={{ tokens, group }}
      fetch={(query) => client.volume.list.query({ ...query, tokens, group }).then(withHeads)}
      placeholder="Filter: words, plugin:csi, status:stuck"
      headTexts={headTexts}
      heads={(sort: SortProps<Column>) => <VolumeHeads {...sort} />}
      cells={(line: VolumeLine, cluster) => ("head" in line ? <GroupCell line={line} group={group} /> : <VolumeCells row={line} cluster={cluster} />)}
      emptyTitle="No pod has a volume yet"
      empty={<p>Every volume of every pod appears here as soon as the pod is in the API. On a standalone node a pod comes from a file in the manifests folder.</p>}
      chips={(list) => (
        <>
          <Segments label="Group" options={groupings} value={group ?? ""} onChange={(by) => url.step({ group: by })} />
          <TokenChip shown={tokens} hidden={list?.hiddenTokens ?? 0} onChange={(shown) => url.step({ tokens: shown ? "1" : "" })} />
        </>
      )}
      aboutCommand="All volumes of all pods, one a line. Status and plugin are Voldeck's own: kubectl can't filter by them."
      foot={<span className="only-folded ml-auto">2 columns folded: source and path</span>}
    />
  );
}

/** The lines of a window as they stand: each head above its group. */
function withHeads(list: VolumeList): Omit<VolumeList, "rows"> & { readonly rows: readonly VolumeLine[] } {
  const lines: VolumeLine[] = [...list.rows];
  for (const head of list.heads) lines.splice(head.at - list.offset, 0, head);
  return { ...list, rows: lines };
}

function GroupCell({ line, group }: { line: GroupHead; group: VolumeGroup | undefined }) {
  return (
    <th scope="rowgroup" colSpan={headTexts.length}>
      <b>{line.head === "" ? `no ${group ?? "group"}` : line.head}</b> · {line.count.toLocaleString()}
    </th>
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
