import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { listInput, objectName } from "@/lib/inputs/list";

export const nodeSortColumns = ["node", "status", "volumes"] as const;
export type NodeSortColumn = (typeof nodeSortColumns)[number];

export const nodeFilterFields = ["node", "status", "version"] as const;
export type NodeFilterField = (typeof nodeFilterFields)[number];

export const listNodes = listInput.extend({ sort: z.enum(nodeSortColumns).default("node") });
export const getNode = inCluster.extend({ name: objectName });
