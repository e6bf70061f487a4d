import { describe, expect, it } from "vitest";
import type { NodeReport } from "@/lib/node-report";
import { fileError } from "@/server/hosts/file-errors";
import { nodeHash } from "@/server/hosts/hash";
import { readOnlyFiles, readOnlyMounter } from "@/server/hosts/linux/read-only";
import { createMemoryHost, type MemoryHost, type Seed } from "@/server/hosts/memory";
import { inspectNode } from "@/server/node/inspect";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newKubeletPlugins } from "@/server/volume/plugins";

const root = "/var/lib/kubelet";
const pods = `${root}/pods`;
const csi = `${root}/plugins/kubernetes.io/csi`;
const flexVolumeDir = "/usr/libexec/kubernetes/kubelet-plugins/volume/exec";
const folder: Seed = { kind: "directory" };

const handle = "vol-1";

const data = (over: Readonly<Record<string, string>> = {}): string =>
  JSON.stringify({
    specVolID: "pvc-1",
    volumeHandle: handle,
    driverName: "disk.example.com",
    nodeName: "node1",
    attachmentID: "csi-1",
    volumeLifecycleMode: "Persistent",
    ...over,
  });

interface Tmpfs {
  readonly tmpfs: readonly string[];
}

/** A node in memory that may not be changed: what is mounted is a tmpfs of the driver's. */
async function look(files: Readonly<Record<string, Seed>>, { tmpfs }: Tmpfs = { tmpfs: [] }, prepare: (memory: MemoryHost) => void = () => undefined): Promise<NodeReport> {
  const memory = createMemoryHost({ rootDir: root, nodeName: "node1", files: { [root]: folder, ...files } });
  for (const target of tmpfs) {
    await memory.files.mkdirAll(target, 0o755);
    await memory.mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options: [] });
  }
  prepare(memory);
  const host = memory.host;
  const readOnly = Object.assign(Object.create(host) as typeof host, {
    ports: { ...host.ports, files: readOnlyFiles(memory.files) },
    getMounter: () => readOnlyMounter(memory.mounter),
  });
  const manager = new VolumePluginManager({ clock: memory.clock, log: memory.log });
  await manager.initPlugins(newKubeletPlugins(), undefined, readOnly);
  return inspectNode({ host: readOnly, manager, root, flexVolumeDir });
}

function only<T>(list: readonly T[] | undefined): T {
  const [first] = list ?? [];
  if (first === undefined || list?.length !== 1) throw new Error(`expected one, got ${JSON.stringify(list)}`);
  return first;
}

