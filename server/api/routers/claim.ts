import { claimFilterFields, getClaim, listClaims, type ClaimFilterField, type ClaimSortColumn } from "@/lib/inputs/claim";
import type { KubeObject } from "@/lib/kube/meta";
import { tryParseQuantity } from "@/lib/quantity";
import { claimDetail, claimGrowth, claimObjectId, type ClaimDetail, type ClaimGrowth } from "@/server/api/claim-detail";
import { claimRows, type ClaimRow } from "@/server/api/claim-rows";
import { procedure, router } from "@/server/api/init";
import { listPage, wordOrder, type ListPage, type ListShape } from "@/server/api/list";
import { usedShare } from "@/server/api/volume-list";

const shape: ListShape<ClaimRow, ClaimFilterField, ClaimSortColumn> = {
  fields: claimFilterFields,
  sortValues: {
    claim: (row) => row.key,
    status: wordOrder,
    class: (row) => row.className,
    requested: (row) => tryParseQuantity(row.requested)?.ceilValue(),
    granted: (row) => tryParseQuantity(row.granted)?.ceilValue(),
    used: usedShare,
  },
};

export const claimRouter = router({
  list: procedure.input(listClaims).query(({ ctx, input }): ListPage<ClaimRow> & { command: string } => {
    const view = ctx.clusters.viewFor(ctx.person, input.cluster);
    const page = listPage({ rows: claimRows(view), version: view.snapshot().version }, input, shape);
    return { ...page, command: view.kubectl("get", "persistentvolumeclaims", "--all-namespaces") };
  }),

  get: procedure.input(getClaim).query(({ ctx, input }): ClaimDetail => {
    return claimDetail(ctx.clusters.viewFor(ctx.person, input.cluster), input);
  }),

  growth: procedure.input(getClaim).query(({ ctx, input }): Promise<ClaimGrowth> => {
    return claimGrowth(ctx.clusters.viewFor(ctx.person, input.cluster), input);
  }),

  /** Read fresh; the view has taken out what must not be shown. */
  object: procedure.input(getClaim).query(async ({ ctx, input }): Promise<{ object: KubeObject }> => {
    return { object: await ctx.clusters.viewFor(ctx.person, input.cluster).getObject(claimObjectId(input)) };
  }),
});
