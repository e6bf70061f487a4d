import type { NodeDetail } from "@/components/nodes/node-page";
import { DiskUse, InodeUse } from "@/components/nodes/disk-use";
import { bytesInWords } from "@/components/ui/bytes";
import { Ago } from "@/components/ui/time";

const mounters: Readonly<Record<NonNullable<NodeDetail["report"]>["mounter"], string>> = {
  root: "as root, directly",
  "user namespace": "in a user namespace",
  simulated: "simulated, nothing is mounted",
  none: "read-only look",
};

/** The few facts by which one knows the node. */
export function NodeFacts({ detail: { row, report } }: { detail: NodeDetail }) {
  const { disk } = row;
  return (
    <dl className="node-facts">
      <div>
        <dt>Kubelet</dt>
        <dd>{[row.kubeletVersion ?? "not reported", row.ready === undefined ? undefined : row.ready ? "Ready" : "not ready"].filter(Boolean).join(", ")}</dd>
      </div>
      <div>
        <dt>Report</dt>
        <dd>{report ? <Ago at={report.takenAt} /> : "observed: no agent answers there"}</dd>
      </div>
      {report && (
        <>
          <div>
            <dt>Root</dt>
            <dd className="mono">{report.root}</dd>
          </div>
          <div>
            <dt>Mounts are made</dt>
            <dd>{mounters[report.mounter]}</dd>
          </div>
        </>
      )}
      <div>
        <dt>Disk</dt>
        <dd>
          <DiskUse row={row} />
          {disk?.capacityBytes !== undefined && ` of ${bytesInWords(disk.capacityBytes)}`}
          {disk?.availableBytes !== undefined && <span className="muted">, {bytesInWords(disk.availableBytes)} available</span>}
        </dd>
      </div>
      <div>
        <dt>Inodes</dt>
        <dd>
          <InodeUse row={row} />
          {disk?.inodes !== undefined && disk.inodes !== "0" && ` of ${BigInt(disk.inodes).toLocaleString()}`}
        </dd>
      </div>
      {row.drivers.map((driver) => (
        <div key={driver.name}>
          <dt>Attach limit, {driver.name}</dt>
          <dd>{driver.limit === undefined ? `${driver.used} used, no limit given` : `${driver.used} of ${driver.limit}`}</dd>
        </div>
      ))}
      <div>
        <dt>Attached, in use</dt>
        <dd>
          {row.attached}, {row.inUse}
        </dd>
      </div>
    </dl>
  );
}
