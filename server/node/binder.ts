/**
 * Binds claims and volumes as the persistent volume controller does, provisions for classes of its own provisioner, and releases
 * what is not used any more. The choice is in binding.ts; here are the writes, each refused by the API when the object changed.
 * Source: pkg/controller/volume/persistentvolume/pv_controller.go of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { resourcePath } from "@/server/cluster/resources";
import { claimClass, claimHasClass, defaultClass } from "@/lib/kube/classes";
import {
  ephemeralClaimName,
  findBestVolume,
  getBindVolumeToClaim,
  isDelayBindingMode,
  isVolumeBoundToClaim,
} from "@/server/node/binding";
import { claimPath, claimSubject, volumePath, volumeSubject } from "@/server/node/claim-writes";
import type { NodeClient } from "@/server/node/client";
import { keepsVolumes } from "@/server/node/desired-state";
import type { Controller } from "@/server/node/node";
import type { NodeEvent } from "@/server/node/recorder";

const bindCompleted = "pv.kubernetes.io/bind-completed";
const boundByController = "pv.kubernetes.io/bound-by-controller";
const provisionedBy = "pv.kubernetes.io/provisioned-by";
const claimProtection = "kubernetes.io/pvc-protection";
const volumeProtection = "kubernetes.io/pv-protection";
const component = "persistentvolume-controller";

/** A provisioner that runs in this process. */
export interface OwnProvisioner {
  /** As in `provisioner` of a class and in the annotation of a volume. */
  readonly name: string;
  /** Makes storage and its PersistentVolume, or finds what an earlier try made. Throws with the reason. */
  provision(claim: PersistentVolumeClaim, storageClass: StorageClass): Promise<void>;
  /** Removes the storage of a released volume; throws while it is in use. */
  remove(volume: PersistentVolume): Promise<void>;
}

export interface BinderOptions {
  readonly client: NodeClient;
  readonly recorder: { record(event: NodeEvent): void };
  readonly provisioners: readonly OwnProvisioner[];
  /** Called with the name of every step that leaves a trace. */
  readonly point?: (name: string) => void;
}

interface Said {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export class Binder implements Controller {
  readonly name = "bind claims";
  private readonly said = new Map<string, string>();

  constructor(private readonly options: BinderOptions) {}

  async step(snapshot: ClusterSnapshot): Promise<void> {
    /** Volumes given away in this step, which the snapshot does not show yet. */
    const taken = new Set<string>();
    for (const pod of snapshot.pods.values()) await this.makeEphemeralClaims(snapshot, pod);
    for (const claim of snapshot.claims.values()) await this.gently(() => this.syncClaim(snapshot, claim, taken));
    for (const volume of snapshot.persistentVolumes.values()) await this.gently(() => this.syncVolume(snapshot, volume, taken));
    for (const uid of this.said.keys()) if (!isKnown(snapshot, uid)) this.said.delete(uid);
  }

  /** What somebody else changed meanwhile is looked at again with the next snapshot. */
  private async gently(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (codeOf(error) !== "conflict" && codeOf(error) !== "not-found") throw error;
    }
  }

  // Claims

  private async syncClaim(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim, taken: Set<string>): Promise<void> {
    if (claim.metadata.deletionTimestamp) return this.unprotectClaim(snapshot, claim);
    if (claim.metadata.annotations?.[bindCompleted] !== undefined) return this.syncBoundClaim(snapshot, claim, taken);
    if (claim.spec.volumeName) return this.syncPreboundClaim(snapshot, claim, taken);
    return this.syncUnboundClaim(snapshot, claim, taken);
  }

  private async syncUnboundClaim(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim, taken: Set<string>): Promise<void> {
    if (!claimHasClass(claim)) {
      const standard = defaultClass([...snapshot.storageClasses.values()]);
      if (standard) return this.patchClaim(claim, { spec: { storageClassName: standard.metadata.name } });
    }
    const delayed = isDelayBindingMode(claim, (name) => snapshot.storageClasses.get(name)) && !hasConsumer(snapshot, claim);
    const free = [...snapshot.persistentVolumes.values()].filter((volume) => !taken.has(volume.metadata.name ?? ""));
    const found = findBestVolume(claim, free, delayed);
    if (found) return this.bind(claim, found, taken);
    await this.markPending(claim);
    if (delayed) {
      return this.say(claim, { type: "Normal", reason: "WaitForFirstConsumer", message: "waiting for first consumer to be created before binding" });
    }
    return this.provision(snapshot, claim);
  }

