/** The writes and single reads that a node makes, and the same client as plugins see it. */
import type { ConfigMap, Pod, Secret } from "@/lib/kube/pods";
import type { VolumeAttachment } from "@/lib/kube/storage";
import type { ApiClient } from "@/server/cluster/client";
import { resourcePath } from "@/server/cluster/resources";
import type { KubeClient } from "@/server/volume/host";

export type NodeClient = Pick<ApiClient, "get" | "create" | "patch" | "replace" | "delete">;

/** clientset.Interface of the seed, in the parts that plugins use. Errors are the API server's own words. */
export function kubeClientOf(client: NodeClient): KubeClient {
  return {
    getSecret: (namespace, name) => client.get<Secret>(resourcePath("secrets", { namespace, name })),
    getConfigMap: (namespace, name) => client.get<ConfigMap>(resourcePath("configmaps", { namespace, name })),
    getVolumeAttachment: (name) => client.get<VolumeAttachment>(resourcePath("volumeattachments", { name })),
    createPod: (pod) => client.create<Pod>(resourcePath("pods", { namespace: pod.metadata.namespace ?? "default" }), pod),
    deletePod: async (namespace, name) => {
      await client.delete(resourcePath("pods", { namespace, name }));
    },
  };
}
