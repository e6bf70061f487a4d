/** The rows of claims, volumes, classes and what drivers register. Source: kubernetes v1.37.2, pkg/printers/internalversion. */
import type { Json, JsonObject } from "@/lib/kube/json";
import { parseQuantity } from "@/lib/quantity";
import { flagAt, objectAt, objectsAt, optionalFlag, optionalText, textAt, textMap, textsAt } from "@/server/apiserver/access";
import { ageOf, isDeleted, nameOf, type Printer } from "./printer";

const shortModes: readonly (readonly [string, string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function modesOf(object: JsonObject | undefined): string {
  const modes = textsAt(object, "accessModes");
  return shortModes.filter(([mode]) => modes.includes(mode)).map(([, short]) => short).join(",");
}

function storageOf(object: JsonObject | undefined): string {
  return parseQuantity(textMap(object, "capacity").get("storage") ?? "0").toString();
}

/** The old annotation wins over the field. */
function classOf(object: JsonObject): string {
  const old = textMap(objectAt(object, "metadata"), "annotations").get("volume.beta.kubernetes.io/storage-class");
  return old ?? textAt(objectAt(object, "spec"), "storageClassName");
}

function phaseOf(object: JsonObject): string {
  return isDeleted(object) ? "Terminating" : textAt(objectAt(object, "status"), "phase");
}

export const claimPrinter: Printer = {
  cells(claim, around): Json[] {
    const [spec, status] = [objectAt(claim, "spec"), objectAt(claim, "status")];
    const volume = textAt(spec, "volumeName");
    return [
      nameOf(claim),
      phaseOf(claim),
      volume,
      volume === "" ? "" : storageOf(status),
      volume === "" ? "" : modesOf(status),
      classOf(claim),
      optionalText(spec, "volumeAttributesClassName") ?? "<unset>",
      ageOf(claim, around),
      optionalText(spec, "volumeMode") ?? "<unset>",
    ];
  },
};

export const volumePrinter: Printer = {
  cells(volume, around): Json[] {
    const [spec, status] = [objectAt(volume, "spec"), objectAt(volume, "status")];
    const claim = objectAt(spec, "claimRef");
    return [
      nameOf(volume),
      storageOf(spec),
      modesOf(spec),
      textAt(spec, "persistentVolumeReclaimPolicy"),
      phaseOf(volume),
      claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`,
      classOf(volume),
      optionalText(spec, "volumeAttributesClassName") ?? "<unset>",
      textAt(status, "reason"),
      ageOf(volume, around),
      optionalText(spec, "volumeMode") ?? "<unset>",
    ];
  },
};

const defaultAnnotations = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/** The class that a claim without a class gets: the youngest of those marked, of these the first by name. */
function effectiveDefault(items: readonly JsonObject[]): string {
  const created = (item: JsonObject): number => Date.parse(textAt(objectAt(item, "metadata"), "creationTimestamp")) || 0;
  const marked = items.filter((item) => {
    const annotations = textMap(objectAt(item, "metadata"), "annotations");
    return defaultAnnotations.some((key) => annotations.get(key) === "true");
  });
  const [first] = marked.sort((a, b) => created(b) - created(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
  return first === undefined ? "" : nameOf(first);
}

export const classPrinter: Printer = {
  cells(object, around): Json[] {
    const name = nameOf(object);
    return [
      name !== "" && name === effectiveDefault(around.items ?? []) ? `${name} (default)` : name,
      textAt(object, "provisioner"),
      optionalText(object, "reclaimPolicy") ?? "Delete",
      optionalText(object, "volumeBindingMode") ?? "Immediate",
      flagAt(object, "allowVolumeExpansion"),
      ageOf(object, around),
    ];
  },
};

export const attachmentPrinter: Printer = {
  cells(attachment, around): Json[] {
    const spec = objectAt(attachment, "spec");
    return [
      nameOf(attachment),
      textAt(spec, "attacher"),
      textAt(objectAt(spec, "source"), "persistentVolumeName"),
      textAt(spec, "nodeName"),
      flagAt(objectAt(attachment, "status"), "attached"),
      ageOf(attachment, around),
    ];
  },
};

export const csiNodePrinter: Printer = {
  cells: (node, around) => [nameOf(node), objectsAt(objectAt(node, "spec"), "drivers").length, ageOf(node, around)],
};

export const csiDriverPrinter: Printer = {
  cells(driver, around): Json[] {
    const spec = objectAt(driver, "spec");
    const tokens = Array.isArray(spec?.["tokenRequests"]) ? objectsAt(spec, "tokenRequests").map((token) => textAt(token, "audience")).join(",") : "<unset>";
    return [
      nameOf(driver),
      optionalFlag(spec, "attachRequired") ?? true,
      flagAt(spec, "podInfoOnMount"),
      flagAt(spec, "storageCapacity"),
      tokens,
      flagAt(spec, "requiresRepublish"),
      textsAt(spec, "volumeLifecycleModes").join(",") || "<none>",
      ageOf(driver, around),
    ];
  },
};

export const attributesClassPrinter: Printer = { cells: (object, around) => [nameOf(object), textAt(object, "driverName"), ageOf(object, around)] };

export const storageCapacityPrinter: Printer = {
  cells(object): Json[] {
    const capacity = optionalText(object, "capacity");
    return [nameOf(object), textAt(object, "storageClassName"), capacity === undefined ? "<unset>" : parseQuantity(capacity).toString()];
  },
};
