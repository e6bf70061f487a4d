/** The rules of each kind. */
import type { Kind } from "@/server/apiserver/kinds";
import { claimRules } from "./claim";
import { eventRules, namespaceRules, nodeRules } from "./cluster";
import { opaqueRules } from "./opaque";
import { podRules } from "./pod";
import type { Rules } from "./rules";
import { configMapRules, secretRules } from "./settings";
import { csiDriverRules, csiNodeRules, storageClassRules, volumeAttachmentRules } from "./storage";
import { volumeRules } from "./volume";

export type { Rules, UpdateRules } from "./rules";

const byKind = new Map<string, Rules>([
  ["Pod", podRules],
  ["ConfigMap", configMapRules],
  ["Secret", secretRules],
  ["Namespace", namespaceRules],
  ["Node", nodeRules],
  ["Event", eventRules],
  ["PersistentVolumeClaim", claimRules],
  ["PersistentVolume", volumeRules],
  ["storage.k8s.io/StorageClass", storageClassRules],
  ["storage.k8s.io/CSIDriver", csiDriverRules],
  ["storage.k8s.io/CSINode", csiNodeRules],
  ["storage.k8s.io/VolumeAttachment", volumeAttachmentRules],
]);
const opaque = new Map<string, Rules>();

export function rulesOf(kind: Kind): Rules {
  const known = kind.type === undefined ? undefined : byKind.get(kind.group === "" ? kind.kind : `${kind.group}/${kind.kind}`);
  if (known !== undefined) return known;
  const id = `${kind.group}/${kind.version}/${kind.kind}`;
  const made = opaque.get(id) ?? opaqueRules(kind);
  opaque.set(id, made);
  return made;
}
