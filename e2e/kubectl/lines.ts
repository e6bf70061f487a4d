/** The command lines of the comparison. `@name` stands for a manifest's file. */
import { label } from "@/e2e/api/case";

export interface Line {
  readonly args: string;
  /** What stdin or `-f @name` reads. */
  readonly manifests?: Readonly<Record<string, unknown>>;
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
  metadata: { name: "api-claim", labels: label },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "api-class", resources: { requests: { storage: "1Gi" } } },
};
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "api-pod", labels: label },
  spec: {
    schedulerName: "nobody",
    automountServiceAccountToken: false,
    volumes: [{ name: "mem", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }],
    containers: [{ name: "app", image: "example.com/app:1", volumeMounts: [{ name: "mem", mountPath: "/mem" }], resources: { requests: { cpu: "100m" } } }],
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
