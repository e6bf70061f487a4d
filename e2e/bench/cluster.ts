/** A cluster's objects for the snapshot: pods with a config, a folder and, two of three, a bound claim. */
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { StoreStates } from "@/server/cluster/build-snapshot";
import { ObjectStore } from "@/server/cluster/store";

export interface BenchCluster {
  /** Replaces a pod by a newer version of it. */
  touch(index: number): void;
  states(): StoreStates;
}

export function benchCluster(podCount: number): BenchCluster {
  const pods = new ObjectStore<Pod>();
  const claims = new ObjectStore<PersistentVolumeClaim>();
  const volumes = new ObjectStore<PersistentVolume>();
  let version = 0;
  const meta = (name: string, namespace?: string) => ({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: `uid-${name}`,
    resourceVersion: String((version += 1)),
  });
  const namespaceOf = (index: number) => `team-${index % 50}`;
  const touch = (index: number) => {
    const claimName = `data-web-${index}`;
    pods.put({
      metadata: meta(`web-${index}`, namespaceOf(index)),
      spec: {
        containers: [],
        volumes: [
          { name: "config", configMap: { name: "web" } },
          { name: "scratch", emptyDir: {} },
          { name: "data", persistentVolumeClaim: { claimName } },
        ],
      },
    });
  };
  for (let index = 0; index < podCount; index += 1) {
    touch(index);
    if (index % 3 === 2) continue;
    claims.put({ metadata: meta(`data-web-${index}`, namespaceOf(index)), spec: { volumeName: `pv-${index}` } });
    volumes.put({ metadata: meta(`pv-${index}`), spec: {} });
  }
  const none = { objects: new Map(), changed: new Map() };
  return {
    touch,
    states: () => ({
      pods: pods.take(),
      persistentvolumeclaims: claims.take(),
      persistentvolumes: volumes.take(),
      storageclasses: none,
      csidrivers: none,
      csinodes: none,
      volumeattachments: none,
      nodes: none,
      namespaces: none,
      events: none,
    }),
  };
}
