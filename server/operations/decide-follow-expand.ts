/**
 * Where does an expansion stand? Pure: over the claim, its volume, the pods that use it and the events of all three, as they
 * are now. Fields conclude first, events second. Sources: pkg/volume/util/resizefs and resize helpers, external-resizer's
 * statuses, the kubelet's node expander at v1.37.2 (docs: KEP-1790, KEP-284).
 */
import type { Condition } from "@/lib/kube/meta";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import { storageOf, type PersistentVolume, type PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Quantity} from "@/lib/quantity";
import { tryParseQuantity } from "@/lib/quantity";
import { grantedOf, requestedOf } from "./decide-expand";
import type { OperationStep, Progress, Proof } from "./operation";

export interface FollowEvidence {
  /** undefined: it is gone. */
  readonly claim?: PersistentVolumeClaim;
  readonly persistentVolume?: PersistentVolume;
  readonly pods: readonly Pod[];
  /** A node that should mount it and has no plugin for it, and why. */
  readonly unserved?: { readonly node: string; readonly why: string };
  /** Events on the claim and on the pods, oldest first. */
  readonly events: readonly KubeEvent[];
  readonly uid: string;
  readonly target: Quantity;
  readonly startedAtMs: number;
  readonly nowMs: number;
}

/** Nobody has begun after this long: what the page calls stalled. */
export const stalledAfterMs = 60_000;

type Kind = "gone" | "replaced" | "done" | "infeasible" | "node-failed" | "waits-for-mount" | "unserved" | "node" | "controller" | "controller-failed" | "stalled" | "asked" | "lowered";

export function followExpansion(given: FollowEvidence): Progress {
  const evidence = { ...given, events: given.events.filter((event) => isSince(event, given)) };
  const kind = kindOf(evidence);
  const { status, ended } = outcomes[kind];
  return { status, ended, sentence: sentenceOf(kind, evidence), steps: stepsOf(kind, evidence), next: nextOf(kind, evidence) };
}

const outcomes: Readonly<Record<Kind, Pick<Progress, "status" | "ended">>> = {
  gone: { status: "unknown", ended: true },
  replaced: { status: "unknown", ended: true },
  lowered: { status: "unknown", ended: true },
  done: { status: "ok", ended: true },
  infeasible: { status: "failed", ended: false },
  "controller-failed": { status: "failed", ended: false },
  "node-failed": { status: "failed", ended: false },
  "waits-for-mount": { status: "waiting", ended: false },
  unserved: { status: "stuck", ended: false },
  node: { status: "working", ended: false },
  controller: { status: "working", ended: false },
  asked: { status: "working", ended: false },
  stalled: { status: "stuck", ended: false },
};

function kindOf(evidence: FollowEvidence): Kind {
  const { claim, target } = evidence;
  if (!claim) return "gone";
  if (claim.metadata.uid !== evidence.uid) return "replaced";
  const status = statusOf(claim);
  const requested = tryParseQuantity(requestedOf(claim));
  const granted = tryParseQuantity(grantedOf(claim));
  if (requested && requested.cmp(target) < 0) return "lowered";
  const resizing = condition(claim, "Resizing") ?? condition(claim, "FileSystemResizePending");
  if (status === undefined && granted && granted.cmp(target) >= 0 && !resizing) return "done";
  if (/(Infeasible|Failed)$/.test(status ?? "")) return "infeasible";
  if (condition(claim, "NodeResizeError")) return "node-failed";
  if (condition(claim, "ControllerResizeError")) return "controller-failed";
  if (status === "NodeResizeInProgress") return "node";
  if (status === "NodeResizePending" || condition(claim, "FileSystemResizePending")) {
    if (evidence.unserved) return "unserved";
    return evidence.pods.some(holdsVolumes) ? "node" : "waits-for-mount";
  }
  if (status !== undefined || condition(claim, "Resizing")) return "controller";
  return evidence.nowMs - evidence.startedAtMs > stalledAfterMs ? "stalled" : "asked";
}

/**
 * Event times have whole seconds: one of the same second may belong to this change. An event without a time is kept, and each of
 * them when the clock was set back since the start: then no time can be compared with it.
 */
export function isSince(event: KubeEvent, { startedAtMs, nowMs }: Pick<FollowEvidence, "startedAtMs" | "nowMs">): boolean {
  if (nowMs < startedAtMs) return true;
  const text = event.lastTimestamp ?? event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp;
  return typeof text !== "string" || Date.parse(text) >= Math.floor(startedAtMs / 1000) * 1000;
}

/** A pod that ended or has no node mounts nothing. */
export function holdsVolumes(pod: Pod): boolean {
  return (pod.spec.nodeName ?? "") !== "" && pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed";
}

const statusOf = (claim: PersistentVolumeClaim) => claim.status?.allocatedResourceStatuses?.["storage"];

function condition(claim: PersistentVolumeClaim, type: string): Condition | undefined {
  return claim.status?.conditions?.find((each) => each.type === type && each.status === "True");
}

