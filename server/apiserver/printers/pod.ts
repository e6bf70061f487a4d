/** The row of a pod. Source: kubernetes v1.37.2, printPod. */
import { newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { flagAt, numberAt, objectAt, objectsAt, textAt } from "@/server/apiserver/access";
import { ageOf, isDeleted, nameOf, since, type Printer, type Surroundings } from "./printer";

/** What the containers say, one after the other. */
class Story {
  reason: string;
  ready = 0;
  restarts = 0;
  lastRestart = "";
  sidecarRestarts = 0;
  lastSidecarRestart = "";

  constructor(reason: string) {
    this.reason = reason;
  }

  countRestarts(status: JsonObject): void {
    this.restarts += numberAt(status, "restartCount") ?? 0;
    this.lastRestart = later(this.lastRestart, restartedAt(status));
  }

  countSidecar(status: JsonObject): void {
    this.sidecarRestarts += numberAt(status, "restartCount") ?? 0;
    this.lastSidecarRestart = later(this.lastSidecarRestart, restartedAt(status));
  }
}

function later(known: string, time: string): string {
  return time !== "" && (known === "" || Date.parse(time) > Date.parse(known)) ? time : known;
}

function restartedAt(status: JsonObject): string {
  return textAt(objectAt(status, "lastState", "terminated"), "finishedAt");
}

/** Whether a pod still starts, as its init containers say. */
function tellStart(story: Story, pod: JsonObject): boolean {
  const containers = objectsAt(objectAt(pod, "spec"), "initContainers");
  const sidecars = new Set(containers.filter((container) => textAt(container, "restartPolicy") === "Always").map((container) => textAt(container, "name")));
  for (const [index, status] of objectsAt(objectAt(pod, "status"), "initContainerStatuses").entries()) {
    const isSidecar = sidecars.has(textAt(status, "name"));
    story.countRestarts(status);
    if (isSidecar) story.countSidecar(status);
    const ended = objectAt(status, "state", "terminated");
    if (ended !== undefined && (numberAt(ended, "exitCode") ?? 0) === 0) continue;
    if (isSidecar && flagAt(status, "started")) {
      if (flagAt(status, "ready")) story.ready += 1;
      continue;
    }
    const waits = textAt(objectAt(status, "state", "waiting"), "reason");
    if (ended !== undefined) story.reason = `Init:${endOf(ended)}`;
    else if (waits !== "" && waits !== "PodInitializing") story.reason = `Init:${waits}`;
    else story.reason = `Init:${index}/${containers.length}`;
    return true;
  }
  return false;
}

function endOf(terminated: JsonObject): string {
  const signal = numberAt(terminated, "signal") ?? 0;
  return textAt(terminated, "reason") || (signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode") ?? 0}` : `Signal:${signal}`);
}

function tellRun(story: Story, pod: JsonObject): void {
  story.restarts = story.sidecarRestarts;
  story.lastRestart = story.lastSidecarRestart;
  let [isRunning, failure] = [false, ""];
  for (const status of objectsAt(objectAt(pod, "status"), "containerStatuses").reverse()) {
    story.countRestarts(status);
    const waits = textAt(objectAt(status, "state", "waiting"), "reason");
    const ended = objectAt(status, "state", "terminated");
    if (waits !== "") story.reason = waits;
    else if (ended !== undefined) {
      story.reason = endOf(ended);
      if ((numberAt(ended, "exitCode") ?? 0) !== 0) failure = story.reason;
    } else if (flagAt(status, "ready") && objectAt(status, "state", "running") !== undefined) {
      isRunning = true;
      story.ready += 1;
    }
  }
  if (story.reason !== "Completed") return;
  if (isRunning && conditionOf(pod, "Ready") === "True") story.reason = "Running";
  else if (failure !== "") story.reason = failure;
  else if (isRunning) story.reason = "NotReady";
}

function conditionOf(pod: JsonObject, type: string): string {
  const found = objectsAt(objectAt(pod, "status"), "conditions").find((condition) => textAt(condition, "type") === type);
  return textAt(found, "status");
}

function storyOf(pod: JsonObject): Story {
  const status = objectAt(pod, "status");
  const gated = objectsAt(status, "conditions").some((one) => textAt(one, "type") === "PodScheduled" && textAt(one, "reason") === "SchedulingGated");
  const phase = textAt(status, "phase");
  const story = new Story(gated ? "SchedulingGated" : textAt(status, "reason") || phase);
  const isStarting = tellStart(story, pod);
  if (!isStarting || conditionOf(pod, "Initialized") === "True") tellRun(story, pod);
  if (!isDeleted(pod)) return story;
  if (textAt(status, "reason") === "NodeLost") story.reason = "Unknown";
  else if (phase !== "Failed" && phase !== "Succeeded") story.reason = "Terminating";
  return story;
}

function gatesOf(pod: JsonObject): string {
  const gates = objectsAt(objectAt(pod, "spec"), "readinessGates");
  const met = gates.filter((gate) => conditionOf(pod, textAt(gate, "conditionType")) === "True");
  return gates.length === 0 ? "<none>" : `${met.length}/${gates.length}`;
}

export const podPrinter: Printer = {
  cells(pod, around: Surroundings): Json[] {
    const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
    const story = storyOf(pod);
    const sidecars = objectsAt(spec, "initContainers").filter((container) => textAt(container, "restartPolicy") === "Always");
    const total = objectsAt(spec, "containers").length + sidecars.length;
    const ago = story.restarts !== 0 && story.lastRestart !== "" ? ` (${since(story.lastRestart, around)} ago)` : "";
    return [
      nameOf(pod),
      `${story.ready}/${total}`,
      story.reason,
      `${story.restarts}${ago}`,
      ageOf(pod, around),
      textAt(objectsAt(status, "podIPs")[0], "ip") || "<none>",
      textAt(spec, "nodeName") || "<none>",
      textAt(status, "nominatedNodeName") || "<none>",
      gatesOf(pod),
    ];
  },
  conditions(pod) {
    const phase = textAt(objectAt(pod, "status"), "phase");
    const messages = new Map([["Succeeded", "The pod has completed successfully."], ["Failed", "The pod failed."]]);
    const message = messages.get(phase);
    return message === undefined ? undefined : [newObject([["type", "Completed"], ["status", "True"], ["reason", phase], ["message", message]])];
  },
};
