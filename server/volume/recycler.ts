/**
 * Recycling of persistent volumes: the template of the scrubbing pod, its time limit, and the run of one such pod.
 * Source: pkg/volume/plugins.go (template and its check), pkg/volume/util/util.go (CalculateTimeoutForVolume),
 * pkg/volume/util/recyclerclient/recycler_client.go of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import { storageOf, type PersistentVolume } from "@/lib/kube/storage";
import { parseQuantity } from "@/lib/quantity";
import { nilDereference, VolumeError } from "@/server/volume/errors";
import type { KubeClient } from "@/server/volume/host";
import type { RecycleEventRecorder } from "@/server/volume/plugin";

const scrub = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1';

/** A new pod that empties its first volume. A plugin must set that volume's source; it may set generateName and the deadline. */
export function newPersistentVolumeRecyclerPodTemplate(): Pod {
  return {
    metadata: { generateName: "pv-recycler-", namespace: "default" },
    spec: {
      activeDeadlineSeconds: 60,
      restartPolicy: "Never",
      volumes: [{ name: "vol" }],
      containers: [
        {
          name: "pv-recycler",
          image: "registry.k8s.io/build-image/debian-base:bookworm-v1.0.6",
          command: ["/bin/sh"],
          args: ["-c", scrub],
          volumeMounts: [{ name: "vol", mountPath: "/scrub" }],
        },
      ],
    },
  };
}

/** Throws VolumeError when the template has no volume that a plugin could set. */
export function validateRecyclerPodTemplate(pod: Pod | undefined): void {
  if (!pod) throw nilDereference("recycler pod template");
  if ((pod.spec.volumes ?? []).length < 1) throw new VolumeError("does not contain any volume(s)");
}

const gibibyte = 1n << 30n;

/** Seconds a recycler may take: the increment for each whole Gi of capacity, and no less than the minimum. All are whole seconds. */
export function calculateTimeoutForVolume(minimumTimeout: number, timeoutIncrement: number, volume: PersistentVolume): number {
  const sizeBytes = parseQuantity(storageOf(volume.spec.capacity) ?? "0").value();
  const timeout = BigInt.asIntN(64, (sizeBytes / gibibyte) * BigInt(timeoutIncrement));
  return timeout < BigInt(minimumTimeout) ? minimumTimeout : Number(timeout);
}

/** What a watch on the recycler pod reports: changes of the pod, and the events about it. */
export type RecyclerWatchEvent =
  | { readonly kind: "pod"; readonly type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR"; readonly pod?: Pod }
  | { readonly kind: "event"; readonly type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR"; readonly event: KubeEvent };

/** The API as recycling uses it. `createPod` throws an error with code `conflict` when the pod exists. */
export interface RecyclerClient extends Pick<KubeClient, "createPod" | "deletePod"> {
  /** From now on; ends when the connection does. Breaking off the iteration ends the watch. */
  watchPod(namespace: string, name: string): Promise<AsyncIterable<RecyclerWatchEvent>>;
}

export function isRecyclerClient(client: KubeClient | undefined): client is KubeClient & RecyclerClient {
  return client !== undefined && "watchPod" in client && typeof client.watchPod === "function";
}

/**
 * Runs the pod as `recycler-for-<pvName>` to its end, passes its events on, and deletes it in any case. The pod given is changed, as in
 * Go, where callers share one template. Throws VolumeError with the texts of the real one.
 */
export async function recycleVolumeByWatchingPodUntilCompletion(
  pvName: string,
  pod: Pod,
  { client, recorder }: { readonly client: KubeClient | undefined; readonly recorder: RecycleEventRecorder },
): Promise<void> {
  if (!isRecyclerClient(client)) throw new VolumeError("cannot recycle: the API client of this host does not watch pods");
  pod.metadata.name = `recycler-for-${pvName}`;
  delete pod.metadata.generateName;
  const { name, namespace = "" } = pod.metadata;
  const events = (await client.watchPod(namespace, name))[Symbol.asyncIterator]();
  try {
    await createRecyclerPod(client, pod);
    const failure = await failureOf(() => waitForPod(name, events, recorder));
    const deleteFailure = await failureOf(() => client.deletePod(namespace, name));
    if (failure) throw new VolumeError(`failed to recycle volume: ${messageOf(failure.error)}`, "volume-error", failure.error);
    if (deleteFailure) {
      throw new VolumeError(`failed to delete recycler pod: ${messageOf(deleteFailure.error)}`, "volume-error", deleteFailure.error);
    }
  } finally {
    await events.return?.();
  }
}

/** A pod left over from before is deleted; the recycling is tried again later. */
async function createRecyclerPod(client: RecyclerClient, pod: Pod): Promise<void> {
  const { name = "", namespace = "" } = pod.metadata;
  const failure = await failureOf(() => client.createPod(pod));
  if (!failure) return;
  if (codeOf(failure.error) !== "conflict") {
    throw new VolumeError(`unexpected error creating recycler pod:  ${messageOf(failure.error)}`, "volume-error", failure.error);
  }
  const deleteFailure = await failureOf(() => client.deletePod(namespace, name));
  if (deleteFailure) {
    throw new VolumeError(`failed to delete old recycler pod ${namespace}/${name}: ${messageOf(deleteFailure.error)}`);
  }
  throw new VolumeError("old recycler pod found, will retry later");
}

async function waitForPod(name: string, events: AsyncIterator<RecyclerWatchEvent>, recorder: RecycleEventRecorder): Promise<void> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) throw new VolumeError(`recycler pod ${goQuote(name)} watch channel had been closed`);
    const event = next.value;
    if (event.kind === "event") {
      if (event.type === "ADDED") recorder(event.event.type === "Warning" ? "Warning" : "Normal", event.event.message ?? "");
    } else if (event.type === "DELETED") throw new VolumeError("recycler pod was deleted");
    else if (event.type === "ERROR") throw new VolumeError("recycler pod watcher failed");
    else if (event.pod?.status?.phase === "Succeeded") return;
    else if (event.pod?.status?.phase === "Failed") {
      throw new VolumeError(event.pod.status.message || "pod failed, pod.Status.Message unknown");
    }
  }
}

async function failureOf(act: () => Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return { error };
  }
}
