/** The stages between the scheduler and the container: attach, register, match, stage and publish. */
import type { KubeEvent } from "@/lib/kube/pods";
import type { ReportedMount, ReportedVolume } from "@/lib/node-report";
import type { Proof } from "@/lib/way";
import { csiDriverOf, specNameOf, type VolumeEvidence } from "./evidence";
import { eventProof, field, finding, newest, notApplicable, noted, notReached, remark, type StageFinding } from "./finding";
import { podOf, startedUser, usersOf } from "./stages-pod";

export function attach(evidence: VolumeEvidence, blocked: boolean): StageFinding {
  const { volume, nodeName, attachment } = evidence;
  const driver = csiDriverOf(volume);
  if (driver === undefined) return attachWithoutCsi(evidence, blocked);
  if (volume.claimName === undefined) return notApplicable("inline volumes are not attached");
  if (evidence.csiDriver?.spec.attachRequired === false) return notApplicable(`CSIDriver ${driver} .spec.attachRequired false`);
  if (attachment) {
    const name = `VolumeAttachment ${attachment.metadata.name ?? ""}`;
    const proof = field(name, ".status.attached", attachment.status?.attached ?? false);
    if (attachment.status?.attached) return finding("done", proof, attachment.metadata.creationTimestamp);
    const error = attachment.status?.attachError;
    if (error) return finding("stuck", [proof, field(name, ".status.attachError.message", error.message)], error.time);
    return finding("doing", proof, attachment.metadata.creationTimestamp);
  }
  const event = nodeEvent(evidence, "attach");
  if (event && !blocked) return finding("stuck", eventProof(event));
  if (blocked || nodeName === undefined) return notReached;
  if (evidence.unread.has("volumeattachments")) return finding("unknown", remark("VolumeAttachments", "can't be read"));
  return finding("doing", remark("VolumeAttachment", `none for ${nodeName} yet`));
}

/** Only csi and FlexVolume have an attach of their own; where a node says nothing of it, nothing proves it. */
function attachWithoutCsi(evidence: VolumeEvidence, blocked: boolean): StageFinding {
  const { match, reported } = evidence;
  if (match.kind !== "one" || !match.attachable) return notApplicable("its plugin attaches nothing");
  if (startedUser(evidence) || reported?.state === "mounted") return finding("done", remark("the volume", "is mounted"));
  if (reported?.state === "lost") return finding("done", remark("the volume", "was mounted"));
  if (evidence.report && isUnused(evidence)) return unused;
  const event = newest(evidence.podEvents, (each) => isRefusalOf(evidence, each));
  const message = event?.message ?? "";
  if (event && stageOfMessage(message) === "attach") return finding("stuck", eventProof(event));
  if (event && afterAttach.some((prefix) => message.startsWith(prefix))) return finding("done", remark("the node", "is past it", message));
  return blocked ? notReached : finding("unknown", remark("what would settle it", "a report of the node"));
}

export function register(evidence: VolumeEvidence): StageFinding {
  const driver = csiDriverOf(evidence.volume);
  if (driver === undefined) return notApplicable("no CSI driver");
  if (evidence.nodeName === undefined) return notReached;
  const drivers = evidence.csiNode?.spec.drivers ?? [];
  const index = drivers.findIndex((each) => each.name === driver);
  const source = `CSINode ${evidence.nodeName}`;
  if (index >= 0) return finding("done", field(source, `.spec.drivers[${index}]`, driver));
  if (isUnused(evidence)) return unused;
  if (!evidence.csiNode && evidence.unread.has("csinodes")) return finding("unknown", remark("CSINodes", "can't be read"));
  const count = drivers.length === 1 ? "1 driver" : `${drivers.length} drivers`;
  return finding("stuck", evidence.csiNode ? noted(field(source, ".spec.drivers", count), `${driver} is not among them`) : remark(source, "not found"));
}

