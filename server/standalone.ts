/**
 * This machine as one node: the embedded API over a folder of manifests, a cluster that reads it like any other, and a node
 * that mounts what its pods want. Nothing above knows that it is not a real cluster.
 */
import { join } from "node:path";
import type { ClusterSummary, PluginHost } from "@/server/api/context";
import { startApiServer, type ApiServer } from "@/server/apiserver/server";
import type { Served } from "@/server/app";
import { clusterOperations, followOperations, operationCluster } from "@/server/cluster-operations";
import { createClusterView, hostChanges, type Hosts } from "@/server/cluster-view";
import { openCluster, type Cluster } from "@/server/cluster/cluster";
import { clusterSlug, loadContexts, type ClusterContext } from "@/server/cluster/kubeconfig";
import { AppError } from "@/lib/errors";
import { systemClock, systemRandom } from "@/server/hosts/clock";
import { expandControllerHost } from "@/server/hosts/controller-hosts";
import { KubeletHost, type NodeApi } from "@/server/hosts/kubelet-host";
import { machineFacts, nodeName } from "@/server/machine";
import { resourcePath } from "@/server/cluster/resources";
import type { Node } from "@/lib/kube/nodes";
import { openMachine, type Machine } from "@/server/open-machine";
import { kubeClientOf } from "@/server/node/client";
import type { RunningNode } from "@/server/node/node";
import { Recorder } from "@/server/node/recorder";
import { pluginEventRecorder, startStandaloneNode } from "@/server/node/standalone";
import type { Options } from "@/server/options";
import type { SharedOperations } from "@/server/shared-operations";
import { newFlexVolumeProber } from "@/server/volume/plugins/flexvolume/prober";
import { newControllerPlugins, newKubeletPlugins } from "@/server/volume/plugins";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { CSIDriver } from "@/lib/kube/storage";
import type { Log } from "@/server/volume/ports";

export interface StandaloneOptions {
  readonly options: Options;
  readonly manifestsFolder: string;
  readonly log: Log;
  readonly point: (name: string) => void;
  /** Closed by the caller, after this. */
  readonly shared: SharedOperations;
}

export interface Standalone extends Served {
  readonly clusterId: string;
  readonly cluster: Cluster;
  readonly node: () => RunningNode | undefined;
}

const imageVolumesUnsupported = "this node runs no container runtime, which is what mounts image volumes";

export async function openStandalone(given: StandaloneOptions): Promise<Standalone> {
  const { options, log } = given;
  const machine = await openMachine(options, log);
  const api = await startApiServer({
    dataFolder: options.dataFolder,
    manifestsFolder: given.manifestsFolder,
    clock: systemClock,
    log,
  });
  const context = contextOf(api.kubeconfigPath, options.dataFolder);
  const cluster = openCluster({ context, log, whole: true });
  const manager = new VolumePluginManager({ clock: systemClock, log });
  const recorder = new Recorder({ client: cluster.client, clock: systemClock, random: systemRandom, log, nodeName: nodeName() });
  const host = hostOf({ machine, manager, cluster, recorder });
  const flexVolumeDir = join(options.dataFolder, "flexvolume");
  const prober = newFlexVolumeProber({
    pluginDir: flexVolumeDir,
    ports: machine.ports,
    checkDriver: machine.checkDriver,
  });
  // Not awaited here: it runs drivers, and the pages must not wait for a slow one.
  const initialised = manager.initPlugins(newKubeletPlugins({ imageVolumesUnsupported }), prober, host);
  initialised.catch(() => undefined);
  let closed = false;
  const expandManager = await expandManagerOf({ machine, cluster, recorder, log });
  let node: RunningNode | undefined;
  const hosts = hostsOf({ manager, cluster, nodeOf: () => node, name: host.getNodeName() });
  api.manifests?.onChange(() => hosts.changed(["manifest"]));
  const operated = operationCluster(context.slug, cluster, hosts.hosts);
  const { operations } = given.shared;
  const detach = given.shared.attach(operated, () => hosts.changed(["operation", "claim"]));
  const view = createClusterView({
    summary: () => summaryOf(cluster, machine),
    cluster,
    hosts: hosts.hosts,
    operations: clusterOperations(operations, operated, async () => "holder of the token"),
    ...(api.manifests ? { manifests: api.manifests } : {}),
  });
  let stopFollowing: () => Promise<void> = async () => {};
  return {
    clusterId: context.slug,
    cluster,
    node: () => node,
    summaries: () => [summaryOf(cluster, machine)],
    view: (id) => (id === context.slug ? view : undefined),
    start: async () => {
      await initialised;
      if (closed) return;
      node = startStandaloneNode({
        host,
        manager,
        expandManager,
        cluster,
        recorder,
        root: machine.root,
        flexVolumeDir,
        mounter: machine.mode,
        facts: machineFacts,
        loop: machine.loop,
        point: given.point,
      });
      node.onReport(() => hosts.changed(["volume", "claim", "node", "operation"]));
      stopFollowing = followOperations({ operations: { followAll: () => operations.followAll(context.slug) }, cluster, hosts: hosts.hosts, clock: systemClock, log });
    },
    close: () => {
      closed = true;
      return closeAll({ stopFollowing: () => stopFollowing(), detach, node, recorder, prober, cluster, api, machine });
    },
  };
}

