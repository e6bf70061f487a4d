import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { createMemoryHost, type Seed } from "@/server/hosts/memory";
import type { VolumeConfig } from "@/server/volume/plugin";
import { checkHostPathType } from "@/server/volume/plugins/host-path-type";
import { newHostPathPlugin } from "@/server/volume/plugins/host-path";
import { FileError } from "@/server/volume/ports";
import { newSpecFromPersistentVolume, newSpecFromVolume } from "@/server/volume/spec";

const path = "/srv/data";
const kinds: Readonly<Record<string, Seed>> = {
  directory: { kind: "directory" },
  file: "content",
  socket: { kind: "socket" },
  "character device": { kind: "char-device" },
  "block device": { kind: "block-device" },
};

async function start(files: Readonly<Record<string, Seed>> = {}, config: VolumeConfig = {}) {
  const memory = createMemoryHost({ files });
  const plugin = newHostPathPlugin(config);
  await plugin.init(memory.host);
  const mounter = (type?: string, at = path) => plugin.newMounter(newSpecFromVolume({ name: "v", hostPath: { path: at, type } }), undefined);
  return { memory, plugin, mounter, setUp: async (type?: string) => (await mounter(type))?.setUp({}) };
}

const persistentVolume = (hostPath: string): PersistentVolume => ({ metadata: { name: "pv" }, spec: { hostPath: { path: hostPath } } });