describe("volumes in pods' folders", () => {
  it("an empty root has nothing to report", async () => {
    expect(await look({})).toMatchObject({
      nodeName: "node1", root, mounter: "none", volumes: [], podFolders: [], leftovers: [], unread: [], otherMounts: [], pluginSockets: [], flexDrivers: [],
    });
  });

  it("a CSI volume is named, with data file, global mount, mounts and use", async () => {
    const path = `${pods}/uid-a/volumes/kubernetes.io~csi/pvc-1`;
    const first = await look({ [`${path}/vol_data.json`]: data() }, { tmpfs: [`${path}/mount`] });
    expect(only(first.volumes)).toMatchObject({
      podUID: "uid-a",
      specName: "pvc-1",
      pluginName: "kubernetes.io/csi",
      uniqueName: "kubernetes.io/csi/disk.example.com^vol-1",
      mode: "Filesystem",
      path,
      dataFile: { path: `${path}/vol_data.json`, driverName: "disk.example.com", volumeHandle: handle, attachmentID: "csi-1" },
      found: true,
      state: "mounted",
      mounts: [{ target: `${path}/mount`, fsType: "tmpfs" }],
    });
    expect(only(first.volumes)).toHaveProperty("capacityBytes");
    expect(only(first.volumes)).not.toHaveProperty("problem");
    expect(only(first.volumes)).not.toHaveProperty("wanted");
    expect(first.leftovers).toEqual([]);
  });

  it("the global mount of its volume belongs to each pod's volume that shows it", async () => {
    const staged = `${csi}/disk.example.com/${nodeHash.sha256Hex(handle)}`;
    const paths = ["uid-a", "uid-b"].map((podUID) => `${pods}/${podUID}/volumes/kubernetes.io~csi/pvc-1`);
    const files = Object.fromEntries(paths.map((path) => [`${path}/vol_data.json`, data()]));
    const report = await look({ ...files, [`${staged}/vol_data.json`]: data() }, { tmpfs: [...paths.map((path) => `${path}/mount`), `${staged}/globalmount`] });
    expect(report.volumes.map(({ deviceMountPath }) => deviceMountPath)).toEqual([`${staged}/globalmount`, `${staged}/globalmount`]);
    expect(report.volumes.map(({ mounts }) => mounts.length)).toEqual([2, 2]);
    expect(report).toMatchObject({ otherMounts: [], leftovers: [] });
  });

  const settled: readonly [string, string, string, Readonly<Record<string, Seed>>][] = [
    ["an emptyDir on disk, by its ready marker", "kubernetes.io~empty-dir", "scratch", { "plugins/kubernetes.io~empty-dir/scratch/ready": "" }],
    ["a configMap, by the ready marker of the emptyDir beneath", "kubernetes.io~configmap", "conf", { "plugins/kubernetes.io~empty-dir/wrapped_conf/ready": "" }],
  ];
  for (const [what, escaped, name, marker] of settled) {
    it(`is set up without a mount: ${what}`, async () => {
      const pod = `${pods}/uid-a`;
      const seeds = Object.fromEntries(Object.entries(marker).map(([path, seed]) => [`${pod}/${path}`, seed]));
      const report = await look({ [`${pod}/volumes/${escaped}/${name}`]: folder, ...seeds });
      expect(only(report.volumes)).toMatchObject({ specName: name, state: "mounted", mounts: [] });
      expect(report.leftovers).toEqual([]);
    });
  }

  it("a plain folder without a ready marker was not set up", async () => {
    const report = await look({ [`${pods}/uid-a/volumes/kubernetes.io~empty-dir/scratch`]: folder });
    expect(only(report.volumes).state).toBe("not mounted");
    expect(only(report.leftovers)).toMatchObject({ podUID: "uid-a", path: `${pods}/uid-a`, why: expect.stringContaining("no ready marker") as string });
  });

  it("subpaths and mounts inside a volume belong to it", async () => {
    const volume = `${pods}/uid-a/volumes/kubernetes.io~projected/token`;
    const targets = [volume, `${volume}/inner`, `${pods}/uid-a/volume-subpaths/token/main/0`];
    const report = await look({}, { tmpfs: targets });
    expect(only(report.volumes).mounts.map(({ target }) => target)).toEqual(targets);
    expect(report.otherMounts).toEqual([]);
  });

  it("a block volume is mapped where its global map has the pod", async () => {
    const devices = `${csi}/volumeDevices`;
    const mapped = [`${devices}/publish/pvc-1/uid-a`, `${devices}/pvc-1/dev/uid-a`];
    const files = { [`${pods}/uid-a/volumeDevices/kubernetes.io~csi/pvc-1`]: { kind: "symlink", target: "/dev/loop0" }, [`${devices}/pvc-1/data/vol_data.json`]: data() } as const;
    const report = await look(files, { tmpfs: mapped });
    expect(only(report.volumes)).toMatchObject({ mode: "Block", state: "mounted", uniqueName: "kubernetes.io/csi/disk.example.com^vol-1", mounts: mapped.map((target) => ({ target })) });
    expect(report.leftovers).toEqual([]);
    expect(only((await look(files)).volumes).state).toBe("not mounted");
  });

  it("what a kubelet no longer has a plugin for keeps its folder and says so", async () => {
    const report = await look({ [`${pods}/uid-a/volumes/kubernetes.io~aws-ebs/old`]: folder });
    expect(only(report.volumes)).toMatchObject({ pluginName: "kubernetes.io/aws-ebs", problem: "no volume plugin matched name: kubernetes.io/aws-ebs" });
  });

  it("a volume of a FlexVolume driver that is not there says in which folder it was looked for", async () => {
    const report = await look({}, { tmpfs: [`${pods}/uid-a/volumes/acme~share/docs`] });
    expect(only(report.volumes).problem).toBe(`no volume plugin matched name: acme/share; no FlexVolume driver of this name lies in ${flexVolumeDir}`);
  });

  it("a volume of a listed FlexVolume driver is no problem, though nothing was run", async () => {
    const path = `${pods}/uid-a/volumes/acme~share/docs`;
    const driver: Seed = { kind: "file", mode: 0o755 };
    const report = await look({ [`${flexVolumeDir}/acme~share/share`]: driver }, { tmpfs: [path] });
    expect(only(report.volumes)).toMatchObject({ pluginName: "acme/share", state: "mounted" });
    expect(only(report.volumes)).not.toHaveProperty("problem");
    expect(report.flexDrivers).toEqual([{ name: "acme/share", path: `${flexVolumeDir}/acme~share/share` }]);
  });
});

