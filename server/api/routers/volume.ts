import { getVolume, getVolumeObject, listVolumes as listInput } from "@/lib/inputs/volume";
import type { KubeObject } from "@/lib/kube/meta";
import { volumesCommand } from "@/lib/kubectl";
import { procedure, router } from "@/server/api/init";
import { volumeDetail, volumeObjectId, type VolumeDetail } from "@/server/api/volume-detail";
import { listVolumes, type VolumeList } from "@/server/api/volume-list";
import { volumeRows } from "@/server/api/volume-rows";

export const volumeRouter = router({
  list: procedure.input(listInput).query(({ ctx, input }): VolumeList & { command: string } => {
    const view = ctx.clusters.viewFor(ctx.person, input.cluster);
    const list = listVolumes(volumeRows(view), view.snapshot().version, input);
    return { ...list, command: volumesCommand(view.kubectl) };
  }),

  get: procedure.input(getVolume).query(({ ctx, input }): VolumeDetail => {
    return volumeDetail(ctx.clusters.viewFor(ctx.person, input.cluster), input);
  }),

  /** Read fresh; the view has taken out what must not be shown. */
  object: procedure.input(getVolumeObject).query(async ({ ctx, input }): Promise<{ object: KubeObject }> => {
    const view = ctx.clusters.viewFor(ctx.person, input.cluster);
    return { object: await view.getObject(volumeObjectId(view, input, input.object)) };
  }),
});
