import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { claimClass, claimHasClass, defaultClass } from "@/lib/kube/classes";
import {
  checkEphemeralClaimOwner,
  checkNodeAffinity,
  findBestVolume,
  findMatchingVolume,
  getBindVolumeToClaim,
  isDelayBindingMode,
  isVolumeBoundToClaim,
} from "@/server/node/binding";

type ClaimSpec = PersistentVolumeClaim["spec"];
type VolumeSpec = PersistentVolume["spec"];

function claim(spec: Partial<ClaimSpec> = {}, annotations?: Record<string, string>): PersistentVolumeClaim {
  return {
    metadata: { name: "data", namespace: "shop", uid: "u1", annotations },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "fast", resources: { requests: { storage: "10Gi" } }, ...spec },
  };
}

function volume(name: string, storage: string, spec: Partial<VolumeSpec> = {}): PersistentVolume {
  return {
    metadata: { name },
    spec: { capacity: { storage }, accessModes: ["ReadWriteOnce"], storageClassName: "fast", ...spec },
    status: { phase: "Available" },
  };
}

const zoneA = { metadata: { name: "n1", labels: { zone: "a" } } };
const inZone = (zone: string): Partial<VolumeSpec> => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }] } },
});
const reservedFor = (name: string): Partial<VolumeSpec> => ({ claimRef: { name, namespace: "shop" } });

describe("findMatchingVolume", () => {
  it.each<[string, PersistentVolume[], string | undefined]>([
    ["takes the smallest that is large enough", [volume("a", "20Gi"), volume("b", "10737418240"), volume("c", "9Gi")], "b"],
    ["keeps to the class", [volume("a", "20Gi", { storageClassName: "slow" })], undefined],
    ["keeps to the volume mode", [volume("a", "20Gi", { volumeMode: "Block" })], undefined],
    ["prefers the one reserved for it, of any class", [volume("a", "10Gi"), volume("b", "99Gi", { ...reservedFor("data"), storageClassName: "x" })], "b"],
    ["leaves those reserved for others", [volume("a", "20Gi", reservedFor("other"))], undefined],
    ["leaves those that are used or failed", [{ ...volume("a", "20Gi"), status: { phase: "Released" } }], undefined],
    ["leaves those that are being deleted", [{ ...volume("a", "20Gi"), metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } }], undefined],
  ])("%s", (_name, volumes, expected) => {
    expect(findMatchingVolume(claim(), volumes)?.metadata.name).toBe(expected);
  });

  it("keeps to the node's zone and the access modes when a node is given", () => {
    const volumes = [volume("a", "20Gi", inZone("b")), volume("b", "30Gi", inZone("a")), volume("c", "11Gi", { accessModes: ["ReadWriteMany"] })];
    expect(findMatchingVolume(claim(), volumes, { node: zoneA })?.metadata.name).toBe("b");
  });

  it("gives nothing when the reserved volume cannot be used on the node", () => {
    expect(findMatchingVolume(claim(), [volume("a", "20Gi"), volume("b", "20Gi", { ...reservedFor("data"), ...inZone("b") })], { node: zoneA })).toBeUndefined();
  });

  it("waits for the first consumer unless a volume is reserved", () => {
    expect(findMatchingVolume(claim(), [volume("a", "20Gi")], { delayBinding: true })).toBeUndefined();
    expect(findMatchingVolume(claim(), [volume("a", "20Gi", reservedFor("data"))], { delayBinding: true })?.metadata.name).toBe("a");
  });

  it("follows the claim's selector and names a wrong one", () => {
    const labelled = { ...volume("b", "50Gi"), metadata: { name: "b", labels: { tier: "gold" } } };
    expect(findMatchingVolume(claim({ selector: { matchLabels: { tier: "gold" } } }), [volume("a", "20Gi"), labelled])?.metadata.name).toBe("b");
    expect(() => findMatchingVolume(claim({ selector: { matchExpressions: [{ key: "a", operator: "Odd" }] } }), [])).toThrow(
      'error creating internal label selector for claim: shop/data: "Odd" is not a valid label selector operator',
    );
  });

  it("never gives a volume that is too small, whatever the sizes", () => {
    const size = fc.integer({ min: 1, max: 50 });
    fc.assert(fc.property(size, fc.array(size), (wanted, sizes) => {
      const volumes = sizes.map((gi, index) => volume(`v${index}`, `${gi}Gi`));
      const found = findMatchingVolume(claim({ resources: { requests: { storage: `${wanted}Gi` } } }), volumes);
      const fitting = sizes.filter((gi) => gi >= wanted);
      expect(found?.spec.capacity?.["storage"]).toBe(fitting.length === 0 ? undefined : `${Math.min(...fitting)}Gi`);
    }));
  });
});

