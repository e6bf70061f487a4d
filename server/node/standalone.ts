/** A node that stands alone, put together: the reconciler, and the controllers that a cluster would bring. */
import { joinPath } from "@/lib/go-path";
import type { NodeReport } from "@/lib/node-report";
import { Binder } from "@/server/node/binder";
import { ExpandController } from "@/server/node/expand-controller";
import { LoopDisks, type LoopPort } from "@/server/node/loop-disks";
import { startNode, type NodeCluster, type RunningNode } from "@/server/node/node";
import { NodeExpander } from "@/server/node/node-expander";
import type { Recorder } from "@/server/node/recorder";
import type { NodeFacts } from "@/server/node/register-node";
import { ResizeVolumes } from "@/server/node/resize-volumes";
import type { EventRecorder, KubeletVolumeHost } from "@/server/volume/host";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { specName } from "@/server/volume/spec";

export interface StandaloneOptions {
  readonly host: KubeletVolumeHost;
  /** With its plugins initialised. */
  readonly manager: VolumePluginManager;
  /** The expand controller's own: without a prober, so that what only a node's drivers know is left to the no-op expander. */
  readonly expandManager: VolumePluginManager;
  /** Opened with `whole: true`: volumes show what pods say of themselves. */
  readonly cluster: NodeCluster;
  readonly recorder: Recorder;
  readonly root: string;
  readonly flexVolumeDir: string;
  readonly mounter: NodeReport["mounter"];
  readonly facts: () => Promise<NodeFacts>;
  /** Or why there are none, such as "a loop device needs root". */
  readonly loop: LoopPort | { readonly missing: string };
  /** Called with the name of every step that leaves a trace, so that a test can end the process there. */
  readonly point?: (name: string) => void;
}

export function startStandaloneNode(options: StandaloneOptions): RunningNode {
  const { host, manager, cluster, recorder, loop } = options;
  const { client } = cluster;
  const { clock, files, exec } = host.ports;
  const nodeName = host.getNodeName();
  const point = options.point ?? (() => undefined);
  const snapshot = () => cluster.snapshot();
  const expander = new NodeExpander({ client, manager, recorder, clock, nodeName, point, snapshot, log: host.ports.log });
  return startNode({
    ...options,
    expansions: (resolved, actual) => expander.expansions(resolved, actual),
    expandDuringMount: (volume, mount, paths) => expander.expandDuringMount(volume, mount, paths),
    controllers: ({ actual }) => {
      const isInUse = (name: string) =>
        actual.mounts().some((mount) => mount.specName === name) || actual.allDevices().some((device) => specName(device.spec) === name);
      const folder = joinPath(options.root, "disks");
      const disks = new LoopDisks({ folder, nodeName, client, recorder, files, exec, clock, loop, isInUse, point });
      const expand = new ExpandController({ client, manager: options.expandManager, recorder, clock, point });
      const sizes = new ResizeVolumes({ host, manager, client, recorder, actual, folder: options.root, point });
      return [sizes, expand, disks, new Binder({ client, recorder, provisioners: [disks], point })];
    },
  });
}

/** The same recorder as plugins see it. */
export function pluginEventRecorder(recorder: Recorder): EventRecorder {
  return {
    event: (...[object, type, reason, message]) => {
      const kind = object.kind === "PersistentVolumeClaim" || object.kind === "PersistentVolume" || object.kind === "Node" ? object.kind : "Pod";
      recorder.record({ subject: { ...object, kind }, type, reason, message, component: "kubelet" });
    },
  };
}
