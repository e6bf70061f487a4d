import { describe, expect, it } from "vitest";
import { AppError } from "@/lib/errors";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { KubeClient } from "@/server/volume/host";
import {
  calculateTimeoutForVolume,
  newPersistentVolumeRecyclerPodTemplate,
  recycleVolumeByWatchingPodUntilCompletion,
  validateRecyclerPodTemplate,
  type RecyclerClient,
  type RecyclerWatchEvent,
} from "@/server/volume/recycler";

describe("the template", () => {
  it("is new each time, since users change it", () => {
    const first = newPersistentVolumeRecyclerPodTemplate();
    first.spec.volumes?.splice(0);
    expect(newPersistentVolumeRecyclerPodTemplate().spec.volumes).toEqual([{ name: "vol" }]);
  });

  it("is valid, and one without volumes is not", () => {
    const template = newPersistentVolumeRecyclerPodTemplate();
    expect(validateRecyclerPodTemplate(template)).toBeUndefined();
    template.spec.volumes = [];
    expect(() => validateRecyclerPodTemplate(template)).toThrow("does not contain any volume(s)");
    expect(() => validateRecyclerPodTemplate(undefined)).toThrow("recycler pod template is nil");
  });
});

describe("calculateTimeoutForVolume", () => {
  it.each([
    ["500M", 50],
    ["2Gi", 60],
    ["150Gi", 4500],
    ["2047Mi", 50],
  ])("gives a volume of %s %i seconds", (storage, seconds) => {
    expect(calculateTimeoutForVolume(50, 30, { metadata: { name: "pv" }, spec: { capacity: { storage } } })).toBe(seconds);
  });

  it("gives a volume of no stated size the minimum", () => {
    expect(calculateTimeoutForVolume(50, 30, { metadata: { name: "pv" }, spec: {} })).toBe(50);
  });
});

const inPhase = (phase: string, message?: string): RecyclerWatchEvent => ({
  kind: "pod",
  type: "MODIFIED",
  pod: { metadata: { name: "p" }, spec: { containers: null }, status: { phase, message } },
});
const podEvent = (type: string, message: string): RecyclerWatchEvent => ({
  kind: "event",
  type: "ADDED",
  event: { metadata: { name: "e" }, involvedObject: {}, type, message } satisfies KubeEvent,
});

class FakeApi implements RecyclerClient {
  readonly actions: string[] = [];
  created: Pod | undefined;
  watching = 0;

  constructor(
    private readonly events: readonly RecyclerWatchEvent[],
    private readonly failures: { readonly create?: Error; readonly delete?: Error } = {},
  ) {}

  async createPod(pod: Pod): Promise<Pod> {
    this.actions.push(`create ${pod.metadata.namespace}/${pod.metadata.name}`);
    this.created = structuredClone(pod);
    if (this.failures.create) throw this.failures.create;
    return pod;
  }

  async deletePod(namespace: string, name: string): Promise<void> {
    this.actions.push(`delete ${namespace}/${name}`);
    if (this.failures.delete) throw this.failures.delete;
  }

  async watchPod(namespace: string, name: string): Promise<AsyncIterable<RecyclerWatchEvent>> {
    this.actions.push(`watch ${namespace}/${name}`);
    return this.stream();
  }

  private async *stream(): AsyncGenerator<RecyclerWatchEvent> {
    this.watching += 1;
    try {
      yield* this.events;
    } finally {
      this.watching -= 1;
    }
  }
}

function recycle(api: FakeApi, told: string[] = []): Promise<void> {
  const client = api as unknown as KubeClient;
  const recorder = (type: string, message: string): void => void told.push(`${type}: ${message}`);
  return recycleVolumeByWatchingPodUntilCompletion("pv1", newPersistentVolumeRecyclerPodTemplate(), { client, recorder });
}

describe("recycling a volume", () => {
  it("watches before it creates, passes the pod's events on and deletes the pod", async () => {
    const api = new FakeApi([inPhase("Pending"), podEvent("Warning", "slow disk"), podEvent("Normal", "pulled"), inPhase("Succeeded")]);
    const told: string[] = [];
    await recycle(api, told);
    const name = "default/recycler-for-pv1";
    expect(api.actions).toEqual([`watch ${name}`, `create ${name}`, `delete ${name}`]);
    expect(api.created?.metadata).toEqual({ namespace: "default", name: "recycler-for-pv1" });
    expect(told).toEqual(["Warning: slow disk", "Normal: pulled"]);
    expect(api.watching).toBe(0);
  });

  const failures: [string, FakeApi, string][] = [
    ["the pod failed and says why", new FakeApi([inPhase("Failed", "disk is on fire")]), "failed to recycle volume: disk is on fire"],
    ["the pod failed silently", new FakeApi([inPhase("Failed")]), "failed to recycle volume: pod failed, pod.Status.Message unknown"],
    [
      "the pod was deleted",
      new FakeApi([{ kind: "pod", type: "DELETED" }]),
      "failed to recycle volume: recycler pod was deleted",
    ],
    ["the watch failed", new FakeApi([{ kind: "pod", type: "ERROR" }]), "failed to recycle volume: recycler pod watcher failed"],
    [
      "the watch ended early",
      new FakeApi([inPhase("Running")]),
      'failed to recycle volume: recycler pod "recycler-for-pv1" watch channel had been closed',
    ],
    [
      "it worked but the pod stays",
      new FakeApi([inPhase("Succeeded")], { delete: new Error("no") }),
      "failed to delete recycler pod: no",
    ],
    [
      "a pod from before is there",
      new FakeApi([], { create: new AppError("conflict", "already exists") }),
      "old recycler pod found, will retry later",
    ],
    [
      "a pod from before is there and stays",
      new FakeApi([], { create: new AppError("conflict", "already exists"), delete: new Error("no") }),
      "failed to delete old recycler pod default/recycler-for-pv1: no",
    ],
    [
      "the pod can't be created",
      new FakeApi([], { create: new Error("quota") }),
      "unexpected error creating recycler pod:  quota",
    ],
  ];
  it.each(failures)("says that %s", async (_name, api, text) => {
    await expect(recycle(api)).rejects.toThrow(text);
    expect(api.watching).toBe(0);
  });

  it("refuses a client that cannot watch pods", async () => {
    const recycling = recycleVolumeByWatchingPodUntilCompletion("pv1", newPersistentVolumeRecyclerPodTemplate(), {
      client: undefined,
      recorder: () => {},
    });
    await expect(recycling).rejects.toThrow("does not watch pods");
  });
});
