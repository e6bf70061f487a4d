import { z } from "zod";

/** The slug of a cluster, as it stands in every URL. */
export const clusterId = z.string().regex(/^[a-z0-9-]{1,100}$/, "must be a cluster's slug: a-z, 0-9 and -");

/** Every procedure names its cluster. */
export const inCluster = z.object({ cluster: clusterId });
export type InCluster = z.infer<typeof inCluster>;
