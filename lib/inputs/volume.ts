import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { statusWords } from "@/lib/words";

export const volumeSortColumns = ["pod", "status", "plugin", "node", "size", "used"] as const;
export type VolumeSortColumn = (typeof volumeSortColumns)[number];

/** Fields that `field:value` of the filter line may name. */
export const volumeFilterFields = ["namespace", "pod", "volume", "plugin", "driver", "node", "status", "at", "claim", "pv", "source"] as const;
export type VolumeFilterField = (typeof volumeFilterFields)[number];

export const pageRowsMax = 200;
const filterLengthMax = 500;
const nameLengthMax = 253;

/** The name of an object of the API. */
export const objectName = z.string().min(1).max(nameLengthMax);

export const listVolumes = inCluster.extend({
  filter: z.string().max(filterLengthMax).default(""),
  /** The word chosen in the ledger. */
  status: z.enum(statusWords).optional(),
  /** Also the token volumes that every pod gets. */
  tokens: z.boolean().default(false),
  sort: z.enum(volumeSortColumns).default("pod"),
  descending: z.boolean().default(false),
  offset: z.number().int().min(0).default(0),
  limit: z.number().int().min(1).max(pageRowsMax).default(100),
  /** The key of a row whose place in the whole list is wanted. */
  anchor: z.string().max(3 * nameLengthMax).optional(),
});
export type ListVolumes = z.infer<typeof listVolumes>;

export const getVolume = inCluster.extend({
  namespace: objectName,
  pod: objectName,
  volume: objectName,
});
export type GetVolume = z.infer<typeof getVolume>;

/** Kinds whose YAML a volume's page shows. */
export const volumeObjects = ["pod", "claim", "persistentVolume", "storageClass", "csiDriver"] as const;

export const getVolumeObject = getVolume.extend({ object: z.enum(volumeObjects) });
export type VolumeObject = (typeof volumeObjects)[number];
