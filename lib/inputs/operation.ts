import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { listInput, objectName as name, uid } from "@/lib/inputs/list";
import { tryParseQuantity } from "@/lib/quantity";

export const operationSortColumns = ["started", "status", "subject"] as const;
export type OperationSortColumn = (typeof operationSortColumns)[number];

export const operationFilterFields = ["subject", "by", "status", "verb"] as const;
export type OperationFilterField = (typeof operationFilterFields)[number];

/** Newest first unless told otherwise. */
export const listOperations = listInput.extend({ sort: z.enum(operationSortColumns).default("started"), descending: z.boolean().default(true) });

/** A size as typed: `20Gi`. */
export const size = z
  .string()
  .trim()
  .min(1, "a size is needed, such as 20Gi")
  .max(64)
  .refine((text) => tryParseQuantity(text) !== undefined, "is not a size such as 20Gi, 500M or 1073741824");

export const previewExpand = inCluster.extend({ namespace: name, name, size });
export const expandClaim = previewExpand.extend({ uid });
export type ExpandClaim = z.infer<typeof expandClaim>;

export const previewResize = inCluster.extend({ namespace: name, name, volume: name, size });
export const resizeEphemeral = previewResize.extend({ uid });
export type ResizeEphemeral = z.infer<typeof resizeEphemeral>;

export const getOperation = inCluster.extend({ id: z.string().min(1).max(64) });
