import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { Binder, type OwnProvisioner } from "@/server/node/binder";
import { FakeCluster } from "@/server/node/fake-cluster";
import type { NodeEvent } from "@/server/node/recorder";
import { boundPod } from "@/server/node/test-node";

const claim = (name: string, spec: Partial<PersistentVolumeClaim["spec"]> = {}): PersistentVolumeClaim => ({
  metadata: { name, namespace: "shop" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeMode: "Filesystem", resources: { requests: { storage: "1Gi" } }, ...spec },
});

const volume = (name: string, spec: Partial<PersistentVolume["spec"]> = {}): PersistentVolume => ({
  metadata: { name },
  spec: { capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem", persistentVolumeReclaimPolicy: "Retain", hostPath: { path: "/x" }, ...spec },
});

const storageClass = (name: string, extra: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name },
  provisioner: "own",
  volumeBindingMode: "Immediate",
  ...extra,
});

function start(own: Partial<OwnProvisioner> = {}) {
  const cluster = new FakeCluster();
  const events: NodeEvent[] = [];
  const provisioner: OwnProvisioner = { name: "own", provision: async () => undefined, remove: async () => undefined, ...own };
  const binder = new Binder({ client: cluster.client, recorder: { record: (event) => events.push(event) }, provisioners: [provisioner] });
  const settle = async () => {
    for (let pass = 0; pass < 4; pass += 1) await binder.step(cluster.snapshot());
  };
  const said = () => events.map(({ reason, message }) => `${reason}: ${message}`);
  const claimNamed = (name: string) => cluster.get("persistentvolumeclaims", "shop", name);
  const volumeNamed = (name: string) => cluster.get("persistentvolumes", undefined, name);
  return { cluster, events, binder, settle, said, claimNamed, volumeNamed };
}

