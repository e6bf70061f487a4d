/** The command lines of the comparison. `@name` stands for a manifest's file. */
import { label } from "@/e2e/api/case";

export interface Line {
  readonly args: string;
  /** What stdin or `-f @name` reads; NAMESPACE and UID stand for the namespace and the uid of `uidOf`. */
  readonly manifests?: Readonly<Record<string, unknown>>;
  /** `pod/name`: its uid goes into the manifests. */
  readonly uidOf?: string;
  /** For a line that watches: what is run once its first row stands there. It is ended when it has printed so many rows. */
  readonly during?: { readonly lines: readonly string[]; readonly rows: number };
}

const settings = (data: Record<string, string>): unknown => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "api-one", labels: label }, data });
const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "api-class", labels: label },
  provisioner: "api.example.com",
  volumeBindingMode: "WaitForFirstConsumer",
  allowVolumeExpansion: true,
};
const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "api-claim", labels: label, finalizers: ["kubernetes.io/pvc-protection"] },
  // It waits for a volume that never comes: the volume controller tells nothing of it.
  spec: { volumeName: "api-none", accessModes: ["ReadWriteOnce"], storageClassName: "api-class", resources: { requests: { storage: "1Gi" } } },
};
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "api-pod", labels: label },
  spec: {
    schedulerName: "nobody",
    automountServiceAccountToken: false,
    priority: 0,
    tolerations: ["not-ready", "unreachable"].map((what) => ({ key: `node.kubernetes.io/${what}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 })),
    volumes: [{ name: "mem", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }],
    containers: [{ name: "app", image: "example.com/app:1", volumeMounts: [{ name: "mem", mountPath: "/mem" }], resources: { requests: { cpu: "100m" } } }],
  },
};
const persistentVolume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "api-volume", labels: label, finalizers: ["kubernetes.io/pv-protection"] },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    storageClassName: "api-class",
    csi: { driver: "api.example.com", volumeHandle: "h", fsType: "xfs", volumeAttributes: { a: "b" } },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }] }] } },
  },
};
const event = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "api-event", labels: label },
  involvedObject: { kind: "Pod", namespace: "NAMESPACE", name: "api-pod", uid: "UID", apiVersion: "v1" },
  reason: "FailedMount",
  message: "MountVolume.SetUp failed for volume \"mem\" : no",
  type: "Warning",
  source: { component: "kubelet", host: "n1" },
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:01:00Z",
  count: 2,
};
const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "api-node", labels: label, annotations: { "node.alpha.kubernetes.io/ttl": "0" } },
  spec: { podCIDR: "10.9.0.0/24", podCIDRs: ["10.9.0.0/24"], unschedulable: true },
  status: {
    capacity: { cpu: "2", memory: "4Gi", pods: "110" },
    allocatable: { cpu: "2", memory: "4Gi", pods: "110" },
    addresses: [{ type: "InternalIP", address: "192.0.2.1" }],
    nodeInfo: { kubeletVersion: "v1.37.2", osImage: "Test", kernelVersion: "6.1", operatingSystem: "linux", architecture: "amd64" },
    volumesInUse: ["kubernetes.io/csi/api.example.com^h"],
  },
};
const select = "-l voldeck-api-test=1";

export const lines: readonly Line[] = [
  { args: "get configmaps api-one" },
  { args: `get pods ${select}` },
  { args: "apply -f @one", manifests: { one: settings({ a: "1" }) } },
  { args: "apply -f @one", manifests: { one: settings({ a: "1" }) } },
  { args: "apply -f @one", manifests: { one: settings({ b: "2" }) } },
  { args: "apply -f @one --dry-run=server", manifests: { one: settings({ c: "3" }) } },
  { args: "diff -f @one", manifests: { one: settings({ b: "2" }) } },
  { args: "get cm api-one -o yaml" },
  { args: "get cm api-one -o json" },
  { args: `get cm ${select} -o name` },
  { args: "get cm api-one -o jsonpath={.data.b}" },
  { args: `get cm ${select} -o custom-columns=NAME:.metadata.name,B:.data.b` },
  { args: `get cm ${select} --show-labels -L voldeck-api-test` },
  { args: "describe configmap api-one" },
  { args: "label cm api-one more=1" },
  { args: "label cm api-one more=2" },
  { args: "annotate cm api-one note=x --overwrite" },
  { args: "apply -f @bad", manifests: { bad: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "api-bad" }, more: 1 } } },
  { args: "create configmap api-two --from-literal=a=1" },
  { args: "create secret generic api-secret --from-literal=a=1" },
  { args: "create namespace api-trial --dry-run=server" },
  { args: "delete secret api-secret" },
  { args: "apply -f @class -f @claim -f @pod", manifests: { class: storageClass, claim, pod } },
  { args: "get sc api-class" },
  { args: `get pvc ${select}` },
  { args: "get pvc api-claim -o wide" },
  { args: "get pod api-pod" },
  { args: "get pod api-pod -o wide" },
  { args: "create -f @event", manifests: { event }, uidOf: "pod/api-pod" },
  { args: "describe pod api-pod" },
  { args: "describe pvc api-claim" },
  { args: "describe sc api-class" },
  { args: "apply -f @pv", manifests: { pv: persistentVolume } },
  { args: "get pv api-volume" },
  { args: "describe pv api-volume" },
  { args: "create -f @node", manifests: { node } },
  { args: "get node api-node" },
  { args: "describe node api-node" },
  { args: "delete node api-node" },
  { args: `get cm ${select} -w`, during: { lines: ["create cm api-w", "label cm api-w voldeck-api-test=1", "delete cm api-w"], rows: 3 } },
  { args: "get pod api-pod -w --output-watch-events -L more", during: { lines: ["label pod api-pod more=1", "label pod api-pod more-"], rows: 3 } },
  { args: "patch cm api-one --type=merge -p {\"data\":{\"z\":\"26\"}}" },
  { args: "patch cm api-one --type=json -p [{\"op\":\"remove\",\"path\":\"/data/z\"}]" },
  { args: "patch pod api-pod --subresource=resize -p {\"spec\":{\"containers\":[{\"name\":\"app\",\"resources\":{\"requests\":{\"cpu\":\"200m\"}}}]}}" },
  { args: "patch pvc api-claim -p {\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}}}" },
  { args: "patch pvc api-claim -p {\"spec\":{\"storageClassName\":\"other\"}}" },
  { args: "set image pod/api-pod app=example.com/app:2" },
  { args: "wait --for=jsonpath={.status.phase}=Pending pod/api-pod --timeout=5s" },
  { args: "replace -f @one", manifests: { one: settings({ r: "1" }) } },
  { args: "delete pod api-pod" },
  { args: `delete cm ${select}` },
  { args: "delete cm api-two" },
  { args: "delete cm api-none" },
  { args: "delete sc api-class" },
];
