/** This machine as a Node of the cluster: it says that it mounts volumes and runs no containers. */
import { codeOf } from "@/lib/errors";
import type { ResourceList, StringMap } from "@/lib/kube/meta";
import type { Node, NodeSystemInfo } from "@/lib/kube/nodes";
import { resourcePath } from "@/server/cluster/resources";
import type { NodeClient } from "@/server/node/client";

export interface NodeFacts {
  readonly labels: StringMap;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly nodeInfo: NodeSystemInfo;
}

/** What this node does beyond mounting; the API server asks for it before it accepts a resize of a memory volume. */
const declaredFeatures = ["InPlacePodVerticalScalingMemoryBackedVolumes"];

/** Makes the Node, or brings labels and status of the one that is there up to date. Labels that a person added stay. */
export async function registerNode(client: NodeClient, name: string, facts: NodeFacts & { readonly nowMs: number }): Promise<void> {
  const labels = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ...facts.labels };
  const path = resourcePath("nodes", { name });
  try {
    await client.create<Node>(resourcePath("nodes"), { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: {} });
  } catch (error) {
    if (codeOf(error) !== "conflict") throw error;
    await client.patch<Node>(path, { type: "merge", body: { metadata: { labels } } });
  }
  const time = `${new Date(facts.nowMs).toISOString().slice(0, 19)}Z`;
  const ready = {
    type: "Ready",
    status: "True",
    reason: "VolumesOnly",
    message: "mounts volumes; runs no containers",
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
  const { capacity, allocatable, nodeInfo } = facts;
  await client.patch<Node>(resourcePath("nodes", { name, subresource: "status" }), {
    type: "strategic",
    body: { status: { capacity, allocatable, nodeInfo, declaredFeatures, conditions: [ready] } },
  });
}
