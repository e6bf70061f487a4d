/** For tests: a node in memory with all plugins and a fake API, reconciled step by step. A second one on the same host is a restart. */
import type { Pod, PodSpec } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { ActualState } from "@/server/node/actual-state";
import { NodeAttachments } from "@/server/node/attachments";
import { FakeCluster } from "@/server/node/fake-cluster";
import type { OperationContext, PodEvent } from "@/server/node/operation-context";
import { Reconciler, type ReconcilerOptions } from "@/server/node/reconciler";
import type { KubeletVolumeHost } from "@/server/volume/host";
import type { DynamicPluginProber, VolumePlugin } from "@/server/volume/plugin";
import { VolumePluginManager } from "@/server/volume/plugin-manager";

export const nodeName = "node-1";

export interface TestNodeOptions {
  readonly host: KubeletVolumeHost;
  readonly plugins: readonly VolumePlugin[];
  readonly cluster?: FakeCluster;
  readonly prober?: DynamicPluginProber;
  readonly expansions?: ReconcilerOptions["expansions"];
  readonly expandDuringMount?: OperationContext["expandDuringMount"];
}

export interface SaidEvent extends PodEvent {
  readonly pod: string;
}

export async function testNode(options: TestNodeOptions) {
  const { host, plugins, prober } = options;
  const cluster = options.cluster ?? new FakeCluster();
  if (!cluster.get("nodes", undefined, nodeName)) cluster.put("nodes", { metadata: { name: nodeName } });
  const manager = new VolumePluginManager({ clock: host.ports.clock, log: host.ports.log });
  await manager.initPlugins(plugins, prober, host);
  const actual = new ActualState();
  const events: SaidEvent[] = [];
  const points: string[] = [];
  const context: OperationContext = {
    host,
    manager,
    actual,
    attachments: new NodeAttachments(cluster.client, nodeName),
    event: (pod, said) => void events.push({ pod: pod.metadata.name ?? "", ...said }),
    point: (name) => void points.push(name),
    expandDuringMount: options.expandDuringMount ?? (async () => undefined),
  };
  const reconciler = new Reconciler({
    context,
    nodeName,
    snapshot: () => cluster.snapshot(),
    onProgress: () => undefined,
    expansions: options.expansions ?? (() => []),
  });
  await reconciler.findMounted();
  /** Passes until nothing is left to start. */
  const settle = async () => {
    for (let pass = 0; pass < 5; pass += 1) {
      await reconciler.reconcile();
      await reconciler.operations.idle();
    }
  };
  return { cluster, manager, actual, events, points, context, reconciler, settle };
}

/** A pod bound to the test's node; each volume is mounted by its container, unless `spec` says otherwise. */
export function boundPod(name: string, volumes: readonly Volume[], spec: Partial<PodSpec> = {}): Pod {
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  return {
    metadata: { name, namespace: "shop", uid: `uid-${name}` },
    spec: { nodeName, containers: [{ name: "main", volumeMounts }], volumes: [...volumes], ...spec },
  };
}
