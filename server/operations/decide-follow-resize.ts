/**
 * Where does the resize of a memory-backed volume stand? Pure: over the pod's generation and conditions first, its events
 * second, the node's own look where there is one. A 200 that changed nothing is told from one that did.
 * Source: pkg/kubelet (HandlePodResizes, pod conditions) at v1.37.2, KEP-1287 and KEP-6030.
 */
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import { tryParseQuantity, type Quantity } from "@/lib/quantity";
import { isSince } from "./decide-follow-expand";
import type { OperationStep, Progress, Proof } from "./operation";

export interface FollowResizeEvidence {
  /** undefined: it is gone. */
  readonly pod?: Pod;
  readonly uid: string;
  readonly volumeName: string;
  readonly target: Quantity;
  /** metadata.generation of the answer; undefined when the answer was never read (a restart while sending). */
  readonly answeredGeneration?: number;
  /** What the mount holds, as its node says; undefined where it is not visible. */
  readonly capacityBytes?: bigint;
  readonly events: readonly KubeEvent[];
  readonly startedAtMs: number;
  readonly nowMs: number;
}

type Kind = "gone" | "replaced" | "ended-pod" | "unchanged" | "deferred" | "infeasible" | "error" | "in-progress" | "unseen" | "done" | "done-unconfirmed" | "mismatch";

/** A tmpfs rounds up to whole pages. */
const pageBytes = 4096n;

export function followResize(given: FollowResizeEvidence): Progress {
  const evidence = { ...given, events: given.events.filter((event) => isSince(event, given)) };
  const kind = kindOf(evidence);
  const { status, ended } = outcomes[kind];
  return { status, ended, sentence: sentenceOf(kind, evidence), steps: stepsOf(kind, evidence), next: nextOf(kind) };
}

const outcomes: Readonly<Record<Kind, Pick<Progress, "status" | "ended">>> = {
  gone: { status: "unknown", ended: true },
  replaced: { status: "unknown", ended: true },
  "ended-pod": { status: "unknown", ended: true },
  unchanged: { status: "failed", ended: true },
  deferred: { status: "waiting", ended: false },
  infeasible: { status: "failed", ended: true },
  error: { status: "failed", ended: false },
  "in-progress": { status: "working", ended: false },
  unseen: { status: "working", ended: false },
  mismatch: { status: "working", ended: false },
  done: { status: "ok", ended: true },
  "done-unconfirmed": { status: "ok", ended: true },
};

function kindOf(evidence: FollowResizeEvidence): Kind {
  const { pod, target } = evidence;
  if (!pod) return "gone";
  if (pod.metadata.uid !== evidence.uid) return "replaced";
  if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return "ended-pod";
  const limit = tryParseQuantity(volumeOf(evidence)?.emptyDir?.sizeLimit);
  if (!limit || limit.cmp(target) !== 0) return "unchanged";
  const pending = condition(pod, "PodResizePending");
  if (pending) return pending.reason === "Infeasible" ? "infeasible" : "deferred";
  const progress = condition(pod, "PodResizeInProgress");
  if (progress) return progress.reason === "Error" ? "error" : "in-progress";
  const generation = evidence.answeredGeneration ?? pod.metadata.generation;
  if (generation !== undefined && (pod.status?.observedGeneration ?? 0) < generation) return "unseen";
  if (evidence.capacityBytes === undefined) return "done-unconfirmed";
  return holds(evidence.capacityBytes, target) ? "done" : "mismatch";
}

export function holds(capacityBytes: bigint, target: Quantity): boolean {
  const wanted = ((target.ceilValue() + pageBytes - 1n) / pageBytes) * pageBytes;
  return capacityBytes === wanted;
}

function condition(pod: Pod, type: string) {
  return pod.status?.conditions?.find((each) => each.type === type && each.status === "True");
}

function volumeOf({ pod, volumeName }: FollowResizeEvidence) {
  return pod?.spec.volumes?.find((each) => each.name === volumeName);
}

