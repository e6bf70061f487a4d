/** Requests on claims, volumes, classes and what drivers register. */
import { get, label, labelled, merge, patch, post, put, remove, strategic, table, type Case } from "./case";

const group = "/apis/storage.k8s.io/v1";

function thing(apiVersion: string, kind: string, name: string, more: Record<string, unknown>): Record<string, unknown> {
  return { apiVersion, kind, metadata: { name, labels: label }, ...more };
}

function storageThing(kind: string, name: string, more: Record<string, unknown>): Record<string, unknown> {
  return thing("storage.k8s.io/v1", kind, name, more);
}

/** A class that no provisioner serves and whose claims wait for a pod: no controller writes to them. */
const className = "api-class";

export function storageCases(namespace: string): Case[] {
  return [...classCases(), ...claimCases(namespace), ...volumeCases(), ...driverCases(), ...attachmentCases()];
}

function classCases(): Case[] {
  const all = `${group}/storageclasses`;
  const one = `${all}/${className}`;
  const body = storageThing("StorageClass", className, { provisioner: "api.example.com", volumeBindingMode: "WaitForFirstConsumer", allowVolumeExpansion: true });
  return [
    post("a class", all, body),
    get("a class as a table", one, table),
    get("classes of the label", `${all}?${labelled}`),
    post("a class without a provisioner", all, storageThing("StorageClass", "api-bad", {})),
    post("a class with a wrong policy", all, storageThing("StorageClass", "api-bad", { provisioner: "a", reclaimPolicy: "Keep" })),
    post("a class with a wrong binding mode", all, storageThing("StorageClass", "api-bad", { provisioner: "a", volumeBindingMode: "Later" })),
    patch("a class's parameters stay", one, merge, { parameters: { a: "b" } }),
    patch("a class's provisioner stays", one, merge, { provisioner: "b" }),
    patch("a class may grow no more", `${one}?dryRun=All`, merge, { allowVolumeExpansion: false }),
    patch("mount options of a class", one, strategic, { mountOptions: ["ro"] }),
  ];
}

function claim(name: string, spec: Record<string, unknown> = {}): unknown {
  return thing("v1", "PersistentVolumeClaim", name, {
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: className, resources: { requests: { storage: "1Gi" } }, ...spec },
  });
}

function claimCases(namespace: string): Case[] {
  const all = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  const one = `${all}/api-claim`;
  return [
    post("a claim", all, claim("api-claim")),
    get("read a claim", one),
    get("a claim as a table", one, table),
    get("claims of the label", `${all}?${labelled}`),
    get("claims everywhere", `/api/v1/persistentvolumeclaims?${labelled}&fieldSelector=metadata.name%3Dapi-claim`),
    get("a claim's status", `${one}/status`),
    post("a claim without access modes", all, claim("api-bad", { accessModes: [] })),
    post("a claim with a wrong access mode", all, claim("api-bad", { accessModes: ["ReadSometimes"] })),
    post("a claim of nothing", all, claim("api-bad", { resources: { requests: { storage: "0" } } })),
    post("a claim of less than nothing", all, claim("api-bad", { resources: { requests: { storage: "-1" } } })),
    post("a claim without a size", all, claim("api-bad", { resources: {} })),
    post("a claim of a size that is none", all, claim("api-bad", { resources: { requests: { storage: "much" } } })),
    post("a claim of part of a byte", `${all}?dryRun=All`, claim("api-part", { resources: { requests: { storage: "1500m" } } })),
    post("a claim with a wrong mode", all, claim("api-bad", { volumeMode: "Raw" })),
    post("a claim with a bad class", all, claim("api-bad", { storageClassName: "A" })),
    post("a claim from a snapshot of no group", all, claim("api-bad", { dataSource: { kind: "VolumeSnapshot", name: "s" } })),
    patch("an unbound claim does not grow", one, merge, { spec: { resources: { requests: { storage: "2Gi" } } } }),
    patch("a claim's class stays", one, merge, { spec: { storageClassName: "other" } }),
    patch("a claim's access modes stay", one, strategic, { spec: { accessModes: ["ReadOnlyMany"] } }),
    patch("a claim's label", one, strategic, { metadata: { labels: { more: "1" } } }),
    patch("conditions of a claim", `${one}/status?dryRun=All`, strategic, { status: { conditions: [{ type: "Resizing", status: "True" }] } }),
    patch("an unknown resize status", `${one}/status`, merge, { status: { allocatedResourceStatuses: { storage: "Wrong" } } }),
    patch("allocated less than nothing", `${one}/status`, merge, { status: { allocatedResources: { storage: "-1" } } }),
    put("replace a claim by another", one, claim("api-claim", { resources: { requests: { storage: "3Gi" } } })),
  ];
}

