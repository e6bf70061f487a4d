/**
 * May this claim grow to that size? A pure decision over API objects: every check with the object that decides.
 * Sources: ValidatePersistentVolumeClaimUpdate (pkg/apis/core/validation/validation.go) and the admission plugin
 * PersistentVolumeClaimResize at v1.37.2; what is Voldeck's own refusal says so.
 */
import { claimClass } from "@/lib/kube/classes";
import { storageOf, type PersistentVolume, type PersistentVolumeClaim, type StorageClass } from "@/lib/kube/storage";
import type { Quantity} from "@/lib/quantity";
import { tryParseQuantity } from "@/lib/quantity";
import { decisionOf, type Check, type Decision } from "./operation";

export interface ExpandEvidence {
  readonly claim: PersistentVolumeClaim;
  /** undefined: it does not exist, or may not be read (then `classUnreadable`). */
  readonly storageClass?: StorageClass;
  readonly classUnreadable?: boolean;
  readonly persistentVolume?: PersistentVolume;
  /** Who would do the work for this volume, as far as is known; undefined when nobody is. */
  readonly actor?: { readonly name: string; readonly proof: string };
  /** Whether the person may patch the claim; undefined when the API was not asked. */
  readonly mayPatch?: boolean;
}

export const requestedOf = (claim: PersistentVolumeClaim) => storageOf(claim.spec.resources?.requests);
export const grantedOf = (claim: PersistentVolumeClaim) => storageOf(claim.status?.capacity);

/** `target` is what the person typed, already parsed. */
export function decideExpansion(evidence: ExpandEvidence, target: Quantity): Decision {
  const requested = tryParseQuantity(requestedOf(evidence.claim));
  if (requested && requested.cmp(target) === 0) {
    return { kind: "nothing", checks: [], reason: `The claim already requests ${requestedOf(evidence.claim)}` };
  }
  return decisionOf(checksOf(evidence, target));
}

/** What stands for and against any growth while no size is asked for: the checks of `decideExpansion` that need none. */
export function growthChecks(evidence: ExpandEvidence): readonly Check[] {
  return decisionOf(checksOf(evidence, undefined)).checks;
}

function checksOf(evidence: ExpandEvidence, target: Quantity | undefined): readonly Check[] {
  const requested = tryParseQuantity(requestedOf(evidence.claim));
  const lowers = target !== undefined && requested !== undefined && target.cmp(requested) < 0;
  return [
    bound(evidence.claim),
    classAllows(evidence, lowers),
    ...(target === undefined ? [] : [larger(evidence.claim, lowers, target)]),
    idle(evidence.claim),
    filesystemOrBlock(evidence.claim),
    somebodyActs(evidence),
    mayPatch(evidence),
    { title: "Room in the backend", verdict: "unknown", proof: { object: "the driver", text: "only its answer settles it" } },
  ];
}

function bound(claim: PersistentVolumeClaim): Check {
  const phase = claim.status?.phase ?? "";
  return {
    title: "Claim is bound",
    verdict: phase === "Bound" ? "pass" : "refuse",
    proof: { object: "claim", field: ".status.phase", value: phase === "" ? "absent" : phase },
    remedy: "A claim can grow only once it is bound; a pending claim can be deleted and made anew with another size",
  };
}

function classAllows(evidence: ExpandEvidence, lowers: boolean): Check {
  const title = "Class allows growing";
  const name = claimClass(evidence.claim);
  if (lowers) {
    return { title, verdict: "pass", proof: { object: name || "no class", text: "not asked when a request is lowered" } };
  }
  if (name === "") {
    return { title, verdict: "refuse", proof: { object: "claim", field: ".spec.storageClassName", value: '""' }, remedy: noClass };
  }
  if (evidence.classUnreadable) {
    return { title, verdict: "unknown", proof: { object: name, text: "may not be read; the dry run settles it" } };
  }
  const allows = evidence.storageClass?.allowVolumeExpansion;
  return {
    title,
    verdict: allows === true ? "pass" : "refuse",
    proof: evidence.storageClass
      ? { object: name, field: ".allowVolumeExpansion", value: allows === undefined ? "absent" : String(allows) }
      : { object: name, value: "does not exist" },
    remedy: `Whoever owns the class ${name} can allow it for all its claims. Otherwise copy the data to a claim of another class`,
  };
}

const noClass = "A claim without a class cannot grow: copy the data to a claim of a class that allows it";

function larger(claim: PersistentVolumeClaim, lowers: boolean, target: Quantity): Check {
  const title = "Larger than granted";
  const grantedText = grantedOf(claim);
  const granted = tryParseQuantity(grantedText);
  if (!granted) {
    return { title, verdict: lowers ? "unknown" : "pass", proof: { object: "claim", field: ".status.capacity", value: "absent" } };
  }
  return {
    title,
    verdict: target.cmp(granted) > 0 ? "pass" : "refuse",
    proof: { object: "claim", field: ".status.capacity", value: grantedText },
    remedy: `A volume never shrinks: a request must be above ${grantedText}`,
  };
}

function idle(claim: PersistentVolumeClaim): Check {
  const status = claim.status?.allocatedResourceStatuses?.["storage"];
  const infeasible = status !== undefined && /(Infeasible|Failed)$/.test(status);
  return {
    title: "No other change is running",
    verdict: status === undefined || infeasible ? "pass" : "note",
    proof: { object: "claim", field: ".status.allocatedResourceStatuses", value: status ?? "absent" },
    remedy: status === undefined ? undefined : "The change that is running is finished first; then this one is begun",
  };
}

function filesystemOrBlock(claim: PersistentVolumeClaim): Check {
  const block = claim.spec.volumeMode === "Block";
  return {
    title: "What grows",
    verdict: "note",
    proof: {
      object: "claim",
      field: ".spec.volumeMode",
      value: block ? "Block" : "Filesystem",
      text: block ? "the device; nothing inside it" : "the volume and its file system",
    },
  };
}

function somebodyActs(evidence: ExpandEvidence): Check {
  const { actor, persistentVolume } = evidence;
  const volume = persistentVolume?.metadata.name ?? "no volume";
  return {
    title: "Somebody acts on it",
    verdict: actor ? "pass" : "unknown",
    proof: actor ? { object: actor.name, text: actor.proof } : { object: volume, text: "no expander of this volume is known here" },
    remedy: actor ? undefined : "If nobody acts the request stays as it is and the claim keeps its size",
  };
}

function mayPatch({ mayPatch: allowed }: ExpandEvidence): Check {
  return {
    title: "You may do it",
    verdict: allowed === undefined ? "unknown" : allowed ? "pass" : "refuse",
    proof: {
      object: "you",
      field: "patch persistentvolumeclaims",
      value: allowed === undefined ? "not asked" : allowed ? "allowed" : "forbidden",
    },
    remedy: allowed === false ? "The right to patch persistentvolumeclaims in this namespace is missing" : undefined,
  };
}

/** The body of the change: a merge patch that a concurrent change makes fail. */
export function expansionPatch(target: string, resourceVersion: string | undefined): object {
  return {
    ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
    spec: { resources: { requests: { storage: target } } },
  };
}
