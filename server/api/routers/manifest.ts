import { AppError } from "@/lib/errors";
import { inCluster } from "@/lib/inputs/cluster";
import { confirmRemoval } from "@/lib/inputs/manifest";
import type { ManifestState } from "@/lib/manifests";
import type { ApiContext, ClusterManifests } from "@/server/api/context";
import { procedure, router } from "@/server/api/init";

export const manifestRouter = router({
  state: procedure.input(inCluster).query(({ ctx, input }): ManifestState => manifestsOf(ctx, input.cluster).state()),

  /** Takes away what no file names any more, exactly as it was shown. Returns what is left to do. */
  confirmRemoval: procedure.input(confirmRemoval).mutation(async ({ ctx, input }): Promise<ManifestState> => {
    const manifests = manifestsOf(ctx, input.cluster);
    await manifests.confirmRemoval(input.uids, ctx.person.name);
    return manifests.state();
  }),
});

function manifestsOf(ctx: ApiContext, clusterId: string): ClusterManifests {
  const { manifests, summary } = ctx.clusters.viewFor(ctx.person, clusterId);
  if (!manifests) throw new AppError("unsupported", `${summary.name} is not made from manifests`);
  return manifests;
}