export function match(evidence: VolumeEvidence): StageFinding {
  const answer = evidence.match;
  if (evidence.nodeName === undefined) return notReached;
  if (answer.kind !== "one" && isUnused(evidence)) return unused;
  switch (answer.kind) {
    case "one":
      return finding("done", remark(`1 of ${answer.asked} plugins`, answer.plugin));
    case "none":
      return finding("stuck", [remark(`0 of ${answer.asked} plugins`, answer.text)]);
    case "several":
      return finding("stuck", remark(`${answer.plugins.length} plugins`, answer.text, "exactly one must match"));
    case "unknown":
      return evidence.volume.claimName !== undefined && !evidence.volume.persistentVolume
        ? notReached
        : finding("unknown", remark("the plugins of the node", answer.why));
  }
}

export function stage(evidence: VolumeEvidence, blocked: boolean): StageFinding {
  const { volume, reported, match: answer } = evidence;
  const shared = answer.kind === "one" && answer.deviceMountable && !volume.volume.csi;
  if (volume.claimName === undefined && !shared) return notApplicable(volume.volume.csi ? "inline volumes are not staged" : "mounted for the pod alone");
  if (isUnused(evidence)) return unused;
  if (answer.kind === "one" && !answer.deviceMountable) return notApplicable("its plugin mounts no device");
  const mount = reported?.deviceMountPath && reported.mounts.find((each) => each.target === reported.deviceMountPath);
  if (mount) return finding("done", mountProof(evidence, mount));
  const event = nodeEvent(evidence, "stage");
  if (reported?.state === "mounted" || reported?.state === "lost") {
    return reported.deviceMountPath
      ? finding("unknown", noted(field(nodeOf(evidence), "mount table", undefined), `${reported.deviceMountPath} is not mounted`))
      : notApplicable("the driver stages nothing");
  }
  if (event && !startedUser(evidence)) return finding("stuck", eventProof(event));
  const started = startedUser(evidence);
  if (started) return finding("done", startedProof(evidence, started.name, "it is staged, where its driver stages at all"));
  if (blocked) return notReached;
  return reported ? finding("doing", operationProofs(reported)) : unknownOnNode(evidence);
}

export function publish(evidence: VolumeEvidence, blocked: boolean): StageFinding {
  const { reported, report } = evidence;
  if (isUnused(evidence)) return unused;
  if (reported) return publishByReport(evidence, reported, blocked);
  const started = startedUser(evidence);
  if (started && !report) {
    return finding("done", startedProof(evidence, started.name, "the kubelet starts none before its volumes are set up"));
  }
  const event = nodeEvent(evidence, "publish");
  if (event && !started) return blocked ? notReached : finding("stuck", eventProof(event));
  if (blocked) return notReached;
  return report ? finding("doing", remark(nodeOf(evidence), "not on its disk yet")) : unknownOnNode(evidence);
}

const unused = notApplicable("no container uses the volume");

/**
 * The kubelet asks no plugin for a volume that no container mounts or maps, and does not mount it. Source:
 * pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go (processPodVolumes) of v1.37.2.
 */
function isUnused({ volume: { pod, volume }, reported }: VolumeEvidence): boolean {
  return usersOf(pod, volume.name).size === 0 && reported?.state !== "mounted";
}

function publishByReport(evidence: VolumeEvidence, reported: ReportedVolume, blocked: boolean): StageFinding {
  switch (reported.state) {
    case "mounted": {
      const mount = reported.mounts.find((each) => each.target === reported.path);
      return finding("done", mount ? mountProof(evidence, mount) : remark(`${nodeOf(evidence)} disk`, reported.path));
    }
    case "lost":
      return lost(evidence, reported);
    case "failed":
      return finding("stuck", operationProofs(reported), reported.operation?.lastErrorAt);
    case "uncertain":
      return finding("unknown", [...operationProofs(reported), remark("what would settle it", "the next try")]);
    case "mounting":
    case "unmounting":
      return finding("doing", operationProofs(reported), reported.operation?.startedAt);
    case "not mounted":
      return reported.operation?.lastError !== undefined
        ? finding("stuck", operationProofs(reported), reported.operation.lastErrorAt)
        : blocked
          ? notReached
          : finding("doing", remark(nodeOf(evidence), reported.problem ?? "not mounted yet"));
  }
}

