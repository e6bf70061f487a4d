import { getNode, listNodes, nodeFilterFields, type NodeFilterField, type NodeSortColumn } from "@/lib/inputs/node";
import { procedure, router } from "@/server/api/init";
import { listPage, wordOrder, type ListPage, type ListShape } from "@/server/api/list";
import { nodeDetail, nodeRows, type NodeDetail, type NodeRow } from "@/server/api/node-detail";

const shape: ListShape<NodeRow, NodeFilterField, NodeSortColumn> = {
  fields: nodeFilterFields,
  sortValues: { node: (row) => row.name, status: wordOrder, volumes: (row) => row.volumes },
};

export const nodeRouter = router({
  list: procedure.input(listNodes).query(({ ctx, input }): ListPage<NodeRow> & { command: string } => {
    const view = ctx.clusters.viewFor(ctx.person, input.cluster);
    const page = listPage({ rows: nodeRows(view), version: view.snapshot().version }, input, shape);
    return { ...page, command: view.kubectl("get", "nodes", "-o", "wide") };
  }),

  get: procedure.input(getNode).query(({ ctx, input }): NodeDetail => {
    return nodeDetail(ctx.clusters.viewFor(ctx.person, input.cluster), input.name);
  }),
});
