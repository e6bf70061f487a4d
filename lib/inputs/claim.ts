import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { listInput, objectName } from "@/lib/inputs/list";

export const claimSortColumns = ["claim", "status", "class", "requested", "granted", "used"] as const;
export type ClaimSortColumn = (typeof claimSortColumns)[number];

export const claimFilterFields = ["namespace", "claim", "class", "pod", "pv", "status"] as const;
export type ClaimFilterField = (typeof claimFilterFields)[number];

export const listClaims = listInput.extend({ sort: z.enum(claimSortColumns).default("claim") });
export type ListClaims = z.infer<typeof listClaims>;

export const getClaim = inCluster.extend({ namespace: objectName, name: objectName });
export type GetClaim = z.infer<typeof getClaim>;
