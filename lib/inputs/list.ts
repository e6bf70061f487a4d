import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { isPathSegmentName } from "@/lib/names";
import { statusWords } from "@/lib/words";

export const pageRowsMax = 200;
const filterLengthMax = 500;
const keyLengthMax = 800;

/** What every list is asked for, beside its own sort columns. */
export const listInput = inCluster.extend({
  filter: z.string().max(filterLengthMax).default(""),
  /** The word chosen in the ledger. */
  status: z.enum(statusWords).optional(),
  descending: z.boolean().default(false),
  offset: z.number().int().min(0).default(0),
  limit: z.number().int().min(1).max(pageRowsMax).default(100),
  /** The key of a row whose place in the whole list is wanted. */
  anchor: z.string().max(keyLengthMax).optional(),
});

const nameLengthMax = 253;

/** The name of an object of the API: one segment of its path, whatever its kind. */
export const objectName = z
  .string()
  .min(1)
  .max(nameLengthMax)
  .superRefine((name, refused) => {
    const messages = name.isWellFormed() ? isPathSegmentName(name) : ["must be valid Unicode"];
    for (const message of messages) refused.addIssue({ code: "custom", message });
  });

/** The object that the person saw; another one of the same name refuses. */
export const uid = z.string().min(1).max(128);
