"use client";

import { ChangeDialog } from "@/components/operations/change-dialog";
import { useCluster } from "@/components/shell/status-context";
import { useTRPCClient } from "@/components/trpc";
import { Icon } from "@/components/ui/icon";
import type { VolumeDetail } from "@/components/volumes/detail-types";

/** Resizes a memory-backed volume: checks, dry run, confirm, follow. */
export function ResizeDialog({ row, onClose }: { row: VolumeDetail["row"]; onClose: () => void }) {
  const { cluster } = useCluster();
  const client = useTRPCClient();
  const subject = { cluster, namespace: row.namespace, name: row.pod, volume: row.volume };
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Resize ${row.volume}`}
      about={`Memory volume of ${row.pod} in ${row.namespace}${row.node === undefined ? "" : ` on ${row.node}`}`}
      nowLabel="sizeLimit now"
      now={row.size ?? "–"}
      path={["operation", "previewResize"]}
      subject={subject}
      preview={(size) => client.operation.previewResize.query({ ...subject, size })}
      send={(size, uid) => client.operation.resize.mutate({ ...subject, size, uid })}
      verb={(size) => `Resize ${row.volume} to ${size}`}
      rounding="The kernel rounds up to whole pages."
      warning={
        <p className="flex gap-2">
          <Icon name="stuck" className="mt-0.5 text-stuck-solid" />
          <span>
            <b>It is memory.</b> What is written counts as the container&apos;s memory: it can be killed before the volume is full.
          </span>
        </p>
      }
    />
  );
}
