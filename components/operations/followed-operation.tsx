"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { OperationSentence, OperationSteps } from "@/components/operations/operation-steps";
import type { OperationRecord } from "@/components/operations/operation-types";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { DialogPart } from "@/components/ui/dialog";
import { Status } from "@/components/ui/status";

/** After confirming, the dialog follows the operation to what the cluster shows. */
export function FollowedOperation({ id, first, onClose }: { id: string; first: OperationRecord; onClose: () => void }) {
  const { cluster } = useCluster();
  const query = useQuery(useTRPC().operation.get.queryOptions({ cluster, id }));
  const record = query.data?.record ?? first;
  return (
    <>
      <DialogPart>
        <p className="mb-2" role="status">
          <Status word={record.progress.status} fill />
        </p>
        <OperationSentence record={record} />
      </DialogPart>
      <div className="part px-0">
        <OperationSteps record={record} />
      </div>
      <footer>
        <span className="say-s">Closing this loses nothing.</span>
        <Link className="btn" href={paths.operation(cluster, id)}>
          Open as page
        </Link>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </>
  );
}
