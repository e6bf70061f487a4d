import type { LiveLight } from "@/lib/live-light";
import { missingToRead, type MissingRight } from "@/lib/missing-right";
import { inCluster } from "@/lib/inputs/cluster";
import type { ClusterSummary } from "@/server/api/context";
import { procedure, router } from "@/server/api/init";
import { countPlugins } from "@/server/api/plugin-matrix";
import { liveLight } from "@/server/diagnosis/live-light";

export interface ClusterStatus {
  readonly summary: ClusterSummary;
  /** The snapshot that counts and pages are made from. */
  readonly version: number;
  /** The server's clock when it answered; ages are counted from it, whatever the browser's clock says. */
  readonly nowMs: number;
  readonly light: LiveLight;
  /** What there is of each noun, for the rail; absent where it may not be read. Of operations those that run. */
  readonly counts: { readonly plugins: number; readonly volumes?: number; readonly claims?: number; readonly nodes?: number; readonly operations?: number };
  /** Kinds that this person may not read. */
  readonly missing: readonly MissingRight[];
}

export const clusterRouter = router({
  list: procedure.query(({ ctx }): readonly ClusterSummary[] => ctx.clusters.list(ctx.person)),

  status: procedure.input(inCluster).query(({ ctx, input }): ClusterStatus => {
    const view = ctx.clusters.viewFor(ctx.person, input.cluster);
    const { summary } = view;
    const snapshot = view.snapshot();
    const freshness = view.freshness();
    const forbidden = new Set(freshness.kinds.filter((kind) => kind.state === "forbidden").map((kind) => kind.kind));
    return {
      summary,
      version: snapshot.version,
      nowMs: ctx.nowMs(),
      light: liveLight({ freshness, recorded: summary.mode === "bundle", simulated: summary.simulated }),
      counts: {
        plugins: countPlugins(view),
        volumes: forbidden.has("pods") ? undefined : snapshot.podVolumes.length,
        claims: forbidden.has("persistentvolumeclaims") ? undefined : snapshot.claims.size,
        nodes: forbidden.has("nodes") ? undefined : snapshot.nodes.size,
        operations: view.operations?.list().filter(({ endedAt }) => endedAt === undefined).length,
      },
      missing: [...forbidden].map(missingToRead),
    };
  }),
});
