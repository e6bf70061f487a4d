import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import { parseQuantity } from "@/lib/quantity";
import { createMemoryHost, type MemoryHost, type ProgramAnswer } from "@/server/hosts/memory";
import { isAttachablePlugin } from "@/server/volume/plugin";
import { newFlexVolumePlugin, type FlexVolumePlugin } from "@/server/volume/plugins/flexvolume/plugin";
import { FileError } from "@/server/volume/ports";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";

const driver = "/plugins/example.com~share/share";
const mountDir = "/var/lib/kubelet/pods/u1/volumes/example.com~share/data";
const deviceDir = "/var/lib/kubelet/plugins/kubernetes.io/flexvolume/example.com/share/mounts/data";
const device = "/dev/loop7";
const inline = newSpecFromVolume({ name: "data", flexVolume: { driver: "example.com/share", fsType: "xfs" } });
const persistent = newSpecFromPersistentVolume(
  { metadata: { name: "data" }, spec: { flexVolume: { driver: "example.com/share", fsType: "xfs" }, volumeMode: "Filesystem" } },
  false,
);
const pod: Pod = { metadata: { name: "web", namespace: "shop", uid: "u1" }, spec: { containers: [] } };

type Answers = Readonly<Record<string, ProgramAnswer>>;

async function start(answers: Answers): Promise<{ readonly memory: MemoryHost; readonly plugin: FlexVolumePlugin; commands(): string[] }> {
  const memory = createMemoryHost({ files: { [driver]: { kind: "file", mode: 0o755 } } });
  memory.exec.setFallback(({ args }) => answers[args[0] ?? ""] ?? { output: '{"status":"Not supported"}', exitCode: 1 });
  const runner = { exec: memory.exec, log: memory.log, checkDriver: async () => {}, timeoutMs: 5_000 };
  const plugin = await newFlexVolumePlugin("/plugins", "example.com~share", runner);
  await plugin.init(memory.host);
  return { memory, plugin, commands: () => memory.exec.calls.map(({ args }) => args[0] ?? "") };
}

const ok = '{"status":"Success"}';
const notAttachable = '{"status":"Success","capabilities":{"attach":false}}';

