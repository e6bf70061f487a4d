import type { IconName } from "@/components/ui/icon";
import type { Outputs } from "@/components/trpc";

export type Noun = "plugins" | "volumes" | "claims" | "nodes" | "operations";

export interface Page {
  readonly noun: Noun;
  readonly title: string;
  readonly icon: IconName;
  readonly count: keyof Outputs["cluster"]["status"]["counts"];
}

/** The rail, in order. It shows only the pages that exist. */
export const pages: readonly Page[] = [
  { noun: "plugins", title: "Plugins", icon: "plugins", count: "plugins" },
  { noun: "volumes", title: "Volumes", icon: "volumes", count: "volumes" },
  { noun: "claims", title: "Claims", icon: "claims", count: "claims" },
  { noun: "nodes", title: "Nodes", icon: "nodes", count: "nodes" },
  { noun: "operations", title: "Operations", icon: "operations", count: "operations" },
];