function volume(name: string, spec: Record<string, unknown>): unknown {
  return thing("v1", "PersistentVolume", name, { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "api-none", ...spec } });
}

function volumeCases(): Case[] {
  const all = "/api/v1/persistentvolumes";
  const one = `${all}/api-volume`;
  const path = { hostPath: { path: "/tmp/api" } };
  return [
    post("a volume", all, volume("api-volume", path)),
    post("a volume without a source", all, volume("api-bad", {})),
    post("a volume with two sources", all, volume("api-bad", { ...path, local: { path: "/x" } })),
    post("a volume that leaves its path", all, volume("api-bad", { hostPath: { path: "/a/../b" } })),
    post("a local volume without its node", all, volume("api-bad", { local: { path: "/x" } })),
    post("a volume of nothing", all, volume("api-bad", { ...path, capacity: { storage: "0" } })),
    post("a volume without a capacity", all, volume("api-bad", { ...path, capacity: {} })),
    post("a CSI volume without a handle", all, volume("api-bad", { csi: { driver: "a", volumeHandle: "" } })),
    post("a volume with a wrong policy", all, volume("api-bad", { ...path, persistentVolumeReclaimPolicy: "Keep" })),
    post("a volume to recycle from the root", all, volume("api-bad", { hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" })),
    patch("a volume's source stays", one, merge, { spec: { hostPath: { path: "/other" } } }),
    patch("a volume's mode stays", one, merge, { spec: { volumeMode: "Block" } }),
    patch("a volume's policy changes", `${one}?dryRun=All`, merge, { spec: { persistentVolumeReclaimPolicy: "Delete" } }),
    get("volumes of the label", `${all}?${labelled}`),
  ];
}

function driverCases(): Case[] {
  const drivers = `${group}/csidrivers`;
  const nodes = `${group}/csinodes`;
  return [
    post("a driver", drivers, storageThing("CSIDriver", "api.example.com", { spec: {} })),
    get("a driver as a table", `${drivers}/api.example.com`, table),
    post("a driver with a wrong mode", drivers, storageThing("CSIDriver", "api-bad.example.com", { spec: { volumeLifecycleModes: ["Sometimes"] } })),
    post("a driver with a bad name", drivers, storageThing("CSIDriver", "api_bad", { spec: {} })),
    patch("a driver attaches as it did", `${drivers}/api.example.com`, merge, { spec: { attachRequired: false } }),
    post("a node's drivers", nodes, storageThing("CSINode", "api-node", { spec: { drivers: [{ name: "a.example.com", nodeID: "n", topologyKeys: ["z"] }] } })),
    get("a node's drivers as a table", `${nodes}/api-node`, table),
    post("a driver twice", nodes, storageThing("CSINode", "api-bad", { spec: { drivers: [{ name: "a", nodeID: "n" }, { name: "a", nodeID: "n" }] } })),
    post("a driver without a node id", nodes, storageThing("CSINode", "api-bad", { spec: { drivers: [{ name: "a" }] } })),
    patch("a node's driver stays", `${nodes}/api-node`, merge, { spec: { drivers: [{ name: "a.example.com", nodeID: "other", topologyKeys: ["z"] }] } }),
    remove("delete a node's drivers", `${nodes}/api-node`),
    remove("delete a driver", `${drivers}/api.example.com`),
  ];
}

function attachmentCases(): Case[] {
  const all = `${group}/volumeattachments`;
  const one = `${all}/api-attachment`;
  const body = storageThing("VolumeAttachment", "api-attachment", { spec: { attacher: "api.example.com", nodeName: "node1", source: { persistentVolumeName: "api-volume" } } });
  return [
    post("an attachment of nothing", all, storageThing("VolumeAttachment", "api-bad", { spec: { attacher: "a", nodeName: "n", source: {} } })),
    post("an attachment on trial", `${all}?dryRun=All`, body),
    get("an attachment that is not there", one),
  ];
}
