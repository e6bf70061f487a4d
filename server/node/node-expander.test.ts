import { describe, expect, it } from "vitest";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { createMemoryHost } from "@/server/hosts/memory";
import { FakeCluster } from "@/server/node/fake-cluster";
import { NodeExpander } from "@/server/node/node-expander";
import type { NodeEvent } from "@/server/node/recorder";
import { boundPod, nodeName, testNode } from "@/server/node/test-node";
import { VolumeError } from "@/server/volume/errors";
import type { NodeResizeOptions } from "@/server/volume/plugin";
import { newLocalVolumePlugin } from "@/server/volume/plugins/local-volume";

type Expand = (options: NodeResizeOptions) => Promise<boolean>;

async function start(expand: Expand, options: { readonly pending?: boolean; readonly readOnly?: boolean; readonly controllerOnly?: boolean } = {}) {
  const memory = createMemoryHost({ files: { "/srv/data": { kind: "directory" } } });
  const calls: NodeResizeOptions[] = [];
  const plugin = {
    ...newLocalVolumePlugin(),
    requiresFSResize: () => options.controllerOnly !== true,
    nodeExpand: (asked: NodeResizeOptions) => {
      calls.push(asked);
      return expand(asked);
    },
  };
  const cluster = new FakeCluster();
  const events: NodeEvent[] = [];
  const holder: { expander?: NodeExpander } = {};
  const node = await testNode({
    host: memory.host,
    plugins: [plugin],
    cluster,
    expansions: (resolved, actual) => holder.expander?.expansions(resolved, actual) ?? [],
    expandDuringMount: async (volume, mount, paths) => holder.expander?.expandDuringMount(volume, mount, paths),
  });
  holder.expander = new NodeExpander({
    client: cluster.client,
    manager: node.manager,
    snapshot: () => cluster.snapshot(),
    recorder: { record: (event) => void events.push(event) },
    clock: memory.clock,
    nodeName,
    point: () => undefined,
  });
  const put = (pending: boolean) => {
    cluster.put("persistentvolumes", {
      metadata: { name: "pv" },
      spec: { local: { path: "/srv/data" }, volumeMode: "Filesystem", capacity: { storage: pending ? "2Gi" : "1Gi" }, claimRef: { name: "data", namespace: "shop", uid: "uid-data" } },
    });
    const status: PersistentVolumeClaim["status"] = pending
      ? {
          phase: "Bound",
          capacity: { storage: "1Gi" },
          allocatedResources: { storage: "2Gi" },
          allocatedResourceStatuses: { storage: "NodeResizePending" },
          conditions: [{ type: "FileSystemResizePending", status: "True" }],
        }
      : { phase: "Bound", capacity: { storage: "1Gi" } };
    cluster.put("persistentvolumeclaims", { metadata: { name: "data", namespace: "shop" }, spec: { volumeName: "pv" }, status });
  };
  put(options.pending ?? false);
  cluster.put("pods", boundPod("web", [{ name: "data", persistentVolumeClaim: { claimName: "data", readOnly: options.readOnly ?? false } }]));
  await node.settle();
  const grow = async () => {
    put(true);
    await node.settle();
  };
  const claim = () => cluster.get("persistentvolumeclaims", "shop", "data");
  const said = () => events.map(({ subject, reason, message }) => `${subject.kind} ${reason}: ${message}`);
  return { memory, node, calls, grow, claim, said, cluster };
}

describe("growing while mounted", () => {
  it("calls the plugin once with the allocated size, and records it on claim and pod", async () => {
    const world = await start(async () => true);
    expect(world.calls).toEqual([]);
    await world.grow();
    expect(world.calls.map(({ newSize, oldSize, deviceMountPath }) => [newSize.toString(), oldSize.toString(), deviceMountPath])).toEqual([
      ["2Gi", "1Gi", "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~local-volume/pv"],
    ]);
    expect(world.claim()?.status).toMatchObject({ capacity: { storage: "2Gi" }, allocatedResources: { storage: "2Gi" } });
    expect(world.claim()?.status?.allocatedResourceStatuses).toBeUndefined();
    expect(world.claim()?.status?.conditions ?? []).toEqual([]);
    expect(world.said()).toEqual([
      'Pod FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv" node-1',
      'PersistentVolumeClaim FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv" node-1',
    ]);
    expect(world.node.events).toEqual([]);
  });

  it("leaves a volume alone whose plugin has grown all of it in the controller's part", async () => {
    const world = await start(async () => true, { controllerOnly: true });
    await world.grow();
    expect(world.calls).toEqual([]);
    expect(world.said()).toEqual([]);
    expect(world.node.reconciler.operations.keys()).toEqual([]);
  });

  it("keeps trying after a failure, which pod and claim tell of", async () => {
    let fails = true;
    const world = await start(async () => {
      if (fails) throw new VolumeError("resize2fs: Permission denied to resize filesystem");
      return true;
    });
    await world.grow();
    expect(world.claim()?.status).toMatchObject({ capacity: { storage: "1Gi" }, allocatedResourceStatuses: { storage: "NodeResizeInProgress" } });
    expect(world.claim()?.status?.conditions?.find((condition) => condition.type === "NodeResizeError")?.message).toBe(
      "failed to expand pvc with resize2fs: Permission denied to resize filesystem",
    );
    expect(world.said()).toEqual(['Pod VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv" : resize2fs: Permission denied to resize filesystem']);
    expect(world.node.events).toEqual([]);
    fails = false;
    await world.memory.clock.advance(500);
    await world.node.settle();
    expect(world.claim()?.status).toMatchObject({ capacity: { storage: "2Gi" } });
  });

  it("stops at a refusal for good, so that a smaller size can be asked for", async () => {
    const world = await start(() => Promise.reject(new VolumeError("the disk is too small", "infeasible")));
    await world.grow();
    await world.memory.clock.advance(600_000);
    await world.node.settle();
    expect(world.calls).toHaveLength(1);
    expect(world.claim()?.status).toMatchObject({ allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } });
  });

  it("waits for the next mount where the driver wants the volume unused, without an event", async () => {
    const world = await start(() => Promise.reject(new VolumeError("in use", "failed-precondition")));
    await world.grow();
    await world.memory.clock.advance(600_000);
    await world.node.settle();
    expect(world.calls).toHaveLength(1);
    expect(world.node.events).toEqual([]);
    expect(world.claim()?.status?.conditions?.map((condition) => condition.type)).toContain("NodeResizeError");
  });
});

describe("a read-only use", () => {
  it("is not grown, and told once on pod and claim", async () => {
    const world = await start(async () => true, { readOnly: true });
    await world.grow();
    await world.node.settle();
    const text = 'FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv" requested read-only file system';
    expect(world.said()).toEqual([`Pod ${text}`, `PersistentVolumeClaim ${text}`]);
    expect(world.calls).toEqual([]);
  });
});

describe("growing while it is mounted for the first time", () => {
  it("happens before the pod counts as mounted", async () => {
    const world = await start(async () => true, { pending: true });
    expect(world.calls).toHaveLength(1);
    expect(world.claim()?.status).toMatchObject({ capacity: { storage: "2Gi" } });
  });

  it("keeps the pod from starting when it fails", async () => {
    const world = await start(() => Promise.reject(new VolumeError("no")), { pending: true });
    expect(world.node.events[0]).toMatchObject({ reason: "FailedMount", message: 'MountVolume.Setup failed while expanding volume for volume "pv" : no' });
  });
});
