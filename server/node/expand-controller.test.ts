import { describe, expect, it } from "vitest";
import type { PersistentVolume } from "@/lib/kube/storage";
import { createMemoryHost } from "@/server/hosts/memory";
import { ExpandController } from "@/server/node/expand-controller";
import { FakeCluster } from "@/server/node/fake-cluster";
import type { NodeEvent } from "@/server/node/recorder";
import { newLocalVolumePlugin } from "@/server/volume/plugins/local-volume";
import { VolumePluginManager } from "@/server/volume/plugin-manager";

async function start(source: PersistentVolume["spec"]) {
  const { host, ports } = createMemoryHost();
  const manager = new VolumePluginManager({ clock: ports.clock, log: ports.log });
  await manager.initPlugins([newLocalVolumePlugin()], undefined, host);
  const cluster = new FakeCluster();
  const events: NodeEvent[] = [];
  const points: string[] = [];
  const controller = new ExpandController({
    client: cluster.client,
    manager,
    recorder: { record: (event) => events.push(event) },
    clock: ports.clock,
    point: (name) => points.push(name),
  });
  cluster.put("persistentvolumes", { metadata: { name: "pv" }, spec: { capacity: { storage: "1Gi" }, volumeMode: "Filesystem", ...source } });
  const request = (storage: string) =>
    cluster.put("persistentvolumeclaims", {
      metadata: { name: "data", namespace: "shop" },
      spec: { volumeName: "pv", resources: { requests: { storage } } },
      status: { phase: "Bound", capacity: { storage: "1Gi" } },
    });
  const settle = async () => {
    for (let pass = 0; pass < 3; pass += 1) await controller.step(cluster.snapshot());
  };
  const said = () => events.map(({ type, reason, message, component }) => [type, reason, message, component]);
  return { cluster, request, settle, said, points };
}

describe("the expand controller", () => {
  it("grows a FlexVolume by the no-op expander and leaves the rest to the node", async () => {
    const world = await start({ flexVolume: { driver: "example.com/share" } });
    world.request("2Gi");
    await world.settle();
    expect(world.cluster.get("persistentvolumes", undefined, "pv")).toMatchObject({
      metadata: { annotations: { "volume.alpha.kubernetes.io/pre-resize-capacity": "1Gi" } },
      spec: { capacity: { storage: "2Gi" } },
    });
    expect(world.cluster.get("persistentvolumeclaims", "shop", "data")).toMatchObject({
      metadata: { annotations: { "volume.kubernetes.io/storage-resizer": "example.com/share" } },
      status: {
        capacity: { storage: "1Gi" },
        allocatedResources: { storage: "2Gi" },
        allocatedResourceStatuses: { storage: "NodeResizePending" },
      },
    });
    const conditions = world.cluster.get("persistentvolumeclaims", "shop", "data")?.status?.conditions ?? [];
    expect(conditions.map((condition) => condition.type).sort()).toEqual(["FileSystemResizePending", "Resizing"]);
    expect(world.said()).toEqual([]);
  });

  it("finishes a FlexVolume in block mode by itself", async () => {
    const world = await start({ flexVolume: { driver: "example.com/share" }, volumeMode: "Block" });
    world.request("2Gi");
    await world.settle();
    expect(world.cluster.get("persistentvolumeclaims", "shop", "data")?.status).toMatchObject({ capacity: { storage: "2Gi" } });
    expect(world.said()).toEqual([["Normal", "VolumeResizeSuccessful", "ExpandVolume succeeded for volume shop/data", "volume_expand"]]);
  });

  it("says once per wish that somebody else has to act", async () => {
    const world = await start({ local: { path: "/x" } });
    const expanding = ["Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC", "volume_expand"];
    world.request("2Gi");
    await world.settle();
    expect(world.said()).toEqual([expanding]);
    world.request("3Gi");
    await world.settle();
    expect(world.said()).toEqual([expanding, expanding]);
    expect(world.cluster.writes).toEqual([]);
  });

  it("does nothing for a claim that is as large as it wants to be", async () => {
    const world = await start({ local: { path: "/x" } });
    world.request("1024Mi");
    await world.settle();
    expect(world.said()).toEqual([]);
  });
});
