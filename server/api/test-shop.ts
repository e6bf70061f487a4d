/** The picture that tests of procedures share: two nodes, one with a report, and volumes in most states. */
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import { nowMs, tableOf, type Picture, type StubPlugin } from "./test-picture";

const iso = (secondsAgo: number): string => new Date(nowMs - secondsAgo * 1000).toISOString();

const started: Pod["status"] = {
  phase: "Running",
  conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: iso(172_800) }],
  containerStatuses: [{ name: "main", ready: true, started: true, state: { running: { startedAt: iso(172_700) } } }],
};
const creating: Pod["status"] = { phase: "Pending", containerStatuses: [{ name: "main", state: { waiting: { reason: "ContainerCreating" } } }] };

interface PodParts {
  readonly namespace: string;
  readonly name: string;
  readonly node?: string;
  readonly volumes: readonly Volume[];
  readonly status: Pod["status"];
}

function pod({ namespace, name, node, volumes, status }: PodParts): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name, uid: `uid-${name}`, creationTimestamp: iso(172_800), managedFields: [{ manager: "kubectl" }] },
    spec: {
      nodeName: node,
      volumes: [...volumes],
      containers: [
        {
          name: "main",
          env: [{ name: "PASSWORD", value: "hunter2" }],
          volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` })),
        },
      ],
    },
    status,
  };
}

function claim(name: string, requested: string, status: PersistentVolumeClaim["status"]): PersistentVolumeClaim {
  return {
    metadata: { namespace: "shop", name, uid: `uid-${name}` },
    spec: { storageClassName: "loop-xfs", volumeName: `pvc-${name}`, resources: { requests: { storage: requested } }, accessModes: ["ReadWriteOnce"] },
    status,
  };
}

function volumeOf(name: string, size: string): PersistentVolume {
  return {
    metadata: { name: `pvc-${name}`, uid: `uid-pvc-${name}`, creationTimestamp: iso(172_750), annotations: { "pv.kubernetes.io/provisioned-by": "loop.csi.test" } },
    spec: { capacity: { storage: size }, csi: { driver: "loop.csi.test", volumeHandle: `loop-${name}` }, claimRef: { namespace: "shop", name } },
    status: { phase: "Bound" },
  };
}

const token: Volume = { name: "kube-api-access-x2k7p", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } };
const fromClaim = (name: string, claimName: string): Volume => ({ name, persistentVolumeClaim: { claimName } });

const pods = [
  pod({ namespace: "shop", name: "web-0", node: "node1", status: started, volumes: [fromClaim("data", "data-web-0"), { name: "config", configMap: { name: "web" } }, token] }),
  pod({ namespace: "shop", name: "web-1", node: "node2", status: started, volumes: [fromClaim("data", "data-web-1")] }),
  pod({ namespace: "shop", name: "cache-8bc9d7f5b6-l94j8", node: "node1", status: started, volumes: [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }] }),
  pod({ namespace: "shop", name: "orphan", node: "node1", status: creating, volumes: [{ name: "lost", csi: { driver: "missing.csi.test" } }] }),
  pod({ namespace: "lab", name: "legacy-1", node: "node2", status: creating, volumes: [{ name: "share", flexVolume: { driver: "voldeck.test/dirshare" } }] }),
  pod({ namespace: "lab", name: "nightly", status: { phase: "Pending" }, volumes: [fromClaim("scratch", "nightly")] }),
];

const events: readonly KubeEvent[] = [
  {
    metadata: { name: "e1", namespace: "shop" },
    involvedObject: { kind: "Pod", namespace: "shop", name: "orphan", uid: "uid-orphan" },
    type: "Warning",
    reason: "FailedMount",
    message: 'MountVolume.SetUp failed for volume "lost" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name missing.csi.test not found in the list of registered CSI drivers',
    count: 14,
    lastTimestamp: iso(38),
    source: { component: "kubelet", host: "node1" },
  },
];

function reported(podName: string, more: Partial<ReportedVolume> & Pick<ReportedVolume, "specName" | "pluginName" | "path">): ReportedVolume {
  return { podUID: `uid-${podName}`, podName, mode: "Filesystem", wanted: true, found: true, state: "mounted", mounts: [], ...more };
}

function mount(target: string, source: string, fsType: string) {
  return { target, source, fsType, options: ["rw", "relatime"], line: `36 25 7:3 / ${target} rw,relatime shared:1 - ${fsType} ${source} rw` };
}

const root = "/var/lib/kubelet";
const dataPath = `${root}/pods/uid-web-0/volumes/kubernetes.io~csi/pvc-data-web-0/mount`;
const stagePath = `${root}/plugins/kubernetes.io/csi/loop.csi.test/cb44/globalmount`;
const hotPath = `${root}/pods/uid-cache-8bc9d7f5b6-l94j8/volumes/kubernetes.io~empty-dir/hot`;

const report: NodeReport = {
  nodeName: "node1",
  takenAt: iso(2),
  root,
  mounter: "root",
  volumes: [
    reported("web-0", {
      specName: "pvc-data-web-0",
      pluginName: "kubernetes.io/csi",
      path: dataPath,
      deviceMountPath: stagePath,
      mounts: [mount(stagePath, "/dev/loop3", "xfs"), mount(dataPath, "/dev/loop3", "xfs")],
      capacityBytes: "10737418240",
      usedBytes: "8482560409",
    }),
    reported("web-0", { specName: "config", pluginName: "kubernetes.io/configmap", path: `${root}/pods/uid-web-0/volumes/kubernetes.io~configmap/config` }),
    reported("web-0", { specName: token.name, pluginName: "kubernetes.io/projected", path: `${root}/pods/uid-web-0/volumes/kubernetes.io~projected/${token.name}` }),
    reported("cache-8bc9d7f5b6-l94j8", {
      specName: "hot",
      pluginName: "kubernetes.io/empty-dir",
      path: hotPath,
      mounts: [mount(hotPath, "tmpfs", "tmpfs")],
      capacityBytes: "67108864",
      usedBytes: "42949672",
    }),
    reported("orphan", { specName: "lost", pluginName: "kubernetes.io/csi", path: `${root}/pods/uid-orphan/volumes/kubernetes.io~csi/lost/mount`, found: false, state: "not mounted" }),
  ],
  otherMounts: [],
  pluginSockets: [],
  flexDrivers: [],
};

const inTree: readonly StubPlugin[] = [
  { name: "kubernetes.io/empty-dir", volume: ["emptyDir"], methods: ["resizeEphemeralVolume"] },
  { name: "kubernetes.io/git-repo", volume: ["gitRepo"] },
  { name: "kubernetes.io/host-path", volume: ["hostPath"], persistentVolume: ["hostPath"], methods: ["recycle"] },
  { name: "kubernetes.io/nfs", volume: ["nfs"], persistentVolume: ["nfs"] },
  { name: "kubernetes.io/secret", volume: ["secret"] },
  { name: "kubernetes.io/downward-api", volume: ["downwardAPI"] },
  { name: "kubernetes.io/configmap", volume: ["configMap"] },
  { name: "kubernetes.io/projected", volume: ["projected"] },
  { name: "kubernetes.io/local-volume", persistentVolume: ["local"] },
  {
    name: "kubernetes.io/csi",
    volume: ["csi"],
    persistentVolume: ["csi"],
    methods: ["newDeviceMounter", "newDeviceUnmounter", "getDeviceMountRefs", "canDeviceMount", "newAttacher", "newDetacher", "canAttach", "verifyExhaustedResource"],
  },
  { name: "kubernetes.io/image", volume: ["image"] },
];
const flex: StubPlugin = { name: "voldeck.test/dirshare", origin: "probed", volume: ["flexVolume"], driver: "voldeck.test/dirshare" };
const flexError = "error creating Flexvolume plugin from directory voldeck.test~dirshare, skipping. Error: init command failed, status: Failure, reason: helper share-fuse not found";

export const shop: Picture = {
  objects: {
    pods,
    persistentvolumeclaims: [
      claim("data-web-0", "20Gi", { phase: "Bound", capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "NodeResizeInProgress" } }),
      claim("data-web-1", "10Gi", { phase: "Bound", capacity: { storage: "10Gi" } }),
    ],
    persistentvolumes: [volumeOf("data-web-0", "20Gi"), volumeOf("data-web-1", "10Gi")],
    storageclasses: [{ metadata: { name: "loop-xfs" }, provisioner: "loop.csi.test", allowVolumeExpansion: true }],
    csidrivers: [{ metadata: { name: "loop.csi.test" }, spec: { attachRequired: false, podInfoOnMount: true } }],
    csinodes: ["node1", "node2"].map((name) => ({
      metadata: { name },
      spec: { drivers: [{ name: "loop.csi.test", nodeID: name, allocatable: { count: 8 } }] },
    })),
    nodes: ["node1", "node2"].map((name) => ({ metadata: { name }, status: { nodeInfo: { kubeletVersion: "v1.37.2" } } })),
    namespaces: [{ metadata: { name: "shop" } }, { metadata: { name: "lab" } }],
    events,
  },
  hosts: [
    { nodeName: "node1", source: "node", kubeletVersion: "v1.37.2", table: tableOf([...inTree, flex]) },
    {
      nodeName: "node2",
      source: "observed",
      kubeletVersion: "v1.37.2",
      table: tableOf([...inTree, { ...flex, failure: flexError }], [
        { id: 1, atMs: nowMs - 397_000, lastAtMs: nowMs - 19_000, count: 2, op: "add or update", pluginName: flex.name, outcome: "failed", text: flexError },
      ]),
    },
  ],
  reports: [report],
};
