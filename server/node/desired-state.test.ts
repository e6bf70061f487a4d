import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { desiredState } from "@/server/node/desired-state";
import { FakeCluster } from "@/server/node/fake-cluster";
import { boundPod, nodeName } from "@/server/node/test-node";

const claim: PersistentVolumeClaim = {
  metadata: { name: "data", namespace: "shop", uid: "claim-uid" },
  spec: { volumeName: "pv" },
  status: { phase: "Bound" },
};
const volume: PersistentVolume = {
  metadata: { name: "pv" },
  spec: { claimRef: { uid: "claim-uid" }, volumeMode: "Filesystem", hostPath: { path: "/x" } },
};
const mounting: Pod = boundPod("web", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }]);
const mapping = (spec: Partial<PodSpec> = {}) =>
  boundPod("web", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }], { containers: [{ name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] }], ...spec });

interface Case {
  readonly name: string;
  readonly claim?: PersistentVolumeClaim | undefined;
  readonly volume?: PersistentVolume | undefined;
  readonly pod?: Pod;
}

function desired({ claim: withClaim, volume: withVolume, pod = mounting }: Omit<Case, "name">) {
  const cluster = new FakeCluster();
  if (withClaim) cluster.put("persistentvolumeclaims", withClaim);
  if (withVolume) cluster.put("persistentvolumes", withVolume);
  cluster.put("pods", pod);
  return desiredState(cluster.snapshot(), nodeName);
}

describe("desiredState refuses, in the kubelet's words,", () => {
  const refused: readonly (Case & { readonly text: string })[] = [
    { name: "a claim that is missing", volume, text: 'error processing PVC shop/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found' },
    {
      name: "a claim that is being deleted and is not protected",
      claim: { ...claim, metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
      volume,
      text: "error processing PVC shop/data: PVC is being deleted",
    },
    { name: "a claim that is not bound", claim: { ...claim, status: { phase: "Pending" } }, volume, text: "error processing PVC shop/data: PVC is not bound" },
    { name: "a bound claim without a volume", claim: { ...claim, spec: {} }, volume, text: "error processing PVC shop/data: PVC has empty pvc.Spec.VolumeName" },
    { name: "a volume that is missing", claim, text: 'failed to fetch PV pv from API server: persistentvolumes "pv" not found' },
    {
      name: "a volume that is not bound back",
      claim,
      volume: { ...volume, spec: {} },
      text: "found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim",
    },
    {
      name: "a volume that is bound to another claim",
      claim,
      volume: { ...volume, spec: { claimRef: { uid: "other" } } },
      text: "found PV object pv but its pv.Spec.ClaimRef.UID other does not point to claim.UID claim-uid",
    },
    { name: "a block volume that is mounted", claim, volume: { ...volume, spec: { ...volume.spec, volumeMode: "Block" } }, text: "volume v has volumeMode Block, but is specified in volumeMounts" },
    { name: "a file system volume that is mapped", claim, volume, pod: mapping(), text: "volume v has volumeMode Filesystem, but is specified in volumeDevices" },
    {
      name: "an ephemeral volume whose claim belongs to somebody else",
      claim: { ...claim, metadata: { ...claim.metadata, name: "web-v" } },
      volume,
      pod: boundPod("web", [{ name: "v", ephemeral: {} }]),
      text: "PVC shop/web-v was not created for pod shop/web (pod is not owner)",
    },
  ];
  it.each(refused)("$name", ({ text, ...world }) => {
    const state = desired(world);
    expect(state.unprocessed.map(({ volumeName, message }) => [volumeName, message])).toEqual([["v", text]]);
    expect(state.wanted).toEqual([]);
    expect([...state.pods.keys()]).toEqual(["uid-web"]);
  });
});

describe("desiredState wants", () => {
  it("a claim's volume, read-only where the pod says so", () => {
    const pod = boundPod("web", [{ name: "v", persistentVolumeClaim: { claimName: "data", readOnly: true } }]);
    const [wanted] = desired({ claim, volume, pod }).wanted;
    expect(wanted).toMatchObject({ key: "uid-web/v", volumeName: "v", mode: "Filesystem", spec: { readOnly: true, persistentVolume: { metadata: { name: "pv" } } } });
  });

  it("a block volume that is mapped", () => {
    const block = { ...volume, spec: { ...volume.spec, volumeMode: "Block" } };
    expect(desired({ claim, volume: block, pod: mapping() }).wanted.map((wanted) => wanted.mode)).toEqual(["Block"]);
  });

  it("a volume of a deleted claim that is protected as long as its pod is there", () => {
    const metadata = { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["kubernetes.io/pvc-protection"] };
    expect(desired({ claim: { ...claim, metadata }, volume }).wanted).toHaveLength(1);
  });

  it("an ephemeral volume whose claim its pod owns", () => {
    const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-web", controller: true }];
    const own = { ...claim, metadata: { ...claim.metadata, name: "web-v", ownerReferences } };
    expect(desired({ claim: own, volume, pod: boundPod("web", [{ name: "v", ephemeral: {} }]) }).wanted).toHaveLength(1);
  });

  it("volumes of init and ephemeral containers too, and not those of none", () => {
    const volumes = ["a", "b", "c"].map((name) => ({ name, emptyDir: {} }));
    const mounts = (name: string) => [{ name: `use-${name}`, volumeMounts: [{ name, mountPath: "/x" }] }];
    const pod = boundPod("web", volumes, { containers: [], initContainers: mounts("a"), ephemeralContainers: mounts("b") });
    expect(desired({ pod }).wanted.map((wanted) => wanted.volumeName)).toEqual(["a", "b"]);
  });
});