describe("what is broken", () => {
  it("a data file that is no JSON is a problem of its volume alone, and its mount is still seen", async () => {
    const path = `${pods}/uid-a/volumes/kubernetes.io~csi/pvc-1`;
    const report = await look({ [`${path}/vol_data.json`]: '{"driverName": "x' }, { tmpfs: [`${path}/mount`, `${pods}/uid-b/volumes/kubernetes.io~secret/s`] });
    const [broken, sound] = report.volumes;
    expect(broken).toMatchObject({ state: "mounted", dataFile: { path: `${path}/vol_data.json` }, problem: expect.stringContaining("failed to parse volume data file") as string });
    expect(broken?.dataFile).not.toHaveProperty("driverName");
    expect(sound).not.toHaveProperty("problem");
  });

  it("a folder that can't be read is listed with the reason, once, and the rest is there", async () => {
    const closed = `${pods}/uid-a/volumes`;
    const report = await look({ [closed]: folder }, { tmpfs: [`${pods}/uid-b/volumes/kubernetes.io~secret/s`] }, ({ files }) => {
      files.failOn("open", closed, fileError("open", closed, "EACCES"));
    });
    expect(report.unread).toEqual([{ path: closed, why: `open ${closed}: permission denied` }]);
    expect(only(report.volumes).podUID).toBe("uid-b");
    expect(report.podFolders?.map(({ podUID }) => podUID)).toEqual(["uid-a", "uid-b"]);
  });

  it("no link is followed, and what is no folder counts as none: both are named", async () => {
    const link = (target: string): Seed => ({ kind: "symlink", target });
    const odd: Readonly<Record<string, string>> = {
      [`${csi}/link`]: "a link lies where a folder belongs: it is not looked into",
      [`${pods}/a-file`]: "a file lies where a folder belongs: it is not looked into",
      [`${pods}/a-link`]: "a link lies where a folder belongs: it is not looked into",
      [`${pods}/uid-a/volumes/kubernetes.io~link`]: "a link lies where a folder belongs: it is not looked into",
      [`${pods}/uid-a/volumes/kubernetes.io~secret/s`]: "a link lies where a folder belongs: it is not looked into",
      [`${pods}/uid-b/volumes`]: "a link lies where a folder belongs: it is not looked into",
      [`${pods}/uid-c/volumeDevices/kubernetes.io~csi/pvc-1`]: "a folder lies where a link belongs: it is not looked into",
    };
    const report = await look({
      "/etc/kubernetes.io~configmap/passwd/x": "1",
      [`${csi}/link`]: link("/etc"),
      [`${pods}/a-file`]: "",
      [`${pods}/a-link`]: link("/etc"),
      [`${pods}/uid-a/volumes/kubernetes.io~link`]: link("/etc"),
      [`${pods}/uid-a/volumes/kubernetes.io~secret/s`]: link("/etc"),
      [`${pods}/uid-b/volumes`]: link("/etc"),
      [`${pods}/uid-c/volumeDevices/kubernetes.io~csi/pvc-1`]: folder,
    });
    expect(report.volumes).toEqual([]);
    expect(report.podFolders?.map(({ podUID }) => podUID)).toEqual(["uid-a", "uid-b", "uid-c"]);
    expect(Object.fromEntries(report.unread?.map(({ path, why }) => [path, why]) ?? [])).toEqual(odd);
  });

  it("use that can't be asked in time is a problem, and the volume stays mounted", async () => {
    const path = `${pods}/uid-a/volumes/kubernetes.io~nfs/share`;
    const report = await look({}, { tmpfs: [path] }, ({ files }) => files.failOn("statfs", path, fileError("statfs", path, "ETIMEDOUT")));
    expect(only(report.volumes)).toMatchObject({ state: "mounted", problem: expect.stringContaining("connection timed out") as string });
  });

  it("hostile names stay names", async () => {
    const names = ["__proto__", "constructor", "a\nb\u001b[31m"];
    const report = await look(Object.fromEntries(names.map((name) => [`${pods}/${name}/volumes/kubernetes.io~configmap/${name}`, folder])));
    expect(report.volumes.map(({ podUID, specName }) => [podUID, specName]).sort()).toEqual(names.map((name) => [name, name]).sort());
  });

  it("a data file that names a path outside of the root leads nowhere", async () => {
    const path = `${pods}/uid-a/volumes/kubernetes.io~csi/pvc-1`;
    const report = await look({ [`${path}/vol_data.json`]: data({ driverName: "../../../../../etc", specVolID: "../../x" }) }, { tmpfs: [`${path}/mount`] });
    expect(only(report.volumes)).toMatchObject({ specName: "pvc-1", state: "mounted" });
    expect(only(report.volumes)).not.toHaveProperty("deviceMountPath");
  });
});