describe("findBestVolume", () => {
  it("requires the access modes and prefers the fewest beyond them", () => {
    const volumes = [
      volume("many", "10Gi", { accessModes: ["ReadWriteOnce", "ReadWriteMany"] }),
      volume("exact", "50Gi"),
      volume("wrong", "10Gi", { accessModes: ["ReadOnlyMany"] }),
    ];
    expect(findBestVolume(claim(), volumes, false)?.metadata.name).toBe("exact");
    expect(findBestVolume(claim({ accessModes: ["ReadWriteMany"] }), volumes, false)?.metadata.name).toBe("many");
    expect(findBestVolume(claim({ accessModes: ["ReadWriteOncePod"] }), volumes, false)).toBeUndefined();
  });
});

describe("classes", () => {
  const beta = "volume.beta.kubernetes.io/storage-class";

  it("lets the beta annotation win, the empty one too", () => {
    expect([claimClass(claim({}, { [beta]: "slow" })), claimClass(claim({}, { [beta]: "" })), claimClass(claim())]).toEqual(["slow", "", "fast"]);
    expect([claimHasClass(claim({ storageClassName: "" })), claimHasClass(claim({ storageClassName: undefined }))]).toEqual([true, false]);
  });

  it("takes the newest default", () => {
    const made = (name: string, creationTimestamp?: string): StorageClass => ({
      metadata: { name, creationTimestamp, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "p",
    });
    expect(defaultClass([made("old", "2026-01-01T00:00:00Z"), made("b", "2026-02-01T00:00:00Z"), made("a", "2026-02-01T00:00:00Z")])?.metadata.name).toBe("a");
    expect(defaultClass([])).toBeUndefined();
  });

  it("asks the class whether to wait", () => {
    const classOf = (mode?: string) => (): StorageClass => ({ metadata: { name: "fast" }, provisioner: "p", volumeBindingMode: mode });
    expect(isDelayBindingMode(claim(), classOf("WaitForFirstConsumer"))).toBe(true);
    expect(isDelayBindingMode(claim(), () => undefined)).toBe(false);
    expect(() => isDelayBindingMode(claim(), classOf())).toThrow('VolumeBindingMode not set for StorageClass "fast"');
  });
});

describe("getBindVolumeToClaim", () => {
  it("refers to the claim and marks the binding as the controller's, without touching its input", () => {
    const free = volume("a", "20Gi");
    const { volume: bound, dirty } = getBindVolumeToClaim(free, claim());
    expect(dirty).toBe(true);
    expect(bound.spec.claimRef).toMatchObject({ kind: "PersistentVolumeClaim", namespace: "shop", name: "data", uid: "u1" });
    expect(bound.metadata.annotations).toEqual({ "pv.kubernetes.io/bound-by-controller": "yes" });
    expect(isVolumeBoundToClaim(bound, claim())).toBe(true);
    expect(free.spec.claimRef).toBeUndefined();
  });

  it("only fills in the uid of an admin's reservation", () => {
    const { volume: bound, dirty } = getBindVolumeToClaim(volume("a", "20Gi", reservedFor("data")), claim());
    expect([dirty, bound.spec.claimRef?.uid, bound.metadata.annotations]).toEqual([true, "u1", undefined]);
  });

  it("has nothing to do for what is bound", () => {
    const once = getBindVolumeToClaim(volume("a", "20Gi"), claim()).volume;
    expect(getBindVolumeToClaim(once, claim())).toEqual({ volume: once, dirty: false });
  });
});

describe("checks that throw", () => {
  it("says that no term matches", () => {
    expect(() => checkNodeAffinity(volume("a", "1Gi", inZone("a")), { zone: "b" })).toThrow(expect.objectContaining({ code: "precondition" }));
    checkNodeAffinity(volume("a", "1Gi", inZone("a")), { zone: "a" });
  });

  it("refuses a claim that was not made for the pod", () => {
    const pod = { metadata: { name: "web", namespace: "shop", uid: "pu" }, spec: { containers: [] } };
    const owned = (controller: boolean): PersistentVolumeClaim => {
      const made = claim();
      made.metadata.ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "web", uid: "pu", controller }];
      return made;
    };
    checkEphemeralClaimOwner(pod, owned(true));
    expect(() => checkEphemeralClaimOwner(pod, owned(false))).toThrow("PVC shop/data was not created for pod shop/web (pod is not owner)");
  });
});
