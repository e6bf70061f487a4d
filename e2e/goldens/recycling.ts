/** Recycling, deleting and provisioning of host-path and nfs volumes, as the golden lines ask for them. */
import type { Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { AppError, messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import { createMemoryHost, MemoryKubeClient } from "@/server/hosts/memory";
import type { VolumeHost } from "@/server/volume/host";
import type { RecyclableVolumePlugin, VolumeConfig } from "@/server/volume/plugin";
import { newHostPathPlugin } from "@/server/volume/plugins/host-path";
import { newNFSPlugin } from "@/server/volume/plugins/nfs";
import { newPersistentVolumeRecyclerPodTemplate, type RecyclerWatchEvent } from "@/server/volume/recycler";
import { newSpecFromVolume, type Spec } from "@/server/volume/spec";

interface RecycleCall {
  readonly pvName: string;
  readonly spec: GoldenSpec;
  readonly podPhase: string;
  readonly podMessage?: string;
  readonly podAlreadyExists?: boolean;
}

interface RecycleInput {
  readonly plugin?: string;
  readonly recyclerMinimumTimeout?: number;
  readonly recyclerTimeoutIncrement?: number;
  readonly calls?: readonly RecycleCall[];
}

/** An API whose watch reports the pod once, in the phase that the call names. */
class RecyclingClient extends MemoryKubeClient {
  call: RecycleCall | undefined;

  override async createPod(pod: Pod): Promise<Pod> {
    await super.createPod(structuredClone(pod));
    if (this.call?.podAlreadyExists) throw new AppError("conflict", `pods "${pod.metadata.name}" already exists`);
    return pod;
  }

  async watchPod(namespace: string, name: string): Promise<AsyncIterable<RecyclerWatchEvent>> {
    const status = { phase: this.call?.podPhase, message: this.call?.podMessage };
    return events({ kind: "pod", type: "MODIFIED", pod: { metadata: { name, namespace }, spec: { containers: null }, status } });
  }

  take(): { createdPod: unknown; deletedPods: string[] } {
    const [created] = this.createdPods.splice(0);
    return { createdPod: created ? asGoWrites(created) : null, deletedPods: this.deletedPods.splice(0) };
  }
}

async function* events(...list: RecyclerWatchEvent[]): AsyncGenerator<RecyclerWatchEvent> {
  yield* list;
}

/** Go writes `resources` and `status` even when they are empty. */
export function asGoWrites(pod: Pod): unknown {
  const containers = pod.spec.containers?.map((container) => ({ resources: {}, ...container })) ?? null;
  return { ...pod, spec: { ...pod.spec, containers }, status: pod.status ?? {} };
}

export async function recycle(input: RecycleInput): Promise<Answer> {
  const client = new RecyclingClient();
  const plugin = recyclable(input.plugin, {
    recyclerPodTemplate: newPersistentVolumeRecyclerPodTemplate(),
    recyclerMinimumTimeout: input.recyclerMinimumTimeout,
    recyclerTimeoutIncrement: input.recyclerTimeoutIncrement,
  });
  await plugin.init(hostWith(client));
  const calls: unknown[] = [];
  for (const call of input.calls ?? []) {
    client.call = call;
    const told: string[] = [];
    const err = await plugin
      .recycle(call.pvName, specOf(call.spec) ?? newSpecFromVolume(undefined), (type, message) => told.push(`${type} ${message}`))
      .then(() => undefined, messageOf);
    calls.push({ ...client.take(), events: told, ...(err !== undefined && { err }) });
  }
  return { out: { calls } };
}

function recyclable(name: string | undefined, config: VolumeConfig): RecyclableVolumePlugin {
  return name === "kubernetes.io/nfs" ? newNFSPlugin(config) : newHostPathPlugin(config);
}

function hostWith(kubeClient: MemoryKubeClient): VolumeHost {
  return createMemoryHost({ api: { kubeClient } }).host;
}

export async function hostPathDelete({ spec }: { readonly spec?: GoldenSpec | null }): Promise<Answer> {
  const plugin = newHostPathPlugin();
  await plugin.init(createMemoryHost().host);
  const made = await answerOf(() => plugin.newDeleter(specOf(spec) as Spec));
  if (made.err !== undefined) return made;
  const deleter = await plugin.newDeleter(specOf(spec) as Spec);
  const { err } = await answerOf(() => deleter.delete());
  return { out: { path: deleter.getPath() }, err };
}

export async function hostPathProvision({ provisioningEnabled }: { readonly provisioningEnabled?: boolean }): Promise<Answer> {
  const plugin = newHostPathPlugin({ provisioningEnabled });
  await plugin.init(createMemoryHost().host);
  const pvc = { metadata: { name: "claim", namespace: "ns" }, spec: {} };
  const options = { persistentVolumeReclaimPolicy: "Delete", mountOptions: [], pvName: "pv", pvc, parameters: {} };
  return answerOf(async () => {
    const provisioner = await plugin.newProvisioner(options);
    return provisioner.provision(undefined);
  });
}
