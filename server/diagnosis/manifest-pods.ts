/** The pods that a manifest's object would become, as far as their volumes go: a pod is itself, a workload is its template. */
import type { KubeObject } from "@/lib/kube/meta";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";

export interface ManifestPod {
  /** The object that stands in the file. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** With the name that its pods have where that is known: the first of a StatefulSet. */
  readonly pod: Pod;
  /** Claims that the workload makes for this pod. */
  readonly claims: readonly PersistentVolumeClaim[];
}

interface Workload extends KubeObject {
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } };
    readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
    readonly ordinals?: { readonly start?: number };
  };
}

type PodTemplate = Partial<Pick<Pod, "metadata" | "spec">>;

const workloads: ReadonlySet<string> = new Set([
  "apps/Deployment", "apps/ReplicaSet", "apps/DaemonSet", "apps/StatefulSet", "batch/Job", "batch/CronJob", "/ReplicationController", "/PodTemplate",
]);

/** undefined for what brings no pods. `object` was parsed, not validated: its volumes may be anything. */
export function manifestPod(object: KubeObject, defaultNamespace: string): ManifestPod | undefined {
  const { apiVersion = "", kind = "", metadata } = object;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const namespace = metadata.namespace ?? defaultNamespace;
  const name = metadata.name ?? metadata.generateName ?? "";
  const place = { kind, namespace, name };
  if (group === "" && kind === "Pod") return { ...place, pod: podOf(object as Partial<Pod>, { namespace, name }), claims: [] };
  if (!workloads.has(`${group}/${kind}`)) return undefined;
  const workload = object as Workload;
  const template = workload.spec?.template ?? workload.spec?.jobTemplate?.spec?.template ?? Reflect.get(object, "template");
  if (kind === "StatefulSet") return statefulPod(workload, template ?? {}, place);
  return { ...place, pod: podOf(template ?? {}, { namespace, name }), claims: [] };
}

function podOf({ metadata, spec }: PodTemplate, { namespace, name }: { namespace: string; name: string }): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, namespace, name }, spec: { ...spec, containers: spec?.containers ?? [] } };
}

/** Source: pkg/controller/statefulset/stateful_set_utils.go (getPodName, getPersistentVolumeClaimName, updateStorage) of v1.37.2. */
function statefulPod({ spec }: Workload, template: PodTemplate, place: { kind: string; namespace: string; name: string }): ManifestPod {
  const { namespace } = place;
  const name = `${place.name}-${spec?.ordinals?.start ?? 0}`;
  const templates = Array.isArray(spec?.volumeClaimTemplates) ? spec.volumeClaimTemplates : [];
  const claims = templates.map((claim): PersistentVolumeClaim => ({
    ...claim,
    metadata: { ...claim.metadata, namespace, name: `${claim.metadata.name ?? ""}-${name}` },
  }));
  const made = templates.map(({ metadata }, index) => ({
    name: metadata.name ?? "",
    persistentVolumeClaim: { claimName: claims[index]?.metadata.name ?? "" },
  }));
  const own = (template.spec?.volumes ?? []).filter((volume) => made.every((each) => each.name !== volume.name));
  const pod = podOf(template, { namespace, name });
  return { ...place, pod: { ...pod, spec: { ...pod.spec, volumes: [...made, ...own] } }, claims };
}
