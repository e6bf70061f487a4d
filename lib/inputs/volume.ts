import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { listInput, objectName } from "@/lib/inputs/list";

export const volumeSortColumns = ["pod", "status", "plugin", "node", "size", "used"] as const;
export type VolumeSortColumn = (typeof volumeSortColumns)[number];

/** Fields that `field:value` of the filter line may name. */
export const volumeFilterFields = ["namespace", "pod", "volume", "plugin", "driver", "node", "status", "at", "claim", "pv", "source"] as const;
export type VolumeFilterField = (typeof volumeFilterFields)[number];

/** What rows may be put together by. */
export const volumeGroups = ["pod", "plugin", "node", "claim"] as const;
export type VolumeGroup = (typeof volumeGroups)[number];

export const listVolumes = listInput.extend({
  group: z.enum(volumeGroups).optional(),
  /** Also the token volumes that every pod gets. */
  tokens: z.boolean().default(false),
  sort: z.enum(volumeSortColumns).default("pod"),
});
export type ListVolumes = z.infer<typeof listVolumes>;

export const getVolume = inCluster.extend({ namespace: objectName, pod: objectName, volume: objectName });
export type GetVolume = z.infer<typeof getVolume>;

/** Kinds whose YAML a volume's page shows. */
export const volumeObjects = ["pod", "claim", "persistentVolume", "storageClass", "csiDriver"] as const;
export type VolumeObject = (typeof volumeObjects)[number];

export const getVolumeObject = getVolume.extend({ object: z.enum(volumeObjects) });