describe("types", () => {
  const fitting: Readonly<Record<string, readonly string[]>> = {
    directory: ["", "Directory", "DirectoryOrCreate"],
    file: ["", "File", "FileOrCreate"],
    socket: ["", "Socket"],
    "character device": ["", "CharDevice"],
    "block device": ["", "BlockDevice"],
    missing: ["", "DirectoryOrCreate", "FileOrCreate"],
  };
  const types = ["", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket", "CharDevice", "BlockDevice"];
  const cases = Object.keys(fitting).flatMap((what) => types.map((type) => ({ what, type, fits: fitting[what]?.includes(type) ?? false })));

  it.each(cases)("$what as '$type': $fits", async ({ what, type, fits }) => {
    const seed = kinds[what];
    const { setUp } = await start(seed === undefined ? { "/srv": { kind: "directory" } } : { [path]: seed });
    const done = setUp(type);
    if (fits) await expect(done).resolves.toBeUndefined();
    else await expect(done).rejects.toThrow(/^hostPath type check failed/);
  });

  it.each([
    ["/etc", {}],
    ["/etc/none", {}],
    ["/allowed/link", { "/allowed/link": { kind: "symlink", target: "/etc" } }],
  ] satisfies [string, Record<string, Seed>][])("a path of the node that nobody allowed is refused whatever the type: %s", async (at, files) => {
    const memory = createMemoryHost({ allowedPaths: ["/var/lib/kubelet", "/allowed"], files: { "/etc": { kind: "directory" }, "/allowed": { kind: "directory" }, ...files } });
    const plugin = newHostPathPlugin();
    await plugin.init(memory.host);
    for (const type of [undefined, ...types]) {
      const mounter = await plugin.newMounter(newSpecFromVolume({ name: "v", hostPath: { path: at, type } }), undefined);
      await expect(mounter?.setUp({})).rejects.toThrow(/^hostPath \/.* may not be used on this node: .*outside the data folder and not allowed/);
    }
    const allowed = await plugin.newMounter(newSpecFromVolume({ name: "v", hostPath: { path: "/allowed/none" } }), undefined);
    await expect(allowed?.setUp({})).resolves.toBeUndefined();
  });

  it("says what was found", async () => {
    const { setUp } = await start({ [path]: { kind: "directory" } });
    await expect(setUp("Socket")).rejects.toThrow(`hostPath type check failed: ${path} is not a socket file, it's a Directory`);
  });

  it("refuses a type that is none", async () => {
    await expect((await start()).setUp("constructor")).rejects.toThrow("constructor is an invalid volume type");
  });

  it.each([
    ["DirectoryOrCreate", { kind: "directory", mode: 0o755 }],
    ["FileOrCreate", { kind: "file", mode: 0o644 }],
  ])("%s makes what is missing, once", async (type, made) => {
    const { memory, setUp } = await start({ "/srv": { kind: "directory" } });
    await setUp(type);
    await setUp(type);
    expect(await memory.files.stat(path)).toMatchObject(made);
  });

  it.each([
    ["a link on the way", { "/srv": { kind: "directory" }, "/link": { kind: "symlink", target: "/srv" } }, "/link/new", "/srv/new"],
    ["a link that points nowhere", { "/link": { kind: "symlink", target: "srv/new" }, "/srv": { kind: "directory" } }, "/link", "/srv/new"],
  ] satisfies [string, Record<string, Seed>, string, string][])("makes a file through %s", async (...[, files, at, made]) => {
    const { memory, mounter } = await start(files);
    await (await mounter("FileOrCreate", at))?.setUp({});
    expect((await memory.files.lstat(made))?.kind).toBe("file");
  });

  it("leaves a file that comes between the look and the making as it is", async () => {
    const { memory } = await start({ [path]: "precious" });
    const hostUtils = new Proxy(memory.hostUtils, { get: (target, name) => (name === "pathExists" ? async () => false : Reflect.get(target, name).bind(target)) });
    const tools = { files: memory.files, hostUtils };
    await expect(checkHostPathType(tools, path, "FileOrCreate")).resolves.toBeUndefined();
    expect(await memory.files.readText(path)).toBe("precious");
    await expect(checkHostPathType(tools, "/srv", "FileOrCreate")).rejects.toThrow("/srv is not a file, it's a Directory");
  });

  it("never empties a file that can't be looked at", async () => {
    const { memory, setUp } = await start({ [path]: "precious" });
    memory.files.failOn("stat", path, new FileError("ETIMEDOUT", "stat: timed out", path));
    await expect(setUp("FileOrCreate")).rejects.toThrow("timed out");
    expect(await memory.files.readText(path)).toBe("precious");
  });
});

it("refuses a path with steps back", async () => {
  const mounter = await (await start()).mounter("", "/no/backsteps/allowed/..");
  await expect(mounter?.setUp({})).rejects.toThrow("invalid HostPath `/no/backsteps/allowed/..`: must not contain '..'");
});

it("tears nothing down", async () => {
  const { memory, plugin } = await start({ [path]: "content" });
  await (await plugin.newUnmounter("v", "u"))?.tearDown();
  expect(await memory.files.readText(path)).toBe("content");
});

it("a read-only persistent volume is read-only", async () => {
  const { plugin } = await start();
  const mounter = await plugin.newMounter(newSpecFromPersistentVolume(persistentVolume(path), true), undefined);
  expect(mounter?.getAttributes()).toEqual({ readOnly: true, managed: false, seLinuxRelabel: false });
});

describe("delete", () => {
  it("removes what lies below /tmp, and twice is fine", async () => {
    const { memory, plugin } = await start({ "/tmp/scratch/file": "x" });
    const deleter = await plugin.newDeleter(newSpecFromPersistentVolume(persistentVolume("/tmp/scratch"), false));
    await deleter.delete();
    await deleter.delete();
    expect(await memory.files.lstat("/tmp/scratch")).toBeUndefined();
  });

  it.each(["/tmp", "/tmp/", "/nottmp", "/srv/data", "/tmp/../srv/data"])("refuses %s", async (target) => {
    const { memory, plugin } = await start({ "/srv/data/file": "precious" });
    const deleter = await plugin.newDeleter(newSpecFromPersistentVolume(persistentVolume(target), false));
    await expect(deleter.delete()).rejects.toThrow("host_path deleter");
    expect(await memory.files.readText("/srv/data/file")).toBe("precious");
  });
});

describe("provision", () => {
  const pvc: PersistentVolumeClaim = {
    metadata: { name: "claim", namespace: "shop" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  const options = { persistentVolumeReclaimPolicy: "Delete", mountOptions: [], pvName: "pv-1", pvc, parameters: {} };

  it("is off unless a controller turns it on", async () => {
    await expect((await start()).plugin.newProvisioner(options)).rejects.toThrow('provisioning in volume plugin "kubernetes.io/host-path" is disabled');
  });

  it("makes a directory and describes it", async () => {
    const { memory, plugin } = await start({}, { provisioningEnabled: true });
    const made = await (await plugin.newProvisioner(options)).provision(undefined);
    expect(made).toMatchObject({
      metadata: { name: "pv-1", annotations: { "kubernetes.io/createdby": "hostpath-dynamic-provisioner" } },
      spec: { persistentVolumeReclaimPolicy: "Delete", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
    });
    expect(await memory.files.stat(made.spec.hostPath?.path ?? "")).toMatchObject({ kind: "directory", mode: 0o750 });
  });

  it("makes no block volumes", async () => {
    const { plugin } = await start({}, { provisioningEnabled: true });
    const block = { ...options, pvc: { ...pvc, spec: { ...pvc.spec, volumeMode: "Block" } } };
    await expect((await plugin.newProvisioner(block)).provision(undefined)).rejects.toThrow("kubernetes.io/host-path does not support block volume provisioning");
  });
});
