import { AppError } from "@/lib/errors";
import {
  expandClaim,
  getOperation,
  listOperations,
  operationFilterFields,
  previewExpand,
  previewResize,
  resizeEphemeral,
  type OperationFilterField,
  type OperationSortColumn,
} from "@/lib/inputs/operation";
import type { StatusWord } from "@/lib/words";
import type { ApiContext, ClusterOperations } from "@/server/api/context";
import { procedure, router } from "@/server/api/init";
import { listPage, searchable, wordOrder, type ListPage, type ListShape, type Searchable } from "@/server/api/list";
import type { ExpandPreview } from "@/server/operations/expand-claim";
import type { JournalEntry } from "@/server/operations/journal";
import type { OperationRecord } from "@/server/operations/operation";
import type { ResizePreview } from "@/server/operations/resize-ephemeral";

export interface OperationRow extends OperationRecord {
  readonly key: string;
  readonly word: StatusWord;
}

export interface OperationDetail {
  readonly nowMs: number;
  readonly record: OperationRecord;
  readonly entries: readonly JournalEntry[];
}

const shape: ListShape<OperationRow, OperationFilterField, OperationSortColumn> = {
  fields: operationFilterFields,
  sortValues: { started: (row) => row.startedAt, status: wordOrder, subject: subjectOf },
};

export const operationRouter = router({
  list: procedure.input(listOperations).query(({ ctx, input }): ListPage<OperationRow> => {
    const { version } = ctx.clusters.viewFor(ctx.person, input.cluster).snapshot();
    const rows = operationsOf(ctx, input.cluster).list().map(searchableOperation);
    return listPage({ rows, version }, input, shape);
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
  if (!operations) throw new AppError("unsupported", `${summary.name} is shown read-only`);
  return operations;
}

function searchableOperation(record: OperationRecord): Searchable<OperationRow, OperationFilterField> {
  const row = { ...record, key: record.id, word: record.progress.status };
  return searchable(row, { subject: subjectOf(record), by: record.who, status: row.word, verb: record.verb });
}

function subjectOf({ subject }: OperationRecord): string {
  return [subject.namespace, subject.name, subject.volume].filter((part) => part !== undefined).join("/");
}
