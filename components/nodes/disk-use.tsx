import { UseBar } from "@/components/ui/use-bar";
import type { Outputs } from "@/components/trpc";

type NodeRow = Outputs["node"]["list"]["rows"][number];

const grouped = (amount: string) => BigInt(amount).toLocaleString();

/** How full the file system is that holds the node's root. */
export function DiskUse({ row }: { row: NodeRow }) {
  return <UseBar usedBytes={row.disk?.usedBytes} capacityBytes={row.disk?.capacityBytes} unknown={whyUnknown(row)} />;
}

export function InodeUse({ row }: { row: NodeRow }) {
  const uncounted = row.disk?.inodes === "0" ? "this file system has no fixed number of inodes" : undefined;
  return <UseBar usedBytes={row.disk?.inodesUsed} capacityBytes={row.disk?.inodes} unknown={uncounted ?? whyUnknown(row)} inWords={grouped} />;
}

function whyUnknown({ disk, source }: NodeRow): string {
  return disk?.problem ?? (source === "node" ? "not in the node's report" : "no agent answers there");
}