describe("leftovers", () => {
  it("a pod folder with nothing mounted is one line", async () => {
    const volumes = `${pods}/uid-gone/volumes`;
    const report = await look({ [`${volumes}/kubernetes.io~secret/s`]: folder, [`${volumes}/kubernetes.io~csi/pvc-1/vol_data.json`]: data() });
    expect(report.leftovers).toEqual([{ podUID: "uid-gone", path: `${pods}/uid-gone`, why: "nothing stands behind its 2 volumes" }]);
  });

  it("a volume folder without a mount beside mounted ones is named itself", async () => {
    const volumes = `${pods}/uid-a/volumes`;
    const report = await look({ [`${volumes}/kubernetes.io~csi/pvc-1/vol_data.json`]: data() }, { tmpfs: [`${volumes}/kubernetes.io~secret/s`] });
    expect(report.leftovers).toEqual([
      { podUID: "uid-a", path: `${volumes}/kubernetes.io~csi/pvc-1`, why: `vol_data.json is there, and nothing is mounted at ${volumes}/kubernetes.io~csi/pvc-1/mount` },
    ]);
  });

  it("a pod without volume folders is none", async () => {
    expect((await look({ [`${pods}/uid-static/etc-hosts`]: "127.0.0.1 localhost\n" })).leftovers).toEqual([]);
  });

  it("a global mount that no pod uses, mounted or only as a data file", async () => {
    const mounted = `${csi}/disk.example.com/aa/globalmount`;
    const staged = `${csi}/disk.example.com/bb`;
    const device = `${csi}/volumeDevices/pvc-9`;
    const report = await look({ [`${staged}/vol_data.json`]: data(), [`${device}/data/vol_data.json`]: "[]" }, { tmpfs: [mounted] });
    expect(report.leftovers).toMatchObject([
      { path: mounted, why: "mounted, and no volume in a pod's folder uses it" },
      { path: staged, why: "nothing is staged there; its vol_data.json names volume vol-1 of driver disk.example.com" },
      { path: device, why: expect.stringMatching(/^no pod maps it; .*failed to parse volume data file/) as string },
    ]);
    expect(report.otherMounts.map(({ target }) => target)).toEqual([mounted]);
  });
});

describe("sockets and drivers", () => {
  it("sockets are listed as the kubelet's watcher sees them, with the driver their path names", async () => {
    const socket: Seed = { kind: "socket" };
    const report = await look({
      [`${root}/plugins_registry/disk.example.com-reg.sock`]: socket,
      [`${root}/plugins_registry/more/gpu.sock`]: socket,
      [`${root}/plugins_registry/.hidden.sock`]: socket,
      [`${root}/plugins_registry/readme`]: "",
      [`${root}/plugins/disk.example.com/csi.sock`]: socket,
    });
    expect(report.pluginSockets).toEqual([
      { path: `${root}/plugins_registry/disk.example.com-reg.sock`, driver: "disk.example.com" },
      { path: `${root}/plugins_registry/more/gpu.sock` },
      { path: `${root}/plugins/disk.example.com/csi.sock`, driver: "disk.example.com" },
    ]);
  });

  const drivers: readonly [string, Readonly<Record<string, Seed>>, string | undefined][] = [
    ["an executable is well", { "acme~share/share": { kind: "file", mode: 0o755 } }, undefined],
    ["its executable is missing", { "acme~share": folder }, "the driver's executable is missing"],
    ["its executable is a directory", { "acme~share/share": folder }, "the driver's executable is a directory"],
    ["its file may not be executed", { "acme~share/share": { kind: "file", mode: 0o644 } }, "the driver's executable may not be executed"],
  ];
  for (const [what, files, problem] of drivers) {
    it(`a FlexVolume driver: ${what}`, async () => {
      const report = await look(Object.fromEntries(Object.entries(files).map(([path, seed]) => [`${flexVolumeDir}/${path}`, seed])));
      expect(only(report.flexDrivers)).toEqual({ name: "acme/share", path: `${flexVolumeDir}/acme~share/share`, ...(problem === undefined ? {} : { problem }) });
    });
  }
});
