import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";

export const pluginFilterFields = ["name", "kind", "node"] as const;

export const listPlugins = inCluster.extend({ filter: z.string().max(500).default("") });

export const getPlugin = inCluster.extend({ name: z.string().min(1).max(253) });
export type GetPlugin = z.infer<typeof getPlugin>;
