/**
 * Which plugin each volume of a manifest would get, on its node and in the attach/detach controller, and whether it may grow. Pure:
 * what a claim is bound to comes with the input, from the same files or from a cluster.
 */
import { claimClass, claimHasClass } from "@/lib/kube/classes";
import type { KubeObject } from "@/lib/kube/meta";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { sourceInWords } from "@/lib/volume-source";
import { claimNameOf } from "@/server/cluster/build-snapshot";
import type { PodVolume } from "@/server/cluster/snapshot";
import { explain, type PluginVerdict } from "@/server/volume/explain";
import type { Match } from "./evidence";
import { matchOn, specOf, type AskedHost } from "./match";
import type { ManifestPod } from "./manifest-pods";

/** `undefined`: there is none, as far as could be seen. */
export interface StorageObjects {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  persistentVolume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  /** Where they were looked for: "these files", "context prod". */
  readonly from: string;
}

export interface Answer {
  readonly answer: "yes" | "no" | "unknown";
  readonly why: string;
}

export interface ManifestVolume {
  /** `<kind> <namespace>/<name>` of the object in the file. */
  readonly owner: string;
  readonly volume: string;
  /** The field that names the source, such as `emptyDir`, and what it names. */
  readonly source: { readonly kind: string; readonly name?: string };
  readonly claim?: string;
  readonly persistentVolume?: string;
  readonly node: Match;
  /** `none` is ordinary here: most volumes are not attached. Of a CSI driver's volume its CSIDriver may still say that none is needed. */
  readonly attachController: Match;
  readonly grows: Answer;
  /** Every plugin of the node, in the order asked; absent while there is nothing to ask with. */
  readonly verdicts?: readonly PluginVerdict[];
}

export interface MatchHosts {
  readonly node: AskedHost;
  readonly attachController: AskedHost;
}

/** The volumes of one pod of a manifest, in the order of the file. */
export function matchPod(owner: ManifestPod, objects: StorageObjects, hosts: MatchHosts): readonly ManifestVolume[] {
  return (owner.pod.spec.volumes ?? []).map((volume): ManifestVolume => {
    const claimName = claimNameOf(owner.pod, volume);
    const claim = claimName === undefined ? undefined : (claimOf(owner, objects, claimName) ?? ephemeralClaim(owner, volume, claimName));
    const bound = claim?.spec.volumeName;
    const persistentVolume = bound ? objects.persistentVolume(bound) : undefined;
    const joined: PodVolume = { key: "", pod: owner.pod, volume, claimName, claim, persistentVolume };
    const spec = specOf(joined);
    const unresolved = spec ? undefined : whyUnresolved(objects, claimName ?? "", claim);
    const ask = (host: AskedHost): Match => (unresolved === undefined ? matchOn(host, joined) : { kind: "unknown", why: unresolved });
    return {
      owner: nameOf(owner),
      volume: volume.name,
      source: sourceInWords(volume),
      ...(claimName === undefined ? {} : { claim: claimName }),
      ...(persistentVolume ? { persistentVolume: persistentVolume.metadata.name ?? "" } : {}),
      node: ask(hosts.node),
      attachController: volume.csi ? neverAttached(hosts.attachController) : ask(hosts.attachController),
      grows: claimName === undefined ? inlineGrows(joined) : claimGrows(objects, claim),
      ...(spec ? { verdicts: explain(hosts.node.table, spec).plugins } : {}),
    };
  });
}

/** Source: pkg/volume/csi/csi_plugin.go (CanAttach) of v1.37.2: an inline volume is not attached, whatever its driver says. */
function neverAttached({ table }: AskedHost): Match {
  return { kind: "none", asked: table.matcher.entries.length, text: "inline CSI volumes are not attached" };
}

/** `<kind> <namespace>/<name>`; the namespace is empty where the kind has none. */
function nameOf({ kind, namespace, name }: Pick<ManifestPod, "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace}/${name}`;
}

