/** The API as an in-memory host sees it: fixed objects, with the texts of a real server for what is missing. */
import { goQuote } from "@/lib/go-text";
import { AppError } from "@/lib/errors";
import type { KubeObject } from "@/lib/kube/meta";
import type { ConfigMap, Pod, Secret } from "@/lib/kube/pods";
import type { VolumeAttachment } from "@/lib/kube/storage";
import type { EventRecorder, KubeClient, Lister } from "@/server/volume/host";

export interface MemoryApiObjects {
  readonly secrets?: readonly Secret[];
  readonly configMaps?: readonly ConfigMap[];
  readonly volumeAttachments?: readonly VolumeAttachment[];
}

/** `secrets "s1" not found`, as a server says it. */
export function notFound(resource: string, name: string): AppError {
  return new AppError("not-found", `${resource} ${goQuote(name)} not found`);
}

export class MemoryKubeClient implements KubeClient {
  readonly createdPods: Pod[] = [];
  readonly deletedPods: string[] = [];
  private objects: MemoryApiObjects;

  constructor(objects: MemoryApiObjects = {}) {
    this.objects = objects;
  }

  /** Replaces the kinds that are named. */
  replace(objects: MemoryApiObjects): void {
    this.objects = { ...this.objects, ...objects };
  }

  async getSecret(namespace: string, name: string): Promise<Secret> {
    return find(this.objects.secrets, "secrets", { namespace, name });
  }

  async getConfigMap(namespace: string, name: string): Promise<ConfigMap> {
    return find(this.objects.configMaps, "configmaps", { namespace, name });
  }

  async getVolumeAttachment(name: string): Promise<VolumeAttachment> {
    return find(this.objects.volumeAttachments, "volumeattachments.storage.k8s.io", { name });
  }

  async createPod(pod: Pod): Promise<Pod> {
    this.createdPods.push(pod);
    return pod;
  }

  async deletePod(namespace: string, name: string): Promise<void> {
    this.deletedPods.push(`${namespace}/${name}`);
  }
}

/** A lister over fixed objects; `resource` is the word of its not-found text, such as `csidrivers.storage.k8s.io`. */
export function memoryLister<T extends KubeObject>(resource: string, objects: readonly T[]): Lister<T> {
  return {
    get: (name) => find(objects, resource, { name }),
    list: () => objects,
  };
}

export interface RecordedEvent {
  readonly object: { kind: string; namespace: string; name: string; uid: string };
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export class MemoryEventRecorder implements EventRecorder {
  readonly events: RecordedEvent[] = [];

  event(...[object, type, reason, message]: Parameters<EventRecorder["event"]>): void {
    this.events.push({ object, type, reason, message });
  }
}

function find<T extends KubeObject>(
  objects: readonly T[] | undefined,
  resource: string,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
): T {
  const found = objects?.find(
    ({ metadata }) => metadata.name === name && (namespace === undefined || (metadata.namespace ?? "") === namespace),
  );
  if (found === undefined) throw notFound(resource, name);
  return found;
}
