"use client";

import type { ClaimDetail } from "@/components/claims/claim-page";
import { ChangeDialog } from "@/components/operations/change-dialog";
import { useCluster } from "@/components/shell/status-context";
import { useTRPCClient } from "@/components/trpc";
import { Icon } from "@/components/ui/icon";

/** Grows a claim: checks, dry run, confirm, follow. */
export function GrowDialog({ row, onClose }: { row: ClaimDetail["row"]; onClose: () => void }) {
  const { cluster } = useCluster();
  const client = useTRPCClient();
  const subject = { cluster, namespace: row.namespace, name: row.name };
  const users = row.pods.map((pod) => pod.name).join(", ");
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Grow ${row.name}`}
      about={[`Claim in ${row.namespace}`, row.className && `class ${row.className}`, users && `used by ${users}`].filter(Boolean).join(", ")}
      nowLabel="Now granted"
      now={row.granted ?? "–"}
      path={["operation", "previewExpand"]}
      subject={subject}
      preview={(size) => client.operation.previewExpand.query({ ...subject, size })}
      send={(size, uid) => client.operation.expand.mutate({ ...subject, size, uid })}
      verb={(size) => `Grow ${row.name} to ${size}`}
      rounding="The driver may round up; how far is not known before it answers."
      warning={
        <p className="flex gap-2">
          <Icon name="stuck" className="mt-0.5 text-stuck-solid" />
          <span>
            <b>A volume never shrinks.</b> Until the driver has grown it the request may be lowered, to anything above {row.granted ?? "what is granted"}.
          </span>
        </p>
      }
    />
  );
}
