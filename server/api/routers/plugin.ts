import { getPlugin, listPlugins } from "@/lib/inputs/plugin";
import { procedure, router } from "@/server/api/init";
import { pluginDetail, type PluginDetail } from "@/server/api/plugin-detail";
import { pluginMatrix, type PluginMatrix } from "@/server/api/plugin-matrix";

export const pluginRouter = router({
  list: procedure.input(listPlugins).query(({ ctx, input }): PluginMatrix => {
    return pluginMatrix(ctx.clusters.viewFor(ctx.person, input.cluster), input.filter);
  }),

  get: procedure.input(getPlugin).query(({ ctx, input }): PluginDetail => {
    return pluginDetail(ctx.clusters.viewFor(ctx.person, input.cluster), input.name);
  }),
});
