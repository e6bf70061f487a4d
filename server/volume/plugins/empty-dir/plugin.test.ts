import { describe, expect, it } from "vitest";
import type { EmptyDirVolumeSource } from "@/lib/kube/volumes";
import type { Pod } from "@/lib/kube/pods";
import { parseQuantity } from "@/lib/quantity";
import { createMemoryHost, type MemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newSpecFromVolume } from "@/server/volume/spec";

const uid = "0c1d";
const dir = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~empty-dir/cache`;
const readyDir = `/var/lib/kubelet/pods/${uid}/plugins/kubernetes.io~empty-dir/cache`;

const pod: Pod = {
  metadata: { name: "web", namespace: "shop", uid },
  spec: { containers: [{ name: "c", resources: { requests: { "hugepages-2Mi": "4Mi" } } }] },
};

async function start(options: MemoryHostOptions = {}, config = {}) {
  const memory = createMemoryHost({ nodeAllocatable: { memory: "4Gi" }, ...options });
  const plugin = newEmptyDirPlugin(config);
  await plugin.init(memory.host);
  const spec = (emptyDir: EmptyDirVolumeSource | undefined) => newSpecFromVolume({ name: "cache", ...(emptyDir && { emptyDir }) });
  return {
    memory,
    plugin,
    setUp: async (emptyDir?: EmptyDirVolumeSource, fsGroup?: number) => (await plugin.newMounter(spec(emptyDir), pod))?.setUp({ fsGroup }),
    tearDown: async () => (await plugin.newUnmounter("cache", uid))?.tearDown(),
    resize: (emptyDir: EmptyDirVolumeSource, size?: string) =>
      plugin.resizeEphemeralVolume(spec(emptyDir), pod, size === undefined ? undefined : parseQuantity(size)),
  };
}

async function mountsAt(memory: MemoryHost, path: string) {
  return (await memory.mounter.list()).filter((mount) => mount.path === path).map(({ type, options }) => ({ type, options }));
}

describe("set up", () => {
  it.each([
    ["a disk volume", {}, []],
    ["a volume without a source", undefined, []],
    ["memory", { medium: "Memory", sizeLimit: "64Mi" }, ["tmpfs"]],
    ["huge pages", { medium: "HugePages" }, ["hugetlbfs"]],
    ["huge pages of a size", { medium: "HugePages-2Mi" }, ["hugetlbfs"]],
  ])("%s: mounted once however often it is set up, gone after a tear down, which may come twice", async (_, source, types) => {
    const { memory, setUp, tearDown } = await start();
    await setUp(source);
    await setUp(source);
    expect((await mountsAt(memory, dir)).map(({ type }) => type)).toEqual(types);
    expect((await memory.files.stat(`${readyDir}/ready`))?.kind).toBe("file");

    await tearDown();
    await tearDown();
    expect(await mountsAt(memory, dir)).toEqual([]);
    expect(await memory.files.lstat(dir)).toBeUndefined();
    expect(await memory.files.lstat(readyDir)).toBeUndefined();
  });

  it("is writable by everybody, whatever the umask", async () => {
    const { memory, setUp } = await start();
    await setUp({});
    expect((await memory.files.stat(dir))?.mode).toBe(0o777);
  });

  it("keeps the data of a disk volume that was ready", async () => {
    const { memory, setUp } = await start();
    await setUp({});
    await memory.files.writeFile(`${dir}/data`, "kept", 0o644);
    await setUp({});
    expect(await memory.files.readText(`${dir}/data`)).toBe("kept");
  });

  it("makes a ready disk volume again when its directory is gone", async () => {
    const { memory, setUp } = await start();
    await setUp({});
    await memory.files.removeAll(dir);
    await setUp({});
    expect((await memory.files.stat(dir))?.kind).toBe("directory");
  });

  it("mounts memory anew when a reboot left the marker and took the mount", async () => {
    const { memory, setUp } = await start();
    memory.files.seed({ [`${readyDir}/ready`]: "", [dir]: { kind: "directory" } });
    await setUp({ medium: "Memory" });
    expect(await mountsAt(memory, dir)).toHaveLength(1);
  });

  it("leaves no marker when the mount fails", async () => {
    const failure = new Error("no memory");
    const { memory, setUp } = await start({ mountFailures: { mount: () => failure } });
    await expect(setUp({ medium: "Memory" })).rejects.toThrow("no memory");
    expect(await memory.files.lstat(readyDir)).toBeUndefined();
  });

  it("gives the volume to the fsGroup", async () => {
    const { memory, setUp } = await start();
    await setUp({}, 2000);
    expect(await memory.files.stat(dir)).toMatchObject({ gid: 2000, mode: 0o2777 });
  });

  it.each([
    [true, 0o1750],
    [false, 0o777],
  ])("with the gate for modes %s the directory has mode %o", async (emptyDirVolumeMode, mode) => {
    const { memory, setUp } = await start({}, { features: { emptyDirVolumeMode } });
    await setUp({ mode: 0o1750 });
    expect((await memory.files.stat(dir))?.mode).toBe(mode);
  });

  it("asks for noswap where the host can", async () => {
    const { memory, setUp } = await start();
    Object.assign(memory.mounter, { supportsTmpfsNoswap: async () => true });
    await setUp({ medium: "Memory", sizeLimit: "1Mi" });
    expect(memory.mounter.log.actions[0]?.options).toEqual(["size=1048576", "noswap"]);
  });
});

describe("tear down", () => {
  it("reads the medium from the disk: a volume found after a restart has none", async () => {
    const { memory, setUp, plugin } = await start();
    await setUp({ medium: "Memory" });
    const found = await plugin.constructVolumeSpec("cache", dir);
    expect(found.spec?.volume?.emptyDir).toEqual({});
    await (await plugin.newUnmounter("cache", uid))?.tearDown();
    expect(await memory.files.lstat(dir)).toBeUndefined();
  });

  it("deletes nothing while something else is mounted below", async () => {
    const { memory, setUp, tearDown } = await start();
    await setUp({});
    await memory.files.mkdirAll(`${dir}/nested`, 0o755);
    await memory.mounter.mount({ source: "tmpfs", target: `${dir}/nested`, fsType: "tmpfs", options: [] });
    await memory.files.writeFile(`${dir}/nested/data`, "precious", 0o644);
    await expect(tearDown()).rejects.toMatchObject({ code: "EBUSY" });
    expect(await memory.files.readText(`${dir}/nested/data`)).toBe("precious");
  });
});

describe("resize", () => {
  const source = { medium: "Memory", sizeLimit: "64Mi" };

  it("changes the size of the mounted tmpfs and keeps what is in it", async () => {
    const { memory, setUp, resize } = await start();
    await setUp(source);
    await memory.files.writeFile(`${dir}/data`, "kept", 0o644);
    await resize(source, "128Mi");
    expect((await memory.files.statfs(dir)).totalBytes).toBe(128n << 20n);
    expect(await memory.files.readText(`${dir}/data`)).toBe("kept");
    expect(await mountsAt(memory, dir)).toHaveLength(1);
  });

  it.each([
    { what: "a disk volume", emptyDir: {}, size: "1Gi", text: "only memory-backed emptyDir volumes support direct resize" },
    { what: "no size", emptyDir: source, size: undefined, text: "addition or removal of size limit is not supported" },
    { what: "size zero", emptyDir: source, size: "0", text: "addition or removal of size limit is not supported" },
    { what: "a volume that is not mounted", emptyDir: source, size: "1Gi", text: "volume cache is not yet mounted; deferring resize" },
  ])("refuses $what", async ({ emptyDir, size, text }) => {
    const { memory, resize } = await start();
    await expect(resize(emptyDir, size)).rejects.toThrow(text);
    expect(memory.mounter.log.actions).toEqual([]);
  });
});

it("says how much a volume in memory holds", async () => {
  const { memory, setUp, plugin } = await start();
  await setUp({ medium: "Memory", sizeLimit: "1Mi" });
  await memory.files.writeFile(`${dir}/data`, "12345", 0o644);
  const mounter = await plugin.newMounter(newSpecFromVolume({ name: "cache", emptyDir: { medium: "Memory" } }), pod);
  expect(await mounter?.getMetrics()).toMatchObject({ capacityBytes: 1n << 20n });
});
