/** The printer of each kind. */
import type { Kind } from "@/server/apiserver/kinds";
import { objectAt, textAt } from "@/server/apiserver/access";
import { daemonSetPrinter, deploymentPrinter, replicaSetPrinter, statefulSetPrinter } from "./apps";
import { columnsOf, plainColumns, type Column } from "./columns";
import { accountPrinter, configMapPrinter, eventPrinter, namespacePrinter, nodePrinter, secretPrinter } from "./core";
import { podPrinter } from "./pod";
import { nameOf, type Printer } from "./printer";
import * as storage from "./storage";

const byGroup: Readonly<Record<string, Readonly<Record<string, Printer>>>> = {
  "": {
    Pod: podPrinter,
    PersistentVolumeClaim: storage.claimPrinter,
    PersistentVolume: storage.volumePrinter,
    Node: nodePrinter,
    Event: eventPrinter,
    Namespace: namespacePrinter,
    Secret: secretPrinter,
    ConfigMap: configMapPrinter,
    ServiceAccount: accountPrinter,
  },
  "storage.k8s.io": {
    StorageClass: storage.classPrinter,
    VolumeAttachment: storage.attachmentPrinter,
    CSINode: storage.csiNodePrinter,
    CSIDriver: storage.csiDriverPrinter,
    VolumeAttributesClass: storage.attributesClassPrinter,
    CSIStorageCapacity: storage.storageCapacityPrinter,
  },
  apps: { StatefulSet: statefulSetPrinter, Deployment: deploymentPrinter, DaemonSet: daemonSetPrinter, ReplicaSet: replicaSetPrinter },
};

/** Kinds without a printer: the name and when it was made. */
const plain: Printer = { cells: (object) => [nameOf(object), textAt(objectAt(object, "metadata"), "creationTimestamp")] };

export function printerOf(kind: Pick<Kind, "group" | "kind">): { readonly columns: readonly Column[]; readonly printer: Printer } {
  const group = kind.group === "events.k8s.io" ? "" : kind.group;
  const printer = byGroup[group]?.[kind.kind];
  return printer === undefined ? { columns: plainColumns(), printer: plain } : { columns: columnsOf(kind.kind), printer };
}