  private async syncPreboundClaim(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim, taken: Set<string>): Promise<void> {
    const volume = snapshot.persistentVolumes.get(claim.spec.volumeName ?? "");
    if (!volume) return this.markPending(claim);
    if (!volume.spec.claimRef || isVolumeBoundToClaim(volume, claim)) return this.bind(claim, volume, taken);
    await this.markPending(claim);
    this.say(claim, { type: "Warning", reason: "FailedBinding", message: `volume ${goQuote(volume.metadata.name ?? "")} already bound to a different claim.` });
  }

  private async syncBoundClaim(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim, taken: Set<string>): Promise<void> {
    const volume = snapshot.persistentVolumes.get(claim.spec.volumeName ?? "");
    if (!volume) return this.lose(claim, "Bound claim has lost its PersistentVolume. Data on the volume is lost!", "ClaimLost");
    if (!volume.spec.claimRef || isVolumeBoundToClaim(volume, claim)) return this.bind(claim, volume, taken);
    return this.lose(claim, "Two claims are bound to the same volume, this one is bound incorrectly", "ClaimMisbound");
  }

  private async lose(claim: PersistentVolumeClaim, message: string, reason: string): Promise<void> {
    if (claim.status?.phase !== "Lost") await this.patchClaimStatus(claim, { phase: "Lost" });
    this.say(claim, { type: "Warning", reason, message });
  }

  /** In the controller's order: the volume first, so that two claims never get one volume. Every step is skipped when it is done. */
  private async bind(claim: PersistentVolumeClaim, volume: PersistentVolume, taken: Set<string>): Promise<void> {
    const { client } = this.options;
    const name = volume.metadata.name ?? "";
    taken.add(name);
    const { volume: bound, dirty } = getBindVolumeToClaim(volume, claim);
    const { resourceVersion, annotations: marked } = bound.metadata;
    const body = { metadata: { resourceVersion, annotations: marked }, spec: { claimRef: bound.spec.claimRef } };
    const stored = dirty ? await client.patch<PersistentVolume>(volumePath(name), { type: "merge", body }) : volume;
    if (dirty) this.point("bind-after-volume");
    if (stored.status?.phase !== "Bound") {
      await this.patchPhase(stored, "Bound");
      this.point("bind-after-phase");
    }
    const annotations = claim.metadata.annotations ?? {};
    if (claim.spec.volumeName !== name || annotations[bindCompleted] === undefined) {
      const ours = claim.spec.volumeName === name ? {} : { [boundByController]: "yes" };
      await this.patchClaim(claim, { spec: { volumeName: name }, metadata: { annotations: { ...ours, [bindCompleted]: "yes" } } });
      this.point("bind-after-claim");
    }
    if (claim.status?.phase === "Bound") return;
    const { accessModes, capacity } = volume.spec;
    await client.patch(claimPath(claim, "status"), {
      type: "merge",
      body: { status: { phase: "Bound", accessModes, capacity: { storage: capacity?.["storage"] } } },
    });
    this.point("bind-after-status");
  }

  private async provision(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim): Promise<void> {
    const name = claimClass(claim);
    if (name === "") {
      const message = "no persistent volumes available for this claim and no storage class is set";
      return this.say(claim, { type: "Normal", reason: "FailedBinding", message });
    }
    const failed = (message: string) => this.say(claim, { type: "Warning", reason: "ProvisioningFailed", message });
    const storageClass = snapshot.storageClasses.get(name);
    if (!storageClass) return failed(`storageclass.storage.k8s.io ${goQuote(name)} not found`);
    const { provisioner } = storageClass;
    const own = this.options.provisioners.find((each) => each.name === provisioner);
    if (own) {
      try {
        return await own.provision(claim, storageClass);
      } catch (error) {
        return failed(`failed to provision volume with StorageClass ${goQuote(name)}: ${messageOf(error)}`);
      }
    }
    if (provisioner.startsWith("kubernetes.io/")) return failed(`no volume plugin matched name: ${provisioner}`);
    const message =
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
      "If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
    this.say(claim, { type: "Normal", reason: "ExternalProvisioning", message });
  }