function sentenceOf(kind: Kind, evidence: FollowEvidence): string {
  const name = evidence.claim?.metadata.name ?? "The claim";
  const target = evidence.target.toString();
  const message = failureText(evidence);
  const sentences: Readonly<Record<Kind, string>> = {
    gone: "The claim was deleted before it ended",
    replaced: "The claim was deleted and made anew: this is another one",
    lowered: `The request was lowered below ${target} by somebody else`,
    done: `${name} holds ${evidence.claim ? (grantedOf(evidence.claim) ?? target) : target}`,
    infeasible: `${name} cannot grow to ${target}: ${message}`,
    "controller-failed": `The driver has not grown the volume, and keeps trying: ${message}`,
    "node-failed": `The volume itself has grown, the file system has not; the node keeps trying: ${message}`,
    "waits-for-mount": `No pod mounts ${name}: the file system grows at the next mount`,
    unserved: `${evidence.unserved?.node ?? "The node"} cannot mount ${name}, so nothing grows its file system: ${evidence.unserved?.why ?? ""}`,
    node: "The node grows the file system",
    controller: "The driver grows the volume",
    asked: "Requested; nobody has begun yet",
    stalled: `Nobody acts: ${missingActor(evidence)}`,
  };
  return sentences[kind];
}

function failureText({ claim, events }: FollowEvidence): string {
  const fromCondition = claim && (condition(claim, "NodeResizeError") ?? condition(claim, "ControllerResizeError"))?.message;
  const failures = new Set(["VolumeResizeFailed", "FileSystemResizeFailed"]);
  return fromCondition ?? events.findLast((event) => failures.has(event.reason ?? ""))?.message ?? "no reason was given";
}

function missingActor({ persistentVolume }: FollowEvidence): string {
  const driver = persistentVolume?.spec.csi?.driver;
  if (driver !== undefined) return `no external-resizer of ${driver} took it up`;
  const source = persistentVolume && Object.keys(persistentVolume.spec).find((key) => sources.has(key));
  return source === undefined ? "no controller took it up" : `no controller grows ${source} volumes`;
}

const sources = new Set(["hostPath", "nfs", "local", "iscsi", "fc"]);

/** Which of the six steps each kind stands at, and how. */
const standing: Readonly<Record<Kind, readonly [step: number, state: OperationStep["state"]]>> = {
  gone: [0, "unknown"],
  replaced: [0, "unknown"],
  lowered: [1, "unknown"],
  asked: [1, "working"],
  stalled: [1, "stuck"],
  controller: [2, "working"],
  "controller-failed": [2, "failed"],
  infeasible: [2, "failed"],
  "waits-for-mount": [4, "waiting"],
  unserved: [4, "stuck"],
  node: [4, "working"],
  "node-failed": [4, "failed"],
  done: [6, "ok"],
};

function stepsOf(kind: Kind, evidence: FollowEvidence): OperationStep[] {
  const at = nodeInfeasible(kind, evidence) ? ([4, "failed"] as const) : standing[kind];
  return titles.map((title, index) => ({
    title,
    state: index < at[0] ? "ok" : index === at[0] ? at[1] : "not reached",
    proof: proofs[index]?.(evidence) ?? [],
  }));
}

function nodeInfeasible(kind: Kind, { claim }: FollowEvidence): boolean {
  return kind === "infeasible" && claim !== undefined && (statusOf(claim) ?? "").startsWith("Node");
}

const titles = [
  "Request accepted",
  "Somebody took it up",
  "Volume has grown",
  "Node step is due",
  "Node grows the file system",
  "Done when granted reaches the request",
];

const proofs: readonly ((evidence: FollowEvidence) => readonly Proof[])[] = [
  ({ claim }) => [{ object: "claim", field: ".spec.resources.requests.storage", value: (claim && requestedOf(claim)) ?? "absent" }],
  ({ claim, events }) => [
    { object: "claim", field: ".status.allocatedResourceStatuses.storage", value: (claim && statusOf(claim)) ?? "absent" },
    ...eventProof(events, new Set(["Resizing", "ExternalExpanding"])),
  ],
  ({ persistentVolume }) => [{ object: "PV", field: ".spec.capacity.storage", value: storageOf(persistentVolume?.spec.capacity) ?? "absent" }],
  ({ claim, events }) => [
    { object: "condition", field: "FileSystemResizePending", value: claim && condition(claim, "FileSystemResizePending") ? "True" : "absent" },
    ...eventProof(events, new Set(["FileSystemResizeRequired"])),
  ],
  ({ claim, events }) => [
    { object: "condition", field: "NodeResizeError", value: claim && condition(claim, "NodeResizeError") ? "True" : "absent" },
    ...eventProof(events, new Set(["FileSystemResizeSuccessful", "VolumeResizeFailed", "FileSystemResizeFailed"])),
  ],
  ({ claim }) => [{ object: "claim", field: ".status.capacity.storage", value: (claim && grantedOf(claim)) ?? "absent" }],
];

/** The newest event of these reasons. */
function eventProof(events: readonly KubeEvent[], reasons: ReadonlySet<string>): Proof[] {
  const event = events.findLast((each) => reasons.has(each.reason ?? ""));
  return event ? [{ object: "event", field: event.reason, text: event.message }] : [];
}

function nextOf(kind: Kind, { claim }: FollowEvidence): string[] {
  const granted = claim ? grantedOf(claim) : undefined;
  switch (kind) {
    case "infeasible":
      return [`Lower the request to a size above ${granted ?? "what is granted"} that the backend can give`];
    case "waits-for-mount":
      return ["Nothing to do: the first pod that mounts it finishes the change"];
    case "unserved":
      return ["Install the driver that the volume names: the node then mounts it, and the growth finishes by itself"];
    case "stalled":
      return ["Install or repair what grows volumes of this kind; the request may be lowered meanwhile, above what is granted"];
    case "node-failed":
      return ["Remove what the node's text names; it then finishes by itself", "The pods keep running on the size they have"];
    default:
      return [];
  }
}
