/** Operations of one cluster, wired: what they read of it, who asks, and the loop that follows what was begun. */
import { codeOf } from "@/lib/errors";
import { kubectlWith } from "@/lib/kubectl";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume } from "@/lib/kube/storage";
import type { ClusterOperations } from "@/server/api/context";
import type { Cluster } from "@/server/cluster/cluster";
import type { Hosts } from "@/server/cluster-view";
import { mayPatchClaim, previewExpansion } from "@/server/operations/expand-claim";
import type { Operations } from "@/server/operations/operations";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import type { MountedSize, OperationCluster } from "@/server/operations/ports";
import { previewResize } from "@/server/operations/resize-ephemeral";
import { explain } from "@/server/volume/explain";
import type { Clock, Log } from "@/server/volume/ports";
import { newSpecFromPersistentVolume } from "@/server/volume/spec";

/** Fields conclude at once; a stalled change shows only as time goes by. */
const lookEveryMs = 5_000;

export function operationCluster(id: string, cluster: Cluster, hosts: Hosts): OperationCluster {
  return {
    id,
    client: cluster.client,
    kubectl: kubectlWith(cluster.context.kubectlFlags),
    podsOfClaim: (namespace, claim) => {
      const volumes = cluster.snapshot().podVolumesByClaim.get(`${namespace}/${claim}`) ?? [];
      return [...new Set(volumes.map((volume) => volume.pod))];
    },
    eventsOf: (uids) => uids.flatMap((uid) => cluster.snapshot().eventsByUid.get(uid) ?? []),
    mountedSize: (podUID, volumeName) => mountedSize(cluster.snapshot(), hosts, { podUID, volumeName }),
    whyUnserved: (pod, volume) => whyUnserved(hosts, pod, volume),
    hasPodResize: () => hasPodResize(cluster),
    mayPatch: (resource) => mayPatch(cluster, resource),
  };
}

/** Asks the node that the pod is bound to, so that what was deleted or grown a moment ago counts. */
export async function mountedSize(snapshot: Pick<ClusterSnapshot, "pods">, hosts: Hosts, at: { podUID: string; volumeName: string }): Promise<MountedSize | undefined> {
  const pod = [...snapshot.pods.values()].find(({ metadata }) => metadata.uid === at.podUID);
  const nodeName = pod?.spec.nodeName ?? "";
  if (!hosts.pluginHosts().some((host) => host.source === "node" && host.nodeName === nodeName)) return undefined;
  const report = (await hosts.freshReport?.(nodeName)) ?? hosts.nodeReport(nodeName);
  if (!report) return { notYet: true };
  const found = report.volumes.find((volume) => volume.podUID === at.podUID && (volume.volumeName ?? volume.specName) === at.volumeName);
  if (!found) return undefined;
  if (found.state === "uncertain" || found.state === "mounting") return { notYet: true };
  return { usedBytes: bytes(found.usedBytes), capacityBytes: bytes(found.capacityBytes) };
}

function whyUnserved(hosts: Hosts, pod: Pod, volume: PersistentVolume): string | undefined {
  const host = hosts.pluginHosts().find((each) => each.nodeName === pod.spec.nodeName && each.source === "node");
  return host && explain(host.table, newSpecFromPersistentVolume(volume, false)).error?.message;
}

function bytes(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}

async function hasPodResize(cluster: Cluster): Promise<boolean> {
  const list = await cluster.client.get<{ resources?: { name?: string }[] }>("/api/v1");
  return list.resources?.some((resource) => resource.name === "pods/resize") ?? false;
}

/** A server without authorisation of its own has no such review: then nobody can be asked, and the write itself tells. */
async function mayPatch(cluster: Cluster, resource: Parameters<OperationCluster["mayPatch"]>[0]): Promise<boolean | undefined> {
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { ...resource, verb: "patch" } },
  };
  try {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const answer = await cluster.client.create<{ status?: { allowed?: boolean } }>(path, review);
    return answer.status?.allowed;
  } catch (error) {
    if (codeOf(error) === "not-found" || codeOf(error) === "forbidden") return undefined;
    throw error;
  }
}

/** What procedures are handed; `who` is asked for the name that each change is noted under. */
export function clusterOperations(operations: Operations, cluster: OperationCluster, who: () => Promise<string>): ClusterOperations {
  const options = async (uid: string) => ({ clusterId: cluster.id, who: await who(), uid });
  return {
    previewExpand: (input) => previewExpansion(cluster, input, Date.now()),
    expand: async ({ uid, ...input }) => operations.expandClaim(input, await options(uid)),
    mayPatchClaim: (claim) => mayPatchClaim(cluster, claim),
    previewResize: (input) => previewResize(cluster, input, Date.now()),
    resize: async ({ uid, ...input }) => operations.resizeEphemeral(input, await options(uid)),
    list: () => operations.list(cluster.id),
    get: (id) => {
      const record = operations.get(id);
      return record?.cluster === cluster.id ? { record, entries: operations.entries(id) } : undefined;
    },
  };
}

interface Followed {
  /** Those of this cluster. */
  readonly operations: { followAll(): Promise<void> };
  readonly cluster: Pick<Cluster, "settled" | "onChange">;
  readonly hosts: Pick<Hosts, "onChange">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Settles what a restart left, then looks at every open operation after changes and now and then. Returns the way to stop. */
export function followOperations(parts: Followed): () => Promise<void> {
  const { operations, cluster, hosts, clock, log } = parts;
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let nap = new AbortController();
  const wake = () => nap.abort();
  const stops = [cluster.onChange(wake), hosts.onChange(wake)];
  const attempt = async (what: string, act: () => Promise<void>) => {
    await act().catch((error: unknown) => log.error(what, error));
  };
  const run = async () => {
    // A cluster that was never reached settles never.
    await Promise.race([cluster.settled, stopped.promise]);
    while (!stopping.signal.aborted) {
      nap = new AbortController();
      await attempt("following operations", () => operations.followAll());
      await clock.sleep(lookEveryMs, nap.signal).catch(() => undefined);
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    stopped.resolve();
    stops.forEach((stop) => stop());
    wake();
    await running;
  };
}