/** The port may be another one at each start: URLs and the journal name the data folder instead. */
function contextOf(kubeconfigPath: string, dataFolder: string): ClusterContext {
  const context = loadContexts({ paths: [kubeconfigPath], env: {} })?.contexts[0];
  if (!context) throw new AppError("internal", `${kubeconfigPath} holds no context`);
  return { ...context, slug: clusterSlug(context.name, dataFolder) };
}

interface Parts {
  readonly machine: Machine;
  readonly manager: VolumePluginManager;
  readonly cluster: Cluster;
  readonly recorder: Recorder;
}

function hostOf({ machine, manager, cluster, recorder }: Parts): KubeletHost {
  const name = nodeName();
  const getNode = () => cluster.client.get<Node>(resourcePath("nodes", { name }));
  const ownFacts = async (): Promise<Node> => {
    const { capacity, allocatable, labels } = await machineFacts();
    return { metadata: { name, labels: { ...labels } }, status: { capacity, allocatable } };
  };
  return new KubeletHost({
    rootDir: machine.root,
    nodeName: name,
    ports: machine.ports,
    mounter: machine.mounter,
    hostUtils: machine.hostUtils,
    node: { getNode, getNodeAnyWay: () => getNode().catch(ownFacts) },
    findPluginBySpec: (spec) => manager.findPluginBySpec(spec),
    api: apiOf(cluster),
    eventRecorder: pluginEventRecorder(recorder),
  });
}

/** As in kube-controller-manager: a host without a node, no prober. */
async function expandManagerOf({ machine, cluster, recorder, log }: Omit<Parts, "manager"> & { readonly log: Log }): Promise<VolumePluginManager> {
  const manager = new VolumePluginManager({ clock: systemClock, log });
  const host = expandControllerHost({
    ports: machine.ports,
    kubeClient: kubeClientOf(cluster.client),
    eventRecorder: pluginEventRecorder(recorder),
  });
  await manager.initPlugins(newControllerPlugins("expand"), undefined, host);
  return manager;
}

/** Tokens need an API server that signs them; the embedded one does not. */
function apiOf(cluster: Cluster): NodeApi {
  const kubeClient = kubeClientOf(cluster.client);
  const noTokens = "service account tokens need an API server that issues them; the embedded one does not";
  return {
    kubeClient,
    getSecret: (namespace, name) => kubeClient.getSecret(namespace, name),
    getConfigMap: (namespace, name) => kubeClient.getConfigMap(namespace, name),
    getServiceAccountToken: () => Promise.reject(new AppError("unsupported", noTokens)),
    deleteServiceAccountToken: () => {},
    csiDriverLister: {
      get: (name): CSIDriver => {
        const driver = cluster.snapshot().csiDrivers.get(name);
        if (!driver) throw new AppError("not-found", `csidriver.storage.k8s.io "${name}" not found`);
        return driver;
      },
      list: () => [...cluster.snapshot().csiDrivers.values()],
    },
    csiDriversSynced: () => true,
  };
}

function hostsOf(parts: Pick<Parts, "manager" | "cluster"> & { nodeOf: () => RunningNode | undefined; name: string }) {
  const { changed, onChange } = hostChanges();
  parts.manager.onPublished(() => changed(["plugin", "volume"]));
  const hosts: Hosts = {
    pluginHosts: (): readonly PluginHost[] => [
      { nodeName: parts.name, source: "node", kubeletVersion: "v1.37.2", table: parts.manager.published() },
    ],
    nodeReport: (nodeName) => (nodeName === parts.name ? parts.nodeOf()?.report() : undefined),
    freshReport: async (nodeName) => (nodeName === parts.name ? parts.nodeOf()?.freshReport() : undefined),
    onChange,
  };
  return { hosts, changed };
}

function summaryOf(cluster: Cluster, machine: Machine): ClusterSummary {
  return {
    id: cluster.context.slug,
    name: cluster.context.name,
    mode: "standalone",
    server: cluster.context.server,
    version: cluster.serverVersion()?.gitVersion,
    simulated: machine.mode === "simulated",
    insecure: false,
  };
}

interface Open {
  readonly stopFollowing: () => Promise<void>;
  readonly detach: () => void;
  readonly node: RunningNode | undefined;
  readonly recorder: Recorder;
  readonly prober: { close(): Promise<void> };
  readonly cluster: Cluster;
  readonly api: ApiServer;
  readonly machine: Machine;
}

/** In the order of dependence; what fails does not keep the rest open. */
async function closeAll({ stopFollowing, detach, node, recorder, prober, cluster, api, machine }: Open): Promise<void> {
  // Together: each waits for what it has begun, and that may wait for a program.
  const working = [() => stopFollowing(), () => node?.stop(), () => machine.stopPrograms()];
  const rest = [detach, () => recorder.stop(), () => prober.close(), () => cluster.close(), () => api.close(), () => machine.close()];
  const failures: unknown[] = [];
  for (const together of [working, ...rest.map((step) => [step])]) {
    const ends = await Promise.allSettled(together.map(async (step) => step()));
    failures.push(...ends.filter((end) => end.status === "rejected").map((end) => end.reason as unknown));
  }
  if (failures.length > 0) throw new AggregateError(failures, "stopping");
}
