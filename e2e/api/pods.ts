/** Requests on pods, namespaces, nodes and events. Pods ask for a scheduler that nobody runs, so nothing but the API server writes to them. */
import { get, json, label, labelled, merge, patch, post, remove, strategic, table, type Case } from "./case";

type Part = Record<string, unknown>;

function pod(name: string, spec: Part = {}, container: Part = {}): Part {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: label },
    spec: { schedulerName: "nobody", automountServiceAccountToken: false, containers: [{ name: "app", image: "example.com/app:1", ...container }], ...spec },
  };
}

const memory = { volumes: [{ name: "mem", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } }] };
const mounts = { volumeMounts: [{ name: "mem", mountPath: "/mem" }] };

export function podCases(namespace: string): Case[] {
  const all = `/api/v1/namespaces/${namespace}/pods`;
  const one = `${all}/api-pod`;
  const bad = (title: string, spec: Part, container: Part = {}): Case => post(title, all, pod("api-bad", spec, container));
  return [
    post("a pod", all, pod("api-pod", memory, { ...mounts, resources: { requests: { cpu: "100m", memory: "32Mi" }, limits: { memory: "64Mi" } } })),
    get("read a pod", one),
    get("a pod as a table", one, table),
    get("pods by label and phase", `${all}?${labelled}&fieldSelector=status.phase%3DPending,metadata.name%3Dapi-pod`),
    post("a pod with a token of the account that it does not name", `${all}?dryRun=All`, pod("api-token", {
      volumes: [{ name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }],
    })),
    bad("no container", { containers: [] }),
    bad("a mount of no volume", {}, mounts),
    bad("two mounts of one path", memory, { volumeMounts: [{ name: "mem", mountPath: "/m" }, { name: "mem", mountPath: "/m" }] }),
    bad("a mount without a path", memory, { volumeMounts: [{ name: "mem", mountPath: "" }] }),
    bad("a subpath that leaves", memory, { volumeMounts: [{ name: "mem", mountPath: "/m", subPath: "../x" }] }),
    bad("two volumes of one name", { volumes: [{ name: "v" }, { name: "v" }] }),
    bad("a volume with a bad name", { volumes: [{ name: "V" }] }),
    bad("a volume with two sources", { volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] }),
    bad("a wrong host path type", { volumes: [{ name: "v", hostPath: { path: "/x", type: "Pipe" } }] }),
    bad("a size limit below nothing", { volumes: [{ name: "v", emptyDir: { sizeLimit: "-1" } }] }),
    bad("a claim without a name", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "" } }] }),
    bad("an item without a path", { volumes: [{ name: "v", configMap: { name: "c", items: [{ key: "k", path: "" }] } }] }),
    bad("a wrong mode", { volumes: [{ name: "v", configMap: { name: "c", defaultMode: 4096 } }] }),
    bad("limits below requests", {}, { resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } } }),
    bad("an unknown resource", {}, { resources: { requests: { disks: "1" } } }),
    bad("a wrong restart policy", { restartPolicy: "Sometimes" }),
    bad("a wrong pull policy", {}, { imagePullPolicy: "Maybe" }),
    bad("a container without an image", {}, { image: "" }),
    bad("a bad node name", { nodeName: "Node 1" }),
    post("a path used twice", `${all}?dryRun=All`, pod("api-paths", { volumes: [{ name: "v", configMap: { name: "c", items: [{ key: "a", path: "p" }, { key: "b", path: "p" }] } }] })),
    post("a volume of the past", `${all}?dryRun=All`, pod("api-old", { volumes: [{ name: "v", gitRepo: { repository: "https://example.com/r" } }] })),
    patch("a pod's image changes", `${one}?dryRun=All`, strategic, { spec: { containers: [{ name: "app", image: "example.com/app:2" }] } }),
    patch("a pod's volume stays", one, strategic, { spec: { volumes: [{ name: "mem", emptyDir: { sizeLimit: "1Gi" } }] } }),
    patch("a pod's node stays free", one, merge, { spec: { hostname: "h" } }),
    patch("a container is added", one, json, [{ op: "add", path: "/spec/containers/-", value: { name: "b", image: "b" } }]),
    patch("a deadline", `${one}?dryRun=All`, merge, { spec: { activeDeadlineSeconds: 5 } }),
    patch("a label of a pod", one, strategic, { metadata: { labels: { more: "1" } } }),
    patch("resize a pod", `${one}/resize`, strategic, { spec: { containers: [{ name: "app", resources: { requests: { cpu: "200m" } } }] } }),
    patch("resize changes resources alone", `${one}/resize`, strategic, { spec: { containers: [{ name: "app", image: "example.com/other:1" }] } }),
    patch("resize that takes a limit away", `${one}/resize`, json, [{ op: "remove", path: "/spec/containers/0/resources/limits" }]),
    patch("resize a memory volume", `${one}/resize`, strategic, { spec: { volumes: [{ name: "mem", emptyDir: { sizeLimit: "80Mi" } }] } }),
    patch("resize a memory volume to no limit", `${one}/resize`, merge, { spec: { volumes: [{ name: "mem", emptyDir: { medium: "Memory" } }] } }),
    patch("resize that renames a container", `${one}/resize`, merge, { spec: { containers: [{ name: "other", image: "example.com/app:1" }] } }),
    patch("a pod's status", `${one}/status?dryRun=All`, strategic, { status: { message: "hello", conditions: [{ type: "Ready", status: "False" }] } }),
    get("a resize door", `${one}/resize`),
    remove("delete a pod", one),
    get("a pod without a node goes at once", one),
    ...otherCases(namespace),
  ];
}

function otherCases(namespace: string): Case[] {
  const events = `/api/v1/namespaces/${namespace}/events`;
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "api-event.1", labels: label },
    involvedObject: { kind: "Pod", name: "api-pod", namespace },
    reason: "FailedMount",
    message: "x",
    type: "Warning",
    source: { component: "kubelet", host: "n1" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    count: 1,
  };
  const namespaces = "/api/v1/namespaces";
  return [
    post("an event", events, event),
    get("events of a pod", `${events}?fieldSelector=involvedObject.name%3Dapi-pod,type%3DWarning`),
    post("an event of another namespace", events, { ...event, metadata: { name: "api-event.2" }, involvedObject: { kind: "Pod", namespace: "default" } }),
    patch("an event counts", `${events}/api-event.1`, strategic, { count: 2 }),
    remove("delete an event", `${events}/api-event.1`),
    post("a namespace on trial", `${namespaces}?dryRun=All`, { apiVersion: "v1", kind: "Namespace", metadata: { name: "api-trial" } }),
    post("a namespace with a bad name", namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "api.bad" } }),
    get("a namespace as a table", `${namespaces}/kube-system`, table),
    remove("a namespace that stays", `${namespaces}/default`),
    remove("a namespace that is not there", `${namespaces}/api-nowhere`),
    post("a node on trial", "/api/v1/nodes?dryRun=All", { apiVersion: "v1", kind: "Node", metadata: { name: "api-node" } }),
    post("a node with a bad name", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "Api" } }),
    get("a node that is not there", "/api/v1/nodes/api-node"),
  ];
}