function sentenceOf(kind: Kind, evidence: FollowResizeEvidence): string {
  const { pod, volumeName } = evidence;
  const target = evidence.target.toString();
  const words = pod && (condition(pod, "PodResizePending") ?? condition(pod, "PodResizeInProgress"))?.message;
  const sentences: Readonly<Record<Kind, string>> = {
    gone: "The pod was deleted before it ended",
    replaced: "The pod was replaced; a new pod has the size of its template",
    "ended-pod": "The pod ended; its volumes are gone",
    unchanged: `The server answered and changed nothing, or somebody changed it since: the sizeLimit is ${volumeOf(evidence)?.emptyDir?.sizeLimit ?? "absent"}`,
    deferred: `The node cannot do it now and tries again by itself: ${words ?? "no reason was given"}`,
    infeasible: `This node cannot do it: ${words ?? "no reason was given"}`,
    error: `The remount failed and is tried again; the volume keeps its size: ${words ?? "no reason was given"}`,
    "in-progress": "The node admitted it and applies it",
    unseen: "Accepted; the node has not seen it yet",
    mismatch: "The node says it is done; its mount does not show it yet",
    done: `${volumeName} holds ${target}`,
    "done-unconfirmed": `The node says that it is done; its mount is not visible from here`,
  };
  return sentences[kind];
}

const standing: Readonly<Record<Kind, readonly [step: number, state: OperationStep["state"]]>> = {
  gone: [0, "unknown"],
  replaced: [0, "unknown"],
  "ended-pod": [0, "unknown"],
  unchanged: [0, "failed"],
  unseen: [1, "working"],
  deferred: [1, "waiting"],
  infeasible: [1, "failed"],
  "in-progress": [2, "working"],
  error: [2, "failed"],
  mismatch: [3, "working"],
  "done-unconfirmed": [3, "unknown"],
  done: [4, "ok"],
};

function stepsOf(kind: Kind, evidence: FollowResizeEvidence): OperationStep[] {
  const [at, state] = standing[kind];
  return titles.map((title, index) => ({
    title,
    state: index < at ? "ok" : index === at ? state : "not reached",
    proof: proofs[index]?.(evidence) ?? [],
  }));
}

const titles = ["Request accepted", "Node admitted it", "Node remounted it", "Confirmed by the mount"];

const proofs: readonly ((evidence: FollowResizeEvidence) => readonly Proof[])[] = [
  (evidence) => [
    { object: "pod", field: ".metadata.generation", value: String(evidence.pod?.metadata.generation ?? "absent") },
    { object: "pod", field: ".emptyDir.sizeLimit", value: volumeOf(evidence)?.emptyDir?.sizeLimit ?? "absent" },
  ],
  (evidence) => [conditionProof(evidence, "PodResizePending"), ...eventProof(evidence, new Set(["ResizeStarted", "ResizeDeferred", "ResizeInfeasible"]))],
  (evidence) => [conditionProof(evidence, "PodResizeInProgress"), ...eventProof(evidence, new Set(["ResizeCompleted", "ResizeError"]))],
  ({ pod, capacityBytes }) => [
    { object: "pod", field: ".status.observedGeneration", value: String(pod?.status?.observedGeneration ?? "absent") },
    { object: "mount", field: "statfs", value: capacityBytes === undefined ? "not visible" : `${capacityBytes} bytes` },
  ],
];

function conditionProof({ pod }: FollowResizeEvidence, type: string): Proof {
  const found = pod && condition(pod, type);
  return { object: "condition", field: type, value: found ? ["True", found.reason].filter(Boolean).join(", ") : "absent", text: found?.message };
}

function eventProof({ events }: FollowResizeEvidence, reasons: ReadonlySet<string>): Proof[] {
  const event = events.findLast((each) => reasons.has(each.reason ?? ""));
  return event ? [{ object: "event", field: event.reason, text: event.message }] : [];
}

function nextOf(kind: Kind): string[] {
  switch (kind) {
    case "unchanged":
      return ["The server accepts the request and drops it: it is older than 1.37, or the gate is off"];
    case "infeasible":
      return ["Set the old size again, or move the pod to a node that can do it"];
    case "error":
      return ["A size below use is refused by the kernel: delete files, or ask for a larger size"];
    default:
      return [];
  }
}