/** A claim that is there counts before the template it was made from. */
function claimOf({ namespace, claims }: ManifestPod, objects: StorageObjects, name: string): PersistentVolumeClaim | undefined {
  return objects.claim(namespace, name) ?? claims.find(({ metadata }) => metadata.name === name);
}

function ephemeralClaim({ namespace }: ManifestPod, { ephemeral }: PodVolume["volume"], name: string): PersistentVolumeClaim | undefined {
  const template = ephemeral?.volumeClaimTemplate;
  return template && { metadata: { ...template.metadata, namespace, name }, spec: template.spec };
}

function whyUnresolved(objects: StorageObjects, claimName: string, claim: PersistentVolumeClaim | undefined): string {
  if (!claim) return `there is no claim ${claimName} in ${objects.from}`;
  const bound = claim.spec.volumeName;
  if (bound) return `claim ${claimName} is bound to ${bound}, which is not in ${objects.from}`;
  const provisioner = objects.storageClass(claimClass(claim))?.provisioner;
  const later = provisioner === undefined ? "the volume that it will be bound to decides" : `the volume that ${provisioner} makes for it decides`;
  return `claim ${claimName} is not bound yet: ${later}`;
}

function claimGrows(objects: StorageObjects, claim: PersistentVolumeClaim | undefined): Answer {
  if (!claim) return { answer: "unknown", why: `its claim is not in ${objects.from}` };
  const name = claimClass(claim);
  if (name === "") {
    return !claimHasClass(claim) && !claim.spec.volumeName
      ? { answer: "unknown", why: "the claim names no class: the cluster's default class decides" }
      : { answer: "no", why: "a claim without a class cannot grow" };
  }
  const storageClass = objects.storageClass(name);
  if (!storageClass) return { answer: "unknown", why: `class ${name} is not in ${objects.from}` };
  const allows = storageClass.allowVolumeExpansion;
  return { answer: allows === true ? "yes" : "no", why: `class ${name}: allowVolumeExpansion is ${allows === undefined ? "absent" : String(allows)}` };
}

/** Only the API of a memory-backed emptyDir knows a change of size. */
function inlineGrows({ volume }: PodVolume): Answer {
  if (volume.emptyDir?.medium !== "Memory") return { answer: "no", why: `${sourceInWords(volume).kind} has no size that can be changed` };
  if (volume.emptyDir.sizeLimit === undefined) return { answer: "no", why: "emptyDir.sizeLimit is absent, and none can be added to a running pod" };
  return { answer: "yes", why: "a memory-backed emptyDir, through pods/resize where server and node have it" };
}

/** How a run in CI should end: the worst of all volumes. */
export function worstOf(volumes: readonly Pick<ManifestVolume, "node">[]): "served" | "unserved" | "unknown" {
  if (volumes.some(({ node }) => node.kind === "none" || node.kind === "several")) return "unserved";
  return volumes.some(({ node }) => node.kind === "unknown") ? "unknown" : "served";
}

/** What the files themselves hold of storage, and before it what a cluster holds. */
export function storageObjects(files: readonly KubeObject[], from: string, cluster?: StorageObjects): StorageObjects {
  const byKey = new Map(files.map((object) => [nameOf({ kind: object.kind ?? "", namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" }), object]));
  const find = <T>(kind: string, namespace: string, name: string): T | undefined => byKey.get(nameOf({ kind, namespace, name })) as T | undefined;
  return {
    from: cluster ? `${from} or ${cluster.from}` : from,
    claim: (namespace, name) => cluster?.claim(namespace, name) ?? find("PersistentVolumeClaim", namespace, name),
    persistentVolume: (name) => cluster?.persistentVolume(name) ?? find("PersistentVolume", "", name),
    storageClass: (name) => cluster?.storageClass(name) ?? find("StorageClass", "", name),
  };
}
