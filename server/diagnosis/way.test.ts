import { describe, expect, it } from "vitest";
import type { KubeEvent, Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import type { WayStage } from "@/lib/way";
import type { StageState } from "@/lib/words";
import type { PodVolume, WatchedKind } from "@/server/cluster/snapshot";
import type { Match, VolumeEvidence } from "./evidence";
import { claimWayOf, wayOf } from "./way";

const config: Volume = { name: "config", configMap: { name: "web" } };

function pod(more: { spec?: Partial<Pod["spec"]>; status?: Pod["status"]; metadata?: Partial<Pod["metadata"]> } = {}): Pod {
  return {
    metadata: { name: "web-0", namespace: "shop", uid: "u1", ...more.metadata },
    spec: {
      nodeName: "node1",
      containers: [{ name: "web", volumeMounts: ["config", "data", "hot"].map((name) => ({ name, mountPath: `/${name}` })) }],
      ...more.spec,
    },
    status: more.status ?? started,
  };
}

const started: Pod["status"] = {
  phase: "Running",
  containerStatuses: [{ name: "web", ready: true, state: { running: { startedAt: "2026-12-01T10:00:00Z" } } }],
};
const creating: Pod["status"] = {
  phase: "Pending",
  containerStatuses: [{ name: "web", state: { waiting: { reason: "ContainerCreating" } } }],
};

const one = (plugin: string, more: { attachable?: boolean; deviceMountable?: boolean } = {}): Match => ({
  kind: "one",
  plugin,
  asked: 14,
  attachable: more.attachable ?? false,
  deviceMountable: more.deviceMountable ?? false,
});
const csi = one("kubernetes.io/csi", { attachable: true, deviceMountable: true });

function evidence(volume: Volume, more: Partial<VolumeEvidence> & Partial<Pick<PodVolume, "pod" | "claim" | "claimName" | "persistentVolume">> = {}): VolumeEvidence {
  const { pod: thePod = pod(), claim, claimName, persistentVolume, ...rest } = more;
  const claimed = claimName ?? volume.persistentVolumeClaim?.claimName;
  return {
    volume: {
      key: `shop/web-0/${volume.name}`,
      pod: thePod,
      volume,
      ...(claimed === undefined ? {} : { claimName: claimed }),
      ...(claim ? { claim } : {}),
      ...(persistentVolume ? { persistentVolume } : {}),
    },
    nodeName: thePod.spec.nodeName,
    csiDriver: undefined,
    csiNode: undefined,
    attachment: undefined,
    storageClass: undefined,
    podEvents: [],
    claimEvents: [],
    match: one("kubernetes.io/configmap"),
    report: undefined,
    reported: undefined,
    unread: new Set<WatchedKind>(),
    runsContainers: true,
    ...rest,
  };
}

function annotated({ metadata, spec, status }: PersistentVolumeClaim, className: string): PersistentVolumeClaim {
  const annotations = { "volume.beta.kubernetes.io/storage-class": className };
  return { metadata: { ...metadata, annotations }, spec: { resources: spec.resources }, status };
}

const data: Volume = { name: "data", persistentVolumeClaim: { claimName: "data-web-0" } };

function claim(status: PersistentVolumeClaim["status"], request = "10Gi"): PersistentVolumeClaim {
  return {
    metadata: { name: "data-web-0", namespace: "shop", uid: "c1" },
    spec: { volumeName: "pvc-1", storageClassName: "loop", resources: { requests: { storage: request } } },
    status,
  };
}
const bound = claim({ phase: "Bound", capacity: { storage: "10Gi" } });

const pv: PersistentVolume = {
  metadata: { name: "pvc-1", annotations: { "pv.kubernetes.io/provisioned-by": "loop.csi" }, creationTimestamp: "2026-11-29T10:00:00Z" },
  spec: { csi: { driver: "loop.csi", volumeHandle: "loop-1" }, capacity: { storage: "10Gi" } },
};
const csiNode = { metadata: { name: "node1" }, spec: { drivers: [{ name: "loop.csi", nodeID: "node1" }] } };
const attached = {
  metadata: { name: "csi-1" },
  spec: { attacher: "loop.csi", nodeName: "node1", source: { persistentVolumeName: "pvc-1" } },
  status: { attached: true },
};
const onCsi = { claim: bound, persistentVolume: pv, csiNode, attachment: attached, match: csi };

function reported(more: Partial<ReportedVolume>): { report: NodeReport; reported: ReportedVolume } {
  const volume: ReportedVolume = {
    podUID: "u1",
    specName: "config",
    pluginName: "kubernetes.io/configmap",
    mode: "Filesystem",
    path: "/r/pods/u1/volumes/kubernetes.io~configmap/config",
    found: true,
    state: "mounted",
    mounts: [],
    ...more,
  };
  const report: NodeReport = {
    nodeName: "node1",
    takenAt: "2026-12-01T10:00:00Z",
    root: "/r",
    mounter: "root",
    volumes: [volume],
    otherMounts: [],
    pluginSockets: [],
    flexDrivers: [],
  };
  return { report, reported: volume };
}

function event(reason: string, message: string, type = "Warning"): KubeEvent {
  return { metadata: { name: "e" }, involvedObject: {}, reason, message, type, count: 14 };
}

const unscheduled = (condition?: { reason: string; message?: string }) =>
  pod({
    spec: { nodeName: undefined },
    status: { phase: "Pending", conditions: condition && [{ type: "PodScheduled", status: "False", ...condition }] },
  });

const disk: Volume = { name: "data", flexVolume: { driver: "example.com/disk" } };
const attaching = one("example.com/disk", { attachable: true, deviceMountable: true });
const attachFails = event("FailedAttachVolume", 'AttachVolume.Attach failed for volume "data" : attach command failed, status: Failure, reason: busy');
const deviceFails = event("FailedMount", 'MountVolume.MountDevice failed for volume "data" : mountdevice command failed, status: Failure, reason: no superblock');

describe("wayOf", () => {
  const cases: readonly (readonly [string, VolumeEvidence, string, WayStage, StageState])[] = [
    ["a running pod's config volume", evidence(config), "ok", "running", "done"],
    ["not scheduled and nothing said", evidence(config, { pod: unscheduled() }), "waiting", "schedule", "waiting"],
    ["held back by a scheduling gate", evidence(config, { pod: unscheduled({ reason: "SchedulingGated" }) }), "waiting", "schedule", "waiting"],
    ["no node fits", evidence(config, { pod: unscheduled({ reason: "Unschedulable", message: "0/3 nodes" }) }), "stuck", "schedule", "stuck"],
    ["the claim does not exist", evidence(data), "stuck", "bind", "stuck"],
    ["claims can't be read", evidence(data, { unread: new Set(["persistentvolumeclaims"]) }), "unknown", "bind", "unknown"],
    ["the claim's volume is lost", evidence(data, { claim: claim({ phase: "Lost" }) }), "failed", "bind", "failed"],
    [
      "no volume fits the claim and it has no class",
      evidence(data, { claim: claim({ phase: "Pending" }), claimEvents: [event("FailedBinding", "no persistent volumes available")] }),
      "stuck",
      "bind",
      "stuck",
    ],
    [
      "the provisioner refuses",
      evidence(data, {
        claim: claim({ phase: "Pending" }),
        storageClass: { metadata: { name: "loop" }, provisioner: "loop.csi" },
        claimEvents: [event("ProvisioningFailed", "pool is full")],
      }),
      "stuck",
      "provision",
      "stuck",
    ],
    [
      "the class waits for the pod's node",
      evidence(data, {
        pod: unscheduled(),
        claim: claim({ phase: "Pending" }),
        storageClass: { metadata: { name: "loop" }, provisioner: "loop.csi", volumeBindingMode: "WaitForFirstConsumer" },
      }),
      "waiting",
      "bind",
      "waiting",
    ],
    ["the class does not exist", evidence(data, { claim: claim({ phase: "Pending" }) }), "stuck", "provision", "stuck"],
    ["the class that an annotation names does not exist", evidence(data, { claim: annotated(claim({ phase: "Pending" }), "old") }), "stuck", "provision", "stuck"],
    [
      "an ephemeral claim that belongs to another",
      evidence({ name: "data", ephemeral: {} }, { claimName: "web-0-data", claim: bound }),
      "stuck",
      "bind",
      "stuck",
    ],
    ["a csi claim on a running pod", evidence(data, onCsi), "ok", "stage", "done"],
    ["a csi claim on a pod that has not started, and no agent", evidence(data, { ...onCsi, pod: pod({ status: creating }) }), "working", "stage", "unknown"],
    [
      "the attachment failed",
      evidence(data, { ...onCsi, pod: pod({ status: creating }), attachment: { ...attached, status: { attached: false, attachError: { message: "no space" } } } }),
      "stuck",
      "attach",
      "stuck",
    ],
    ["attach is not wanted by the driver", evidence(data, { ...onCsi, attachment: undefined, csiDriver: { metadata: {}, spec: { attachRequired: false } } }), "ok", "attach", "not applicable"],
    ["the attachment is not made yet", evidence(data, { ...onCsi, pod: pod({ status: creating }), attachment: undefined }), "working", "attach", "doing"],
    ["attachments can't be read", evidence(data, { ...onCsi, attachment: undefined, unread: new Set(["volumeattachments"]) }), "unknown", "attach", "unknown"],
    [
      "attached elsewhere, in the words of 1.37",
      evidence(data, { ...onCsi, attachment: undefined, pod: pod({ status: creating }), podEvents: [event("FailedAttachVolume", 'Waiting for detach for volume "pvc-1" Volume is already exclusively attached')] }),
      "stuck",
      "attach",
      "stuck",
    ],
    ["the driver is not on the node", evidence({ name: "data", csi: { driver: "missing.csi" } }, { csiNode, match: csi, pod: pod({ status: creating }) }), "stuck", "register", "stuck"],
    ["CSINodes can't be read", evidence({ name: "data", csi: { driver: "missing.csi" } }, { match: csi, unread: new Set(["csinodes"]) }), "unknown", "register", "unknown"],
    ["no plugin matches", evidence(config, { pod: pod({ status: creating }), match: { kind: "none", asked: 13, text: "no volume plugin matched" } }), "stuck", "match", "stuck"],
    ["several plugins match", evidence(config, { pod: pod({ status: creating }), match: { kind: "several", plugins: ["a", "b"], text: "multiple" } }), "stuck", "match", "stuck"],
    ["nobody can say which plugins the node has", evidence(config, { match: { kind: "unknown", why: "no agent" } }), "unknown", "match", "unknown"],
    ["no agent, and the pod has not started", evidence(config, { pod: pod({ status: creating }) }), "working", "publish", "unknown"],
    [
      "no agent, and the kubelet says why it fails",
      evidence(config, { pod: pod({ status: creating }), podEvents: [event("FailedMount", 'MountVolume.SetUp failed for volume "config" : configmap "web" not found')] }),
      "stuck",
      "publish",
      "stuck",
    ],
    ["a failure that is over: the container runs", evidence(config, { podEvents: [event("FailedMount", 'MountVolume.SetUp failed for volume "config" : x')] }), "ok", "publish", "done"],
    ["a failure of another volume", evidence(config, { pod: pod({ status: creating }), podEvents: [event("FailedMount", 'MountVolume.SetUp failed for volume "data" : x')] }), "working", "publish", "unknown"],
    ["the staging failed", evidence(data, { ...onCsi, pod: pod({ status: creating }), podEvents: [event("FailedMount", 'MountVolume.MountDevice failed for volume "pvc-1" : x')] }), "stuck", "stage", "stuck"],
    ["a driver attaches and has failed at it", evidence(disk, { match: attaching, pod: pod({ status: creating }), podEvents: [attachFails] }), "stuck", "attach", "stuck"],
    ["a driver has attached and fails at the device", evidence(disk, { match: attaching, pod: pod({ status: creating }), podEvents: [attachFails, deviceFails] }), "stuck", "attach", "done"],
    ["the device of a pod's own volume is not mounted", evidence(disk, { match: attaching, pod: pod({ status: creating }), podEvents: [deviceFails] }), "stuck", "stage", "stuck"],
    ["the node says it is mounted", evidence(config, { ...reported({}), pod: pod({ status: creating }), runsContainers: false }), "ok", "publish", "done"],
    ["the node says it failed", evidence(config, { ...reported({ state: "failed", operation: { name: "MountVolume.SetUp", startedAt: "", attempts: 9, lastError: "x" } }), pod: pod({ status: creating }) }), "stuck", "publish", "stuck"],
    ["the node is not sure", evidence(config, { ...reported({ state: "uncertain" }), pod: pod({ status: creating }), runsContainers: false }), "unknown", "publish", "unknown"],
    ["the node mounts it now", evidence(config, { ...reported({ state: "mounting" }), pod: pod({ status: creating }) }), "working", "publish", "doing"],
    ["no container uses it", evidence({ name: "spare", emptyDir: {} }), "ok", "publish", "not applicable"],
    ["the container crashes again and again", evidence(config, { pod: pod({ status: { containerStatuses: [{ name: "web", restartCount: 4, state: { waiting: { reason: "CrashLoopBackOff" } } }] } }) }), "unknown", "running", "unknown"],
    ["the pod has finished", evidence(data, { ...onCsi, attachment: undefined, pod: pod({ status: { phase: "Succeeded" } }) }), "ok", "attach", "not applicable"],
  ];

  it.each(cases)("%s", (...[, given, word, stage, state]) => {
    const way = wayOf(given);
    expect({ word: way.word, state: way.stages.find((each) => each.stage === stage)?.state }).toEqual({ word, state });
  });

  const growth: readonly (readonly [string, PersistentVolumeClaim["status"], KubeEvent[], string, StageState])[] = [
    ["the request is granted", { phase: "Bound", capacity: { storage: "20Gi" } }, [], "ok", "not applicable"],
    ["the same size in another spelling", { phase: "Bound", capacity: { storage: "20480Mi" } }, [], "ok", "not applicable"],
    ["asked and nobody has answered", { phase: "Bound", capacity: { storage: "10Gi" } }, [], "unknown", "unknown"],
    ["an external resizer is waited for", { phase: "Bound", capacity: { storage: "10Gi" } }, [event("ExternalExpanding", "waiting", "Normal")], "working", "doing"],
    ["the controller grows it", { phase: "Bound", capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "ControllerResizeInProgress" } }, [], "working", "doing"],
    ["the node step waits for a mount", { phase: "Bound", capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } }, [], "waiting", "waiting"],
    ["the driver says never", { phase: "Bound", capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "ControllerResizeInfeasible" } }, [], "failed", "failed"],
    [
      "the node fails and tries again",
      { phase: "Bound", capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "NodeResizeInProgress" }, conditions: [{ type: "NodeResizeError", status: "True", message: "x" }] },
      [],
      "stuck",
      "stuck",
    ],
    ["a word of a later version", { phase: "Bound", capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "Paused" } }, [], "unknown", "unknown"],
  ];

  it.each(growth)("expand: %s", (...[, status, claimEvents, word, state]) => {
    const way = wayOf(evidence(data, { ...onCsi, claim: claim(status, "20Gi"), claimEvents }));
    expect({ word: way.word, state: way.stages.find((each) => each.stage === "expand")?.state }).toEqual({ word, state });
  });

  const hot: Volume = { name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } };
  const resize = (type: string, reason: string) =>
    pod({ status: { ...started, conditions: [{ type, status: "True", reason, message: "Memory-backed emptyDir volume resize is not supported on cgroups v1" }] } });
  const memory: readonly (readonly [string, VolumeEvidence, string])[] = [
    ["not being resized", evidence(hot), "not applicable"],
    ["cgroup v1", evidence(hot, { pod: resize("PodResizePending", "Infeasible") }), "failed"],
    ["put off", evidence(hot, { pod: resize("PodResizePending", "Deferred") }), "waiting"],
    ["the node has the wanted size already", evidence(hot, { ...reported({ capacityBytes: "67108864" }), pod: resize("PodResizePending", "Deferred") }), "not applicable"],
    ["being applied", evidence(hot, { ...reported({ capacityBytes: "1048576" }), pod: resize("PodResizeInProgress", "") }), "doing"],
    ["applied with an error", evidence(hot, { ...reported({ capacityBytes: "1048576" }), pod: resize("PodResizeInProgress", "Error") }), "stuck"],
  ];

  it.each(memory)("memory volume: %s", (_name, given, state) => {
    expect(wayOf(given).stages.find((each) => each.stage === "expand")?.state).toBe(state);
  });

  it("proves a mount by its line and a staging by its own", () => {
    const path = "/r/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount";
    const mounts = ["/r/global/globalmount", path].map((target) => ({ target, source: "/dev/loop3", fsType: "xfs", options: ["rw"], line: "" }));
    const way = wayOf(evidence(data, { ...onCsi, ...reported({ path, deviceMountPath: "/r/global/globalmount", mounts }) }));
    expect(way).toMatchObject({ word: "ok", at: "running" });
    expect(way.stages.filter(({ stage }) => stage === "stage" || stage === "publish").map(({ proofs }) => proofs[0])).toEqual([
      { source: "node1 mount table", field: "…/global/globalmount", value: "/dev/loop3 xfs rw" },
      { source: "node1 mount table", field: "…/pvc-1/mount", value: "/dev/loop3 xfs rw" },
    ]);
  });

  const gone = "nothing is mounted at /r/x any more";
  it.each([
    ["that only a new pod gets again", reported({ state: "lost", problem: gone, setUpAgain: "for a new pod" }), "stuck", "delete the pod and make it again"],
    ["that the node sets up again", reported({ state: "lost", problem: gone, setUpAgain: "at the next sync" }), "working", "sets it up again"],
    [
      "that could not be set up again",
      reported({ state: "lost", problem: gone, setUpAgain: "at the next sync", operation: { name: "MountVolume", startedAt: "2026-12-01T10:00:00Z", attempts: 2, lastError: "no room" } }),
      "stuck",
      "no room",
    ],
  ] as const)("a lost volume %s is never ok, though its container runs", (_name, given, word, advice) => {
    const way = wayOf(evidence(config, given));
    expect(way).toMatchObject({ word, at: "publish" });
    const proofs = way.stages.find(({ stage }) => stage === "publish")?.proofs ?? [];
    expect(proofs[0]).toMatchObject({ source: "node1 mount table and disk", value: gone });
    expect(proofs.slice(1).map(({ value }) => value).join("\n")).toContain(advice);
  });

  it("a claim whose volume a node lost is not ok either", () => {
    const user = evidence(data, { ...onCsi, ...reported({ state: "lost", problem: gone, setUpAgain: "for a new pod" }) });
    expect(claimWayOf(user, [user])).toMatchObject({ word: "stuck", at: "publish" });
    expect(claimWayOf(user, [evidence(data, { ...onCsi, ...reported({ state: "mounted" }) })])).toMatchObject({ word: "ok" });
  });

  it.each<[string, Partial<VolumeEvidence>, Volume]>([
    ["that no plugin serves", { match: { kind: "none", asked: 14, text: "no volume plugin matched" } }, { name: "spare", flexVolume: { driver: "example.com/gone" } }],
    ["that several plugins serve", { match: { kind: "several", plugins: ["a", "b"], text: "multiple volume plugins matched" } }, { name: "spare", flexVolume: { driver: "example.com/two" } }],
    ["whose driver is not on the node", { match: csi, csiNode }, { name: "spare", csi: { driver: "missing.csi" } }],
    ["whose driver would attach it", { match: attaching, report: reported({}).report }, { name: "spare", flexVolume: { driver: "example.com/disk" } }],
  ])("a volume that no container uses is not stuck: one %s", (_name, given, volume) => {
    const way = wayOf(evidence(volume, given));
    expect(way.word).toBe("ok");
    expect(way.stages.find(({ stage }) => stage === "publish")?.state).toBe("not applicable");
    const used = { ...volume, name: "hot" };
    expect(wayOf(evidence(used, { ...given, pod: pod({ status: creating }) })).word).not.toBe("ok");
  });

  it("nothing behind a wall is called done or doing", () => {
    const way = wayOf(evidence({ name: "data", csi: { driver: "missing.csi" } }, { csiNode, match: csi, pod: pod({ status: creating }) }));
    expect(way.stages.map(({ state }) => state)).toEqual([
      "done",
      "not applicable",
      "not applicable",
      "not applicable",
      "stuck",
      "done",
      "not applicable",
      "not reached",
      "not reached",
      "not applicable",
    ]);
  });

  it("adds unmount, detach and cleanup when the pod leaves", () => {
    const leaving = pod({ metadata: { deletionTimestamp: "2026-12-01T10:00:00Z" } });
    const way = wayOf(evidence(data, { ...onCsi, ...reported({ state: "unmounting", specName: "pvc-1" }), pod: leaving }));
    expect(way.stages.slice(-3).map(({ stage, state }) => [stage, state])).toEqual([
      ["unmount", "doing"],
      ["detach", "not reached"],
      ["cleanup", "not reached"],
    ]);
    expect(way.word).toBe("working");
  });
});
