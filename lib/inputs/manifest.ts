import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { uid } from "@/lib/inputs/list";

const objectsMax = 5_000;

/** The objects that the person was shown, all of them. */
export const confirmRemoval = inCluster.extend({ uids: z.array(uid).min(1).max(objectsMax) });