describe("binding", () => {
  it("binds a claim to the smallest volume that fits, both ways, and then rests", async () => {
    const world = start();
    world.cluster.put("persistentvolumes", volume("large", { capacity: { storage: "9Gi" } }));
    world.cluster.put("persistentvolumes", volume("small"));
    await world.settle();
    world.cluster.put("persistentvolumeclaims", claim("data"));
    await world.settle();
    expect(world.claimNamed("data")).toMatchObject({
      metadata: { annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" } },
      spec: { volumeName: "small" },
      status: { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce"] },
    });
    expect(world.volumeNamed("small")).toMatchObject({ spec: { claimRef: { name: "data", namespace: "shop", uid: "uid-data" } }, status: { phase: "Bound" } });
    expect(world.volumeNamed("large")).toMatchObject({ status: { phase: "Available" } });
    const writes = world.cluster.writes.length;
    await world.settle();
    expect(world.cluster.writes).toHaveLength(writes);
    expect(world.events).toEqual([]);
  });

  it("gives one volume to one claim", async () => {
    const world = start();
    world.cluster.put("persistentvolumes", volume("only"));
    await world.settle();
    for (const name of ["a", "b"]) world.cluster.put("persistentvolumeclaims", claim(name));
    await world.settle();
    expect(["a", "b"].map((name) => world.claimNamed(name)?.status?.phase).sort()).toEqual(["Bound", "Pending"]);
    expect(world.said()).toEqual(["FailedBinding: no persistent volumes available for this claim and no storage class is set"]);
  });

  it.each([
    { name: "a volume that is reserved for it", reference: { name: "data", namespace: "shop" }, phase: "Bound", said: [] },
    { name: "no volume that is reserved for another", reference: { name: "other", namespace: "shop", uid: "x" }, phase: "Pending", said: ['FailedBinding: volume "pv" already bound to a different claim.'] },
  ])("gives a claim that names a volume $name", async ({ reference, phase, said }) => {
    const world = start();
    world.cluster.put("persistentvolumes", volume("pv", { claimRef: reference }));
    world.cluster.put("persistentvolumeclaims", claim("data", { volumeName: "pv" }));
    await world.settle();
    expect(world.claimNamed("data")?.status?.phase).toBe(phase);
    expect(world.said()).toEqual(said);
  });

  it("gives a claim without a class the default one", async () => {
    const world = start();
    world.cluster.put("storageclasses", { ...storageClass("fast"), metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } });
    world.cluster.put("persistentvolumeclaims", claim("data", { storageClassName: undefined }));
    await world.settle();
    expect(world.claimNamed("data")?.spec.storageClassName).toBe("fast");
  });

  it("says once that a bound claim lost its volume", async () => {
    const world = start();
    world.cluster.put("persistentvolumes", volume("pv"));
    await world.settle();
    world.cluster.put("persistentvolumeclaims", claim("data"));
    await world.settle();
    world.cluster.remove("persistentvolumes", undefined, "pv");
    await world.settle();
    expect(world.claimNamed("data")?.status?.phase).toBe("Lost");
    expect(world.said()).toEqual(["ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"]);
  });

  it("goes on with the next snapshot when somebody else was faster", async () => {
    const world = start();
    world.cluster.put("persistentvolumes", volume("pv"));
    await world.settle();
    world.cluster.put("persistentvolumeclaims", claim("data"));
    const old = world.cluster.snapshot();
    world.cluster.put("persistentvolumes", { ...volume("pv"), metadata: { name: "pv", labels: { touched: "yes" } }, status: { phase: "Available" } });
    await world.binder.step(old);
    expect(world.claimNamed("data")?.status?.phase).toBeUndefined();
    await world.settle();
    expect(world.claimNamed("data")?.status?.phase).toBe("Bound");
  });
});

describe("provisioning", () => {
  it.each([
    { name: "a class that is missing", classes: [], said: 'ProvisioningFailed: storageclass.storage.k8s.io "fast" not found' },
    { name: "an in-tree provisioner that is gone", classes: [storageClass("fast", { provisioner: "kubernetes.io/aws-ebs" })], said: "ProvisioningFailed: no volume plugin matched name: kubernetes.io/aws-ebs" },
    {
      name: "somebody else's provisioner",
      classes: [storageClass("fast", { provisioner: "csi.example.com" })],
      said:
        "ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
    },
    { name: "a class that waits for a pod", classes: [storageClass("fast", { volumeBindingMode: "WaitForFirstConsumer" })], said: "WaitForFirstConsumer: waiting for first consumer to be created before binding" },
  ])("says once of $name what is awaited", async ({ classes, said }) => {
    const world = start();
    for (const each of classes) world.cluster.put("storageclasses", each);
    world.cluster.put("persistentvolumeclaims", claim("data", { storageClassName: "fast" }));
    await world.settle();
    expect(world.claimNamed("data")?.status?.phase).toBe("Pending");
    expect(world.said()).toEqual([said]);
  });

  it("says why its own provisioner failed", async () => {
    const world = start({ provision: () => Promise.reject(new Error("a loop device needs root")) });
    world.cluster.put("storageclasses", storageClass("fast"));
    world.cluster.put("persistentvolumeclaims", claim("data", { storageClassName: "fast" }));
    await world.settle();
    expect(world.said()).toEqual(['ProvisioningFailed: failed to provision volume with StorageClass "fast": a loop device needs root']);
  });

  it("begins when the first pod comes, where the class says so", async () => {
    const provisioned: string[] = [];
    const world = start({ provision: async ({ metadata }) => void provisioned.push(metadata.name ?? "") });
    world.cluster.put("storageclasses", storageClass("late", { volumeBindingMode: "WaitForFirstConsumer" }));
    world.cluster.put("persistentvolumeclaims", claim("data", { storageClassName: "late" }));
    await world.settle();
    expect(provisioned).toEqual([]);
    world.cluster.put("pods", boundPod("web", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }]));
    await world.binder.step(world.cluster.snapshot());
    expect(provisioned).toEqual(["data"]);
  });

  it("makes the claim of an ephemeral volume, owned by its pod", async () => {
    const world = start();
    world.cluster.put("pods", boundPod("web", [{ name: "scratch", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec: claim("x").spec } } }]));
    await world.settle();
    expect(world.claimNamed("web-scratch")?.metadata).toMatchObject({ labels: { a: "b" }, ownerReferences: [{ kind: "Pod", name: "web", uid: "uid-web", controller: true }] });
  });
});

