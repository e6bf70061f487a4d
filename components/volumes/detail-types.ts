import type { Outputs } from "@/components/trpc";

export type VolumeDetail = Outputs["volume"]["get"];
