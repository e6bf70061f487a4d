import { describe, expect, it } from "vitest";
import { createMemoryHost } from "@/server/hosts/memory";
import { boundPod, nodeName, testNode } from "@/server/node/test-node";
import { newFlexVolumePlugin } from "@/server/volume/plugins/flexvolume/plugin";
import { VolumeError } from "@/server/volume/errors";
import { FileError } from "@/server/volume/ports";

describe("an attached volume", () => {
  const uniqueName = "voldeck.dev/disk/data";
  const diskPod = boundPod("a", [{ name: "data", flexVolume: { driver: "voldeck.dev/disk" } }]);

  /** A driver that attaches, and a node with it. `answers` may be changed while it runs. */
  async function startWithDriver(more: Readonly<Record<string, string>> = {}) {
    const memory = createMemoryHost({ files: { "/drivers/voldeck.dev~disk/disk": { kind: "file", mode: 0o755 } } });
    const answers: Record<string, string> = {
      init: '{"status":"Success","capabilities":{"attach":true}}',
      attach: '{"status":"Success","device":"/dev/x"}',
      mountdevice: '{"status":"Success"}',
      detach: '{"status":"Success"}',
      ...more,
    };
    memory.exec.setFallback(({ args: [command = ""] }) => answers[command] ?? { output: '{"status":"Not supported"}', exitCode: 1 });
    const trust = { isRefused: false };
    const checkDriver = async (): Promise<void> => {
      if (trust.isRefused) throw new VolumeError("driver is not run", "refused");
    };
    const plugin = await newFlexVolumePlugin("/drivers", "voldeck.dev~disk", { exec: memory.exec, log: memory.log, checkDriver, timeoutMs: 1_000 });
    const node = await testNode({ host: memory.host, plugins: [plugin] });
    const again = () => testNode({ host: memory.host, plugins: [plugin], cluster: node.cluster });
    const calls = (command: string) => memory.exec.calls.map(({ args }) => args).filter(([name]) => name === command);
    return { memory, node, again, answers, trust, calls, noted: () => node.cluster.get("nodes", undefined, nodeName)?.status?.volumesAttached ?? [] };
  }

  it("stands in the node's status until it is detached", async () => {
    const { node, calls, noted } = await startWithDriver();
    node.cluster.put("pods", diskPod);
    await node.settle();
    expect(noted()).toEqual([{ name: uniqueName, devicePath: "/dev/x" }]);
    node.cluster.remove("pods", "shop", "a");
    await node.settle();
    expect(calls("detach")).toEqual([["detach", "data", nodeName]]);
    expect(noted()).toEqual([]);
  });

  it("that an earlier process attached and no folder tells of is detached", async () => {
    const { node, again, calls, noted } = await startWithDriver();
    node.cluster.put("nodes", { metadata: { name: nodeName }, status: { volumesAttached: [{ name: uniqueName, devicePath: "/dev/x" }] } });
    const second = await again();
    await second.settle();
    expect(calls("detach")).toEqual([["detach", "data", nodeName]]);
    expect(noted()).toEqual([]);
  });

  it.each([
    { says: "attached", isattached: '{"status":"Success","attached":true}', attaches: 1 },
    { says: "not attached", isattached: '{"status":"Success","attached":false}', attaches: 2 },
    { says: "nothing", isattached: '{"status":"Not supported"}', attaches: 2 },
    { says: "an error", isattached: '{"status":"Failure","message":"no answer"}', attaches: 2 },
  ])("that is wanted after a restart is attached anew unless its driver says that it is: it says $says", async ({ isattached, attaches }) => {
    const { node, again, calls, noted } = await startWithDriver({ isattached });
    node.cluster.put("pods", diskPod);
    await node.settle();
    expect(calls("isattached")).toEqual([]);
    const second = await again();
    await second.settle();
    expect(calls("isattached")).toEqual([["isattached", '{"kubernetes.io/fsType":"","kubernetes.io/pvOrVolumeName":"data","kubernetes.io/readwrite":"rw"}', nodeName]]);
    expect(calls("attach")).toHaveLength(attaches);
    expect(calls("detach")).toEqual([]);
    expect(noted()).toEqual([{ name: uniqueName, devicePath: "/dev/x" }]);
  });

  it("that could not be detached is attached anew for the next pod, and is in doubt until then", async () => {
    const { node, answers, calls, noted } = await startWithDriver({ detach: '{"status":"Failure","message":"busy"}' });
    node.cluster.put("pods", diskPod);
    await node.settle();
    node.cluster.remove("pods", "shop", "a");
    await node.settle();
    expect(noted()).toEqual([{ name: uniqueName, devicePath: "" }]);
    answers["detach"] = '{"status":"Success"}';
    node.cluster.put("pods", { ...diskPod, metadata: { ...diskPod.metadata, name: "b", uid: "uid-b" } });
    await node.settle();
    expect(calls("attach")).toHaveLength(2);
    expect(noted()).toEqual([{ name: uniqueName, devicePath: "/dev/x" }]);
  });

  it("is waited for by the path that attach gave, until its device is mounted", async () => {
    const { node, memory, answers, calls } = await startWithDriver({
      waitforattach: '{"status":"Success","device":"/dev/y"}',
      mountdevice: '{"status":"Failure","message":"no superblock"}',
    });
    node.cluster.put("pods", diskPod);
    await node.settle();
    answers["mountdevice"] = '{"status":"Success"}';
    await memory.clock.advance(1_000);
    await node.settle();
    node.cluster.put("pods", { ...diskPod, metadata: { ...diskPod.metadata, name: "b", uid: "uid-b" } });
    await node.settle();
    expect(calls("waitforattach").map(([, device]) => device)).toEqual(["/dev/x", "/dev/x", "/dev/y"]);
    expect(calls("mountdevice").map(([, , device]) => device)).toEqual(["/dev/y", "/dev/y"]);
  });

  it("is not detached while its device is held elsewhere", async () => {
    const { node, memory, calls } = await startWithDriver();
    let held = true;
    const utils = memory.host.getHostUtil();
    memory.host.getHostUtil = () => Object.assign(Object.create(utils), { pathIsDevice: async () => true, deviceOpened: async () => held });
    node.cluster.put("pods", diskPod);
    await node.settle();
    node.cluster.remove("pods", "shop", "a");
    await node.settle();
    expect(node.reconciler.operations.report(uniqueName)?.lastError).toBe(
      'UnmountDevice failed for volume "data" : the device is in use when it was no longer expected to be in use',
    );
    expect(calls("detach")).toEqual([]);
    held = false;
    await memory.clock.advance(1_000);
    await node.settle();
    expect(calls("detach")).toHaveLength(1);
  });

  it("is detached though the host may not look at its device", async () => {
    const { node, memory, calls } = await startWithDriver();
    const refuse = () => Promise.reject(new FileError("EACCES", "stat /dev/x: permission denied: outside the data folder and not allowed", "/dev/x"));
    const utils = memory.host.getHostUtil();
    memory.host.getHostUtil = () => Object.assign(Object.create(utils), { pathIsDevice: refuse });
    node.cluster.put("pods", diskPod);
    await node.settle();
    node.cluster.remove("pods", "shop", "a");
    await node.settle();
    expect(calls("detach")).toHaveLength(1);
  });

  it("is asked for its name once, and not at every look", async () => {
    const { node, calls } = await startWithDriver({ getvolumename: '{"status":"Success","volumeName":"other"}' });
    node.cluster.put("pods", diskPod);
    await node.settle();
    const before = calls("getvolumename").length;
    await node.settle();
    expect(calls("getvolumename")).toHaveLength(before);
  });

  it("may be attached though the driver failed, and is detached when nobody wants it", async () => {
    const { node, calls, noted } = await startWithDriver({ attach: '{"status":"Failure","message":"busy"}' });
    node.cluster.put("pods", diskPod);
    await node.settle();
    expect(noted()).toEqual([{ name: uniqueName, devicePath: "" }]);
    node.cluster.remove("pods", "shop", "a");
    await node.settle();
    expect(calls("detach")).toHaveLength(1);
    expect(noted()).toEqual([]);
  });

  it("stays noted when what may have attached it is refused later", async () => {
    const { memory, node, trust, noted } = await startWithDriver({ attach: '{"status":"Failure","message":"busy"}' });
    node.cluster.put("pods", diskPod);
    await node.settle();
    trust.isRefused = true;
    await memory.clock.advance(1_000);
    await node.settle();
    expect(node.reconciler.operations.report(uniqueName)?.lastError).toContain("driver is not run");
    expect(noted()).toEqual([{ name: uniqueName, devicePath: "" }]);
  });

  it("is not attached where its plugin can't take the mount options that are asked for", async () => {
    const { node, calls } = await startWithDriver();
    const claimRef = { namespace: "shop", name: "data", uid: "uid-data" };
    node.cluster.put("persistentvolumes", { metadata: { name: "pv" }, spec: { claimRef, mountOptions: ["noatime"], flexVolume: { driver: "voldeck.dev/disk" } } });
    node.cluster.put("persistentvolumeclaims", { metadata: { name: "data", namespace: "shop" }, spec: { volumeName: "pv" }, status: { phase: "Bound" } });
    node.cluster.put("pods", boundPod("a", [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]));
    await node.settle();
    expect(node.events.map(({ message }) => message)).toEqual([
      'MountVolume.MountOptionSupport check failed for volume "pv" : mount options are not supported for this volume type',
    ]);
    expect(calls("attach")).toEqual([]);
  });
});