describe("releasing", () => {
  const used = (policy: string, annotations: Record<string, string> = {}): PersistentVolume => ({
    ...volume("pv", { claimRef: { name: "gone", namespace: "shop", uid: "uid-gone" }, persistentVolumeReclaimPolicy: policy }),
    metadata: { name: "pv", annotations },
    status: { phase: "Bound" },
  });

  it.each([
    { name: "is kept", object: used("Retain"), phase: "Released", said: [] },
    {
      name: "can't be deleted by a plugin",
      object: used("Delete"),
      phase: "Failed",
      said: ['VolumeFailedDelete: error getting deleter volume plugin for volume "pv": no deletable volume plugin matched'],
    },
    { name: "would have to be recycled", object: used("Recycle"), phase: "Failed", said: ["VolumeRecycleFailed: this node runs no recycler pods"] },
  ])("a volume whose claim is gone $name", async ({ object, phase, said }) => {
    const world = start();
    world.cluster.put("persistentvolumes", object);
    await world.settle();
    expect(world.volumeNamed("pv")?.status?.phase).toBe(phase);
    expect(world.said()).toEqual(said);
  });

  it("asks its own provisioner to remove a volume, and says why it can't", async () => {
    const world = start({ remove: () => Promise.reject(new Error("still mounted")) });
    world.cluster.put("persistentvolumes", used("Delete", { "pv.kubernetes.io/provisioned-by": "own" }));
    await world.settle();
    expect(world.volumeNamed("pv")?.status?.phase).toBe("Released");
    expect(world.said()).toEqual(["VolumeFailedDelete: still mounted"]);
  });

  it.each([
    ["whose claim is there after all", (world: ReturnType<typeof start>) => world.cluster.put("persistentvolumeclaims", claim("gone"))],
    ["that is to be retained by now", (world: ReturnType<typeof start>) => world.cluster.put("persistentvolumes", { ...used("Retain"), status: { phase: "Released" } })],
  ])("removes nothing by an old snapshot: a volume %s", async (_, change) => {
    const removed: string[] = [];
    const world = start({ remove: async ({ metadata }) => void removed.push(metadata.name ?? "") });
    world.cluster.put("persistentvolumes", { ...used("Delete", { "pv.kubernetes.io/provisioned-by": "own" }), status: { phase: "Released" } });
    const old = world.cluster.snapshot();
    change(world);
    await world.binder.step(old);
    expect(removed).toEqual([]);
    world.cluster.remove("persistentvolumeclaims", "shop", "gone");
    world.cluster.put("persistentvolumes", { ...used("Delete", { "pv.kubernetes.io/provisioned-by": "own" }), status: { phase: "Released" } });
    await world.settle();
    expect(removed).toContain("pv");
  });

  it("lets a protected claim go when no pod uses it any more", async () => {
    const world = start();
    const deleted = { ...claim("data"), metadata: { name: "data", namespace: "shop", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["kubernetes.io/pvc-protection", "other"] } };
    world.cluster.put("persistentvolumeclaims", deleted);
    world.cluster.put("pods", boundPod("web", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }]));
    await world.settle();
    expect(world.claimNamed("data")?.metadata.finalizers).toHaveLength(2);
    world.cluster.remove("pods", "shop", "web");
    await world.settle();
    expect(world.claimNamed("data")?.metadata.finalizers).toEqual(["other"]);
  });
});
