import { AppError } from "@/lib/errors";
import { inCluster } from "@/lib/inputs/cluster";
import { expandClaim, getOperation, previewExpand, previewResize, resizeEphemeral } from "@/lib/inputs/operation";
import type { ApiContext, ClusterOperations } from "@/server/api/context";
import { procedure, router } from "@/server/api/init";
import type { ExpandPreview } from "@/server/operations/expand-claim";
import type { JournalEntry } from "@/server/operations/journal";
import type { OperationRecord } from "@/server/operations/operation";
import type { ResizePreview } from "@/server/operations/resize-ephemeral";

export interface OperationList {
  readonly nowMs: number;
  readonly operations: readonly OperationRecord[];
  /** False where this cluster is shown read-only. */
  readonly canChange: boolean;
}

export interface OperationDetail {
  readonly nowMs: number;
  readonly record: OperationRecord;
  readonly entries: readonly JournalEntry[];
}

export const operationRouter = router({
  list: procedure.input(inCluster).query(({ ctx, input }): OperationList => {
    const { operations } = ctx.clusters.viewFor(ctx.person, input.cluster);
    return { nowMs: ctx.nowMs(), operations: operations?.list() ?? [], canChange: operations !== undefined };
  }),

  get: procedure.input(getOperation).query(({ ctx, input }): OperationDetail => {
    const found = operationsOf(ctx, input.cluster).get(input.id);
    if (!found) throw new AppError("not-found", `There is no operation ${input.id}`);
    return { nowMs: ctx.nowMs(), ...found };
  }),

  previewExpand: procedure.input(previewExpand).query(({ ctx, input }): Promise<ExpandPreview> => {
    return operationsOf(ctx, input.cluster).previewExpand(input);
  }),

  expand: procedure.input(expandClaim).mutation(({ ctx, input }): Promise<OperationRecord> => {
    return operationsOf(ctx, input.cluster).expand(input);
  }),

  previewResize: procedure.input(previewResize).query(({ ctx, input }): Promise<ResizePreview> => {
    return operationsOf(ctx, input.cluster).previewResize(input);
  }),

  resize: procedure.input(resizeEphemeral).mutation(({ ctx, input }): Promise<OperationRecord> => {
    return operationsOf(ctx, input.cluster).resize(input);
  }),
});

function operationsOf(ctx: ApiContext, clusterId: string): ClusterOperations {
  const { operations, summary } = ctx.clusters.viewFor(ctx.person, clusterId);
  if (!operations) throw new AppError("unsupported", `${summary.name} is shown read-only: changes of live clusters are not built yet`);
  return operations;
}
