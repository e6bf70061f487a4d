/** Writes to claims and volumes while they grow or are bound. Each starts from the object as it is now, and is refused if it changed. */
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { resourcePath } from "@/server/cluster/resources";
import type { NodeClient } from "@/server/node/client";
import type { EventSubject } from "@/server/node/recorder";
import type { ClaimPatch, VolumePatch } from "@/server/node/resize-status";

export function claimPath(claim: PersistentVolumeClaim, subresource?: "status"): string {
  const { namespace = "", name = "" } = claim.metadata;
  return resourcePath("persistentvolumeclaims", { namespace, name, ...(subresource ? { subresource } : {}) });
}

export function volumePath(name: string, subresource?: "status"): string {
  return resourcePath("persistentvolumes", { name, ...(subresource ? { subresource } : {}) });
}

/** Throws AppError `conflict` when the claim changed since it was read. Annotations go to the claim, the rest to its status. */
export async function writeClaim(client: NodeClient, claim: PersistentVolumeClaim, patch: ClaimPatch): Promise<PersistentVolumeClaim> {
  const { status, metadata, ...rest } = patch.body;
  const annotated = hasAnnotations(metadata);
  let current = claim;
  if (annotated) {
    current = await client.patch<PersistentVolumeClaim>(claimPath(claim), { type: "strategic", body: { ...rest, metadata } });
  }
  if (status === undefined) return current;
  const resourceVersion = annotated ? current.metadata.resourceVersion : versionOf(metadata);
  return client.patch<PersistentVolumeClaim>(claimPath(claim, "status"), {
    type: "strategic",
    body: { status, ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }) },
  });
}

function hasAnnotations(metadata: unknown): boolean {
  return typeof metadata === "object" && metadata !== null && "annotations" in metadata;
}

function versionOf(metadata: unknown): string | undefined {
  const version: unknown = typeof metadata === "object" && metadata !== null ? Reflect.get(metadata, "resourceVersion") : undefined;
  return typeof version === "string" ? version : undefined;
}

export async function writeVolume(client: NodeClient, patch: VolumePatch | undefined): Promise<PersistentVolume | undefined> {
  if (!patch) return undefined;
  return client.patch<PersistentVolume>(volumePath(patch.object.metadata.name ?? ""), { type: "strategic", body: patch.body });
}

export function claimSubject(claim: PersistentVolumeClaim): EventSubject {
  const { namespace = "", name = "", uid = "" } = claim.metadata;
  return { kind: "PersistentVolumeClaim", namespace, name, uid };
}

export function volumeSubject(volume: PersistentVolume): EventSubject {
  const { name = "", uid = "" } = volume.metadata;
  return { kind: "PersistentVolume", namespace: "", name, uid };
}