/** A node goes by what it did itself: what somebody else took away it neither sees nor sets up again. */
function lost(evidence: VolumeEvidence, reported: ReportedVolume): StageFinding {
  const { operation, problem, path, setUpAgain } = reported;
  const gone = remark(`${nodeOf(evidence)} mount table and disk`, problem ?? `nothing is at ${path} any more`, "the node set it up, and did not take it away");
  if (operation?.lastError !== undefined) return finding("stuck", [gone, ...operationProofs(reported)], operation.lastErrorAt);
  if (setUpAgain === "at the next sync") {
    return finding("doing", [gone, remark("what follows", "the node sets it up again when it next looks at the pod, within a minute and a half")]);
  }
  return finding("stuck", [
    gone,
    remark("what would settle it", "delete the pod and make it again, or restart the kubelet: what it once set up it does not set up again before that"),
    remark("until then", "a container that starts gets the bare folder of the node's own disk; one that runs may still hold what it had"),
  ]);
}

const nodeOf = ({ nodeName }: VolumeEvidence): string => nodeName ?? "the node";

function mountProof(evidence: VolumeEvidence, mount: ReportedMount): Proof {
  return field(`${nodeOf(evidence)} mount table`, shortPath(mount.target), `${mount.source} ${mount.fsType} ${mount.options[0] ?? ""}`.trim());
}

function startedProof({ volume }: VolumeEvidence, container: string, note: string): Proof {
  return noted(field(podOf(volume.pod), `.status.containerStatuses[${container}]`, "started"), note);
}

/** The end of a path, which tells it from its neighbours. */
function shortPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

function operationProofs({ operation, problem, path }: ReportedVolume): readonly Proof[] {
  if (!operation) return [remark(path, problem ?? "no operation runs")];
  const tries = operation.attempts > 1 ? `${operation.attempts} tries` : undefined;
  return [remark(operation.name, operation.lastError ?? "runs", tries)];
}

function unknownOnNode(evidence: VolumeEvidence): StageFinding {
  return finding("unknown", remark("what would settle it", `a report of ${nodeOf(evidence)}: no agent answers there`));
}

type NodeStage = "attach" | "stage" | "publish";

/** What the kubelet's and the attach controller's texts begin with, by stage (facts of MessagePrefix in operation_generator.go). */
const prefixes: Readonly<Record<NodeStage, readonly string[]>> = {
  attach: ["AttachVolume.", "Waiting for detach", "Multi-Attach error", "MountVolume.WaitForAttach"],
  stage: ["MountVolume.MountDevice", "MountVolume.GetDeviceMountPath", "MapVolume.SetUpDevice"],
  publish: ["MountVolume.", "MapVolume."],
};

/** Failures of steps that come after attaching (GenerateMountVolumeFunc, GenerateMapVolumeFunc). */
const afterAttach = [...prefixes.stage, "MountVolume.SetUp", "MountVolume.Setup", "MapVolume.MapPodDevice", "MapVolume.MapBlockVolume"];

const eventReasons: ReadonlySet<string> = new Set(["FailedAttachVolume", "FailedMount", "FailedMapVolume", "FailedMountOnFilesystemMismatch"]);

/** The newest refusal on the pod that names this volume and belongs to the stage. */
function nodeEvent(evidence: VolumeEvidence, of: NodeStage): KubeEvent | undefined {
  return newest(evidence.podEvents, (event) => isRefusalOf(evidence, event) && stageOfMessage(event.message ?? "") === of);
}

function isRefusalOf({ volume }: VolumeEvidence, { reason = "", message = "" }: KubeEvent): boolean {
  return eventReasons.has(reason) && message.includes(JSON.stringify(specNameOf(volume)));
}

function stageOfMessage(message: string): NodeStage {
  if (prefixes.attach.some((prefix) => message.startsWith(prefix))) return "attach";
  return prefixes.stage.some((prefix) => message.startsWith(prefix)) ? "stage" : "publish";
}
