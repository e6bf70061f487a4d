/** Warnings about pods. Source: kubernetes v1.37.2, pkg/api/pod/warnings.go, as far as volumes and resources go. */
import type { JsonObject } from "@/lib/kube/json";
import { objectAt, objectsAt } from "@/server/apiserver/access";
import { child } from "@/server/apiserver/field";
import { fractionWarnings } from "./claim";

const deprecated: readonly (readonly [key: string, text: string])[] = [
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
];

export function podWarnings(pod: JsonObject): string[] {
  return objectsAt(objectAt(pod, "spec"), "volumes").flatMap((volume, index) => {
    const at = child("spec", "volumes", index);
    const old = deprecated.filter(([key]) => objectAt(volume, key) !== undefined).map(([key, text]) => `${at}.${key}: ${text}`);
    const template = objectAt(volume, "ephemeral", "volumeClaimTemplate", "spec");
    return [...old, ...fractionWarnings(template, `${at}.ephemeral.volumeClaimTemplate.spec`)];
  });
}
