import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import { buildSnapshot, type StoreStates } from "@/server/cluster/build-snapshot";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { ObjectStore } from "@/server/cluster/store";

let version = 0;
const meta = (name: string, namespace?: string) => ({ name, ...(namespace ? { namespace } : {}), uid: `uid-${name}`, resourceVersion: String((version += 1)) });

function makeStores() {
  const stores = {
    pods: new ObjectStore<Pod>(),
    persistentvolumeclaims: new ObjectStore<PersistentVolumeClaim>(),
    persistentvolumes: new ObjectStore<PersistentVolume>(),
    events: new ObjectStore<KubeEvent>(),
  };
  const none = { objects: new Map(), changed: new Map() };
  const states = (): StoreStates => ({
    storageclasses: none,
    csidrivers: none,
    csinodes: none,
    volumeattachments: none,
    nodes: none,
    namespaces: none,
    pods: stores.pods.take(),
    persistentvolumeclaims: stores.persistentvolumeclaims.take(),
    persistentvolumes: stores.persistentvolumes.take(),
    events: stores.events.take(),
  });
  return { ...stores, states };
}

const pod = (name: string, volumes: Volume[], namespace = "shop"): Pod => ({ metadata: meta(name, namespace), spec: { containers: [], volumes } });
const claim = (name: string, volumeName?: string, owner?: string): PersistentVolumeClaim => ({
  metadata: { ...meta(name, "shop"), ...(owner ? { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: owner, controller: true }] } : {}) },
  spec: volumeName === undefined ? {} : { volumeName },
});
const persistentVolume = (name: string): PersistentVolume => ({ metadata: meta(name), spec: {} });
const event = (name: string, uid: string, lastTimestamp: string): KubeEvent => ({ metadata: meta(name, "shop"), involvedObject: { uid }, lastTimestamp });

function comparable(snapshot: ClusterSnapshot): unknown {
  return {
    podVolumes: snapshot.podVolumes,
    keys: snapshot.podVolumes.map((volume) => snapshot.podVolumeByKey.get(volume.key)?.key),
    byClaim: [...snapshot.podVolumesByClaim].sort(([a], [b]) => (a < b ? -1 : 1)),
    events: [...snapshot.eventsByUid].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

describe("buildSnapshot joins", () => {
  it("a volume with its claim and persistent volume, in the order of keys", () => {
    const stores = makeStores();
    stores.pods.put(pod("b", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }, { name: "cache", emptyDir: {} }]));
    stores.pods.put(pod("b-1", [{ name: "data", persistentVolumeClaim: { claimName: "missing" } }]));
    stores.persistentvolumeclaims.put(claim("data", "pv-1"));
    stores.persistentvolumes.put(persistentVolume("pv-1"));
    const snapshot = buildSnapshot(undefined, stores.states(), 7);
    expect(snapshot.podVolumes.map((volume) => [volume.key, volume.claimName, volume.claim?.metadata.name, volume.persistentVolume?.metadata.name])).toEqual([
      ["shop/b-1/data", "missing", undefined, undefined],
      ["shop/b/cache", undefined, undefined, undefined],
      ["shop/b/data", "data", "data", "pv-1"],
    ]);
    expect(snapshot.podVolumesByClaim.get("shop/data")?.map((volume) => volume.key)).toEqual(["shop/b/data"]);
    expect(snapshot.podVolumeByKey.get("shop/b/data")?.volume.name).toBe("data");
    expect(snapshot.podVolumeByKey.has("shop/b/dat")).toBe(false);
    expect({ version: snapshot.version, takenAtMs: snapshot.takenAtMs }).toEqual({ version: 1, takenAtMs: 7 });
  });

  it("an ephemeral volume only with a claim that its pod owns", () => {
    const stores = makeStores();
    stores.pods.put(pod("a", [{ name: "own", ephemeral: {} }, { name: "foreign", ephemeral: {} }]));
    stores.persistentvolumeclaims.put(claim("a-own", undefined, "uid-a"));
    stores.persistentvolumeclaims.put(claim("a-foreign", undefined, "uid-b"));
    const snapshot = buildSnapshot(undefined, stores.states(), 0);
    expect(snapshot.podVolumes.map((volume) => [volume.claimName, volume.claim !== undefined])).toEqual([
      ["a-foreign", false],
      ["a-own", true],
    ]);
  });

  it("events by the object they are about, oldest first, whatever form their times have", () => {
    const stores = makeStores();
    stores.events.put(event("late", "u", "2026-01-01T00:00:02Z"));
    stores.events.put({ ...event("early", "u", ""), lastTimestamp: null, eventTime: "2026-01-01T00:00:01.500000Z" });
    const snapshot = buildSnapshot(undefined, stores.states(), 0);
    expect(snapshot.eventsByUid.get("u")?.map((found) => found.metadata.name)).toEqual(["early", "late"]);
  });
});

describe("buildSnapshot after changes", () => {
  it("leaves the previous snapshot as it was, and shares what did not change", () => {
    const stores = makeStores();
    stores.pods.put(pod("a", [{ name: "x", emptyDir: {} }]));
    stores.pods.put(pod("b", [{ name: "x", emptyDir: {} }]));
    const first = buildSnapshot(undefined, stores.states(), 0);
    stores.pods.put(pod("a", []));
    const second = buildSnapshot(first, stores.states(), 1);
    expect(first.podVolumes.map((volume) => volume.key)).toEqual(["shop/a/x", "shop/b/x"]);
    expect(second.podVolumes).toEqual([first.podVolumes[1]]);
    expect(second.podVolumes[0]).toBe(first.podVolumes[1]);
    expect(second.claims).toBe(first.claims);
    expect(second.eventsByUid).toBe(first.eventsByUid);
    expect(buildSnapshot(second, stores.states(), 2).podVolumes).toBe(second.podVolumes);
  });

  it("equals a snapshot made from nothing, for any changes", () => {
    const names = fc.constantFrom("a", "b", "a-1", "b.x");
    const change = fc.oneof(
      fc.record({ what: fc.constant("pod" as const), name: names, claims: fc.uniqueArray(names, { maxLength: 3 }), gone: fc.boolean() }),
      fc.record({ what: fc.constant("claim" as const), name: names, volume: fc.option(names), gone: fc.boolean() }),
      fc.record({ what: fc.constant("pv" as const), name: names, gone: fc.boolean() }),
      fc.record({ what: fc.constant("event" as const), name: names, about: names, second: fc.integer({ min: 0, max: 9 }), gone: fc.boolean() }),
    );
    const put = <T extends { metadata: object }>(store: ObjectStore<T & Pod> | ObjectStore<T>, object: T, gone: boolean) =>
      gone ? (store as ObjectStore<T>).remove(object) : (store as ObjectStore<T>).put(object);
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }), (rounds) => {
        const stores = makeStores();
        let snapshot = buildSnapshot(undefined, stores.states(), 0);
        for (const round of rounds) {
          for (const one of round) {
            if (one.what === "pod") put(stores.pods, pod(one.name, one.claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))), one.gone);
            else if (one.what === "claim") put(stores.persistentvolumeclaims, claim(one.name, one.volume ?? undefined), one.gone);
            else if (one.what === "pv") put(stores.persistentvolumes, persistentVolume(one.name), one.gone);
            else put(stores.events, event(one.name, one.about, `2026-01-01T00:00:0${one.second}Z`), one.gone);
          }
          const states = stores.states();
          snapshot = buildSnapshot(snapshot, states, 0);
          expect(comparable(snapshot)).toEqual(comparable(buildSnapshot(undefined, states, 0)));
        }
      }),
      { numRuns: 300 },
    );
  });
});