  private async markPending(claim: PersistentVolumeClaim): Promise<void> {
    if (claim.status?.phase !== "Pending") await this.patchClaimStatus(claim, { phase: "Pending" });
  }

  /** A claim that pods use stays until they are gone (the protection controller's part). */
  private async unprotectClaim(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim): Promise<void> {
    const finalizers = claim.metadata.finalizers ?? [];
    if (!finalizers.includes(claimProtection) || usersOf(snapshot, claim).length > 0) return;
    await this.patchClaim(claim, { metadata: { finalizers: finalizers.filter((each) => each !== claimProtection) } });
    this.point("release-after-claim");
  }

  /** The claims of generic ephemeral volumes (the ephemeral controller's part). */
  private async makeEphemeralClaims(snapshot: ClusterSnapshot, pod: Pod): Promise<void> {
    if (!keepsVolumes(pod)) return;
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    for (const volume of pod.spec.volumes ?? []) {
      const template = volume.ephemeral?.volumeClaimTemplate;
      const claimName = ephemeralClaimName(pod, volume);
      if (!template || snapshot.claims.has(`${namespace}/${claimName}`)) continue;
      const owner = { apiVersion: "v1", kind: "Pod", name, uid, controller: true, blockOwnerDeletion: true };
      const { labels, annotations } = template.metadata ?? {};
      await this.gently(async () => {
        await this.options.client.create(resourcePath("persistentvolumeclaims", { namespace }), {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: claimName, namespace, labels, annotations, ownerReferences: [owner] },
          spec: template.spec,
        });
      });
    }
  }

  // Volumes

  private async syncVolume(snapshot: ClusterSnapshot, volume: PersistentVolume, taken: ReadonlySet<string>): Promise<void> {
    if (taken.has(volume.metadata.name ?? "")) return;
    const reference = volume.spec.claimRef;
    if (volume.metadata.deletionTimestamp) await this.unprotectVolume(volume);
    if (!reference?.uid) return this.setPhase(volume, "Available");
    const claim = snapshot.claims.get(`${reference.namespace ?? ""}/${reference.name ?? ""}`);
    if (claim?.metadata.uid === reference.uid) return;
    await this.setPhase(volume, "Released");
    this.point("release-after-phase");
    await this.reclaim(volume);
  }

  private async reclaim(volume: PersistentVolume): Promise<void> {
    const policy = volume.spec.persistentVolumeReclaimPolicy ?? "Retain";
    if (policy === "Retain" || volume.status?.phase !== "Released") return;
    if (policy === "Recycle") return this.failVolume(volume, "VolumeRecycleFailed", "this node runs no recycler pods");
    const own = this.options.provisioners.find((each) => each.name === volume.metadata.annotations?.[provisionedBy]);
    if (!own) {
      const message = `error getting deleter volume plugin for volume ${goQuote(volume.metadata.name ?? "")}: no deletable volume plugin matched`;
      return this.failVolume(volume, "VolumeFailedDelete", message);
    }
    try {
      if (await this.isReleased(volume)) await own.remove(volume);
    } catch (error) {
      this.sayOfVolume(volume, { type: "Warning", reason: "VolumeFailedDelete", message: messageOf(error) });
    }
  }

  /** Asked of the API itself, as the real controller does: a snapshot may be older than the claim, or than a new reclaim policy. */
  private async isReleased({ metadata, spec }: PersistentVolume): Promise<boolean> {
    const { namespace = "", name = "", uid } = spec.claimRef ?? {};
    const volume = await this.getUnlessGone<PersistentVolume>(volumePath(metadata.name ?? ""));
    const claim = await this.getUnlessGone<PersistentVolumeClaim>(resourcePath("persistentvolumeclaims", { namespace, name }));
    const isSame = volume?.metadata.uid === metadata.uid && volume?.spec.claimRef?.uid === uid;
    return isSame && volume?.spec.persistentVolumeReclaimPolicy === "Delete" && claim?.metadata.uid !== uid;
  }

  private async getUnlessGone<T>(path: string): Promise<T | undefined> {
    try {
      return await this.options.client.get<T>(path);
    } catch (error) {
      if (codeOf(error) === "not-found") return undefined;
      throw error;
    }
  }

  private async failVolume(volume: PersistentVolume, reason: string, message: string): Promise<void> {
    await this.options.client.patch(volumePath(volume.metadata.name ?? "", "status"), { type: "merge", body: { status: { phase: "Failed", message } } });
    this.sayOfVolume(volume, { type: "Warning", reason, message });
  }

  private async unprotectVolume(volume: PersistentVolume): Promise<void> {
    const finalizers = volume.metadata.finalizers ?? [];
    if (!finalizers.includes(volumeProtection) || volume.status?.phase === "Bound") return;
    const body = { metadata: { resourceVersion: volume.metadata.resourceVersion, finalizers: finalizers.filter((each) => each !== volumeProtection) } };
    await this.options.client.patch(volumePath(volume.metadata.name ?? ""), { type: "merge", body });
  }

  /** A volume whose reclaim failed stays Failed until a person acts. */
  private async setPhase(volume: PersistentVolume, phase: "Available" | "Released"): Promise<void> {
    if (volume.status?.phase !== phase && volume.status?.phase !== "Failed") await this.patchPhase(volume, phase);
  }

  private async patchPhase(volume: PersistentVolume, phase: string): Promise<void> {
    await this.options.client.patch(volumePath(volume.metadata.name ?? "", "status"), { type: "merge", body: { status: { phase } } });
  }

  // Writes

  private point(name: string): void {
    this.options.point?.(name);
  }

  private async patchClaim(claim: PersistentVolumeClaim, body: { spec?: object; metadata?: object }): Promise<void> {
    const metadata = { ...body.metadata, resourceVersion: claim.metadata.resourceVersion };
    await this.options.client.patch(claimPath(claim), { type: "merge", body: { ...body, metadata } });
  }

  private async patchClaimStatus(claim: PersistentVolumeClaim, status: object): Promise<void> {
    await this.options.client.patch(claimPath(claim, "status"), { type: "merge", body: { status } });
  }

  private say(claim: PersistentVolumeClaim, said: Said): void {
    this.sayOnce({ ...said, subject: claimSubject(claim), component });
  }

  private sayOfVolume(volume: PersistentVolume, said: Said): void {
    this.sayOnce({ ...said, subject: volumeSubject(volume), component });
  }

  /** Until something else is to be said about the object. A figure that moves, such as free space, is not another thing. */
  private sayOnce(event: NodeEvent): void {
    const text = `${event.reason} ${event.message.replace(/\d+/g, "#")}`;
    if (this.said.get(event.subject.uid) === text) return;
    this.said.set(event.subject.uid, text);
    this.options.recorder.record(event);
  }
}

function isKnown(snapshot: ClusterSnapshot, uid: string): boolean {
  for (const claim of snapshot.claims.values()) if (claim.metadata.uid === uid) return true;
  for (const volume of snapshot.persistentVolumes.values()) if (volume.metadata.uid === uid) return true;
  return false;
}

/** Pods that have not ended and name the claim. */
function usersOf(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim): readonly Pod[] {
  const { namespace = "", name = "" } = claim.metadata;
  const ended = (pod: Pod) => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  return (snapshot.podVolumesByClaim.get(`${namespace}/${name}`) ?? []).map((volume) => volume.pod).filter((pod) => !ended(pod));
}

/** A pod that only waits for this claim: on the one node that there is, it will come here. */
function hasConsumer(snapshot: ClusterSnapshot, claim: PersistentVolumeClaim): boolean {
  return usersOf(snapshot, claim).some(keepsVolumes);
}