describe("a FlexVolume plugin", () => {
  it("has no attach methods when the driver says so", async () => {
    expect(isAttachablePlugin((await start({ init: ok })).plugin)).toBe(true);
    expect(isAttachablePlugin((await start({ init: notAttachable })).plugin)).toBe(false);
  });

  it("asks the driver to mount once, and removes a folder that the driver left", async () => {
    const { memory, plugin, commands } = await start({ init: notAttachable, mount: ok, unmount: ok });
    const mounter = await plugin.newMounter(inline, pod);
    await memory.files.mkdirAll("/mnt/share", 0o755);
    await mounter?.setUp({});
    expect(memory.exec.calls.at(-1)?.args).toEqual([
      "mount",
      mountDir,
      '{"kubernetes.io/fsType":"xfs","kubernetes.io/pod.name":"web","kubernetes.io/pod.namespace":"shop","kubernetes.io/pod.uid":"u1",' +
        '"kubernetes.io/pvOrVolumeName":"data","kubernetes.io/readwrite":"rw","kubernetes.io/serviceAccount.name":""}',
    ]);
    // What a driver does in its mount command.
    await memory.mounter.mount({ source: "/mnt/share", target: mountDir, fsType: "", options: ["bind"] });
    await mounter?.setUp({});
    expect(commands()).toEqual(["init", "mount"]);

    await memory.mounter.unmount(mountDir);
    const unmounter = await plugin.newUnmounter("data", "u1");
    await unmounter?.tearDown();
    await unmounter?.tearDown();
    expect(commands()).toEqual(["init", "mount", "unmount"]);
    expect(await memory.files.lstat(mountDir)).toBeUndefined();
  });

  it("formats, binds, grows and unmounts a device itself where the driver can't, and asks it for each only once", async () => {
    const { memory, plugin, commands } = await start({ init: ok });
    memory.files.put(device, { kind: "block-device", rdev: "7:7" });
    const disk = memory.blockTools.addDevice(device, { sizeBytes: 1n << 30n });
    if (!isAttachablePlugin(plugin)) throw new Error("the driver attaches");

    const attacher = await plugin.newAttacher();
    expect(await attacher.waitForAttach(persistent, device, pod, 1_000)).toBe(device);
    await attacher.mountDevice(persistent, device, await attacher.getDeviceMountPath(persistent), {});
    await attacher.mountDevice(persistent, device, deviceDir, {});
    const mounter = await plugin.newMounter(persistent, pod);
    await mounter?.setUp({});
    await mounter?.setUp({});
    expect((await memory.mounter.list()).filter((row) => row.device === device).map((row) => row.path)).toEqual([deviceDir, mountDir]);

    disk.sizeBytes = 2n << 30n;
    const options = { volumeSpec: persistent, devicePath: device, deviceMountPath: deviceDir, deviceStagePath: "" };
    expect(await plugin.nodeExpand({ ...options, newSize: parseQuantity("2Gi"), oldSize: parseQuantity("1Gi") })).toBe(true);
    expect((await memory.files.statfs(mountDir)).totalBytes).toBe(2n << 30n);

    await (await plugin.newUnmounter("data", "u1"))?.tearDown();
    const detacher = await plugin.newDetacher();
    await detacher.unmountDevice(deviceDir);
    await detacher.unmountDevice(deviceDir);
    expect((await memory.mounter.list()).filter((row) => row.device === device)).toEqual([]);
    expect(commands()).toEqual(["init", "waitforattach", "getvolumename", "mountdevice", "mount", "expandfs", "unmount", "unmountdevice"]);
  });

  it("gives the volume to the pod's group unless the driver says not to", async () => {
    for (const [fsGroup, gid] of [[true, 2000], [false, 0]] as const) {
      const init = JSON.stringify({ status: "Success", capabilities: { attach: false, fsGroup } });
      const { memory, plugin } = await start({ init, mount: ok });
      await (await plugin.newMounter(inline, pod))?.setUp({ fsGroup: 2000 });
      expect([fsGroup, (await memory.files.stat(mountDir))?.gid]).toEqual([fsGroup, gid]);
    }
  });

  it.each<[string, ProgramAnswer, string]>([
    ["names an error", '{"status":"Failure","message":"no disk"}', "mount command failed, status: Failure, reason: no disk"],
    ["fails and claims success", { output: ok, exitCode: 3 }, "exit status 3"],
    ["is killed", { output: ok, exitCode: undefined, signal: "SIGKILL" }, "signal: killed"],
    ["takes too long", { exitCode: undefined, signal: "SIGKILL", timedOut: true }, "timeout"],
    ["says nothing", "", "unexpected end of JSON input"],
  ])("removes the pod's folder when the driver %s", async (_name, answer, message) => {
    const { memory, plugin } = await start({ init: notAttachable, mount: answer });
    await expect((await plugin.newMounter(inline, pod))?.setUp({})).rejects.toThrow(message);
    expect(await memory.files.lstat(mountDir)).toBeUndefined();
  });

  it("says what the kubelet says of a driver that can't be started, and keeps the cause", async () => {
    const memory = createMemoryHost();
    const missing = new FileError("EACCES", `fork/exec ${driver}: permission denied`, driver);
    memory.exec.setFallback(() => {
      throw missing;
    });
    const runner = { exec: memory.exec, log: memory.log, checkDriver: async () => {}, timeoutMs: 5_000 };
    const made = newFlexVolumePlugin("/plugins", "example.com~share", runner);
    await expect(made).rejects.toMatchObject({ message: "unexpected end of JSON input", cause: missing });
  });

  it("limits every call in time", async () => {
    const { memory, plugin } = await start({ init: ok });
    await plugin.getVolumeName(inline);
    expect(memory.exec.calls.map(({ options }) => options.timeoutMs)).toEqual([5_000, 5_000]);
  });
});
