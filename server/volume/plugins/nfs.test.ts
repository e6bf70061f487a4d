import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import type { NFSVolumeSource } from "@/lib/kube/volumes";
import { createMemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { newNFSPlugin } from "@/server/volume/plugins/nfs";
import { newSpecFromPersistentVolume, newSpecFromVolume, type Spec } from "@/server/volume/spec";

const pod: Pod = { metadata: { name: "web", uid: "u" }, spec: { containers: [] } };
const dir = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~nfs/v";
const nfs: NFSVolumeSource = { server: "srv", path: "/exports/a" };

async function start(spec: Spec, options: MemoryHostOptions = {}) {
  const memory = createMemoryHost(options);
  const plugin = newNFSPlugin();
  await plugin.init(memory.host);
  return {
    memory,
    setUp: async () => (await plugin.newMounter(spec, pod))?.setUp({ fsGroup: 2000 }),
    tearDown: async () => (await plugin.newUnmounter("v", "u"))?.tearDown(),
  };
}

const inline = (source: Partial<NFSVolumeSource> = {}) => newSpecFromVolume({ name: "v", nfs: { ...nfs, ...source } });
const persistent = (mountOptions: string[], readOnly: boolean) =>
  newSpecFromPersistentVolume({ metadata: { name: "v" }, spec: { nfs, mountOptions } }, readOnly);

it("mounts once, unmounts, and leaves no directory", async () => {
  const { memory, setUp, tearDown } = await start(inline());
  await setUp();
  await setUp();
  expect((await memory.mounter.list()).filter(({ path }) => path === dir)).toMatchObject([{ device: "srv:/exports/a", type: "nfs" }]);
  await tearDown();
  await tearDown();
  expect(await memory.files.lstat(dir)).toBeUndefined();
});

describe("the call", () => {
  it.each([
    { case: "plain", spec: inline(), source: "srv:/exports/a", options: [] },
    { case: "an IPv6 server", spec: inline({ server: "::1" }), source: "[::1]:/exports/a", options: [] },
    { case: "an IPv6 server with a zone", spec: inline({ server: "fe80::1%eth0" }), source: "fe80::1%eth0:/exports/a", options: [] },
    { case: "read-only inline", spec: inline({ readOnly: true }), source: "srv:/exports/a", options: ["ro"] },
    { case: "options of the volume, in order and once", spec: persistent(["soft", "nfsvers=4", "soft"], true), source: "srv:/exports/a", options: ["nfsvers=4", "ro", "soft"] },
  ])("$case", async ({ spec, source, options }) => {
    const { memory, setUp } = await start(spec);
    await setUp();
    expect(memory.mounter.log.actions).toEqual([{ op: "mount", source, target: dir, fsType: "nfs", options }]);
  });
});

it("a mount that fails leaves no directory and its own error", async () => {
  const { memory, setUp } = await start(inline(), { mountFailures: { mount: () => new Error("No such device") } });
  await expect(setUp()).rejects.toThrow("No such device");
  expect(await memory.files.lstat(dir)).toBeUndefined();
});

it("changes no owner: the server decides", async () => {
  const { memory, setUp } = await start(inline());
  await setUp();
  expect((await memory.files.stat(dir))?.gid).toBe(0);
});
