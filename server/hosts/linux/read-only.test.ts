import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codeOf } from "@/lib/errors";
import { MemoryLog } from "@/server/hosts/memory";
import type { MountInfo } from "@/server/volume/mount";
import { MountReader } from "./mount-reader";
import { parseMountInfo } from "./mount-table";
import { createReadOnlyHost, type ReadOnlyHost, type ReadOnlyHostOptions } from "./read-only";
import { isolatedFolder, removeFolder } from "./test-folder";

class GivenTable extends MountReader {
  constructor(private readonly text: string) {
    super();
  }

  protected override async table(): Promise<readonly MountInfo[]> {
    return parseMountInfo(this.text);
  }
}

let folder = "";
let opened: ReadOnlyHost[] = [];

beforeEach(() => {
  folder = isolatedFolder();
});
afterEach(() => {
  for (const host of opened) host.close();
  opened = [];
  removeFolder(folder);
});

async function open(options: Partial<ReadOnlyHostOptions> = {}): Promise<ReadOnlyHost> {
  const findPluginBySpec = () => Promise.reject(new Error("not asked for"));
  const host = await createReadOnlyHost({ root: folder, nodeName: "node1", log: new MemoryLog(), findPluginBySpec, ...options });
  opened.push(host);
  return host;
}

describe("a node that is only looked at", () => {
  it("reads below its root and links that lead out of it", async () => {
    mkdirSync(`${folder}/root`);
    writeFileSync(`${folder}/outside`, "text");
    symlinkSync(`${folder}/outside`, `${folder}/root/link`);
    const { kubelet } = await open({ root: `${folder}/root` });
    expect(await kubelet.ports.files.readDir(`${folder}/root`)).toEqual([{ name: "link", kind: "symlink" }]);
    expect(await kubelet.ports.files.readText(`${folder}/root/link`)).toBe("text");
    expect((await kubelet.getMounter()?.mountInfo())?.length).toBeGreaterThan(0);
  });

  const ways: readonly [string, string, Readonly<Record<"lstat" | "stat" | "readDir" | "readText", unknown>>][] = [
    ["a file", "file", { lstat: "file", stat: "file", readDir: "ENOTDIR", readText: "text" }],
    ["a folder", "folder", { lstat: "directory", stat: "directory", readDir: ["in"], readText: "EISDIR" }],
    ["a link to a file", "link", { lstat: "symlink", stat: "file", readDir: "ENOTDIR", readText: "text" }],
    ["a way through a link", "folder-link/in", { lstat: "file", stat: "file", readDir: "ENOTDIR", readText: "inner" }],
    ["a link to nowhere", "dangling", { lstat: "symlink", stat: undefined, readDir: "ENOENT", readText: "ENOENT" }],
    ["nothing", "nothing", { lstat: undefined, stat: undefined, readDir: "ENOENT", readText: "ENOENT" }],
    ["nothing in a folder that is missing", "nothing/in/it", { lstat: undefined, stat: undefined, readDir: "ENOENT", readText: "ENOENT" }],
    ["something below a file", "file/in", { lstat: "ENOTDIR", stat: "ENOTDIR", readDir: "ENOTDIR", readText: "ENOTDIR" }],
  ];
  for (const [what, name, expected] of ways) {
    it(`reads ${what} as any host does, also a second time`, async () => {
      mkdirSync(`${folder}/folder`);
      writeFileSync(`${folder}/file`, "text");
      writeFileSync(`${folder}/folder/in`, "inner");
      symlinkSync("file", `${folder}/link`);
      symlinkSync("folder", `${folder}/folder-link`);
      symlinkSync("nowhere", `${folder}/dangling`);
      const { files } = (await open()).kubelet.ports;
      const path = `${folder}/${name}`;
      const read = async () => ({
        lstat: await orCode(async () => (await files.lstat(path))?.kind),
        stat: await orCode(async () => (await files.stat(path))?.kind),
        readDir: await orCode(async () => (await files.readDir(path)).map((entry) => entry.name)),
        readText: await orCode(() => files.readText(path)),
      });
      expect(await read()).toEqual(expected);
      expect(await read()).toEqual(expected);
    });
  }

  it("sees what was made after it was missed", async () => {
    const { files } = (await open()).kubelet.ports;
    expect(await files.lstat(`${folder}/new/in`)).toBeUndefined();
    mkdirSync(`${folder}/new`);
    writeFileSync(`${folder}/new/in`, "");
    expect(await files.lstat(`${folder}/new/in`)).toMatchObject({ kind: "file" });
  });

  it("takes a root that is a link by the name that the mount table has", async () => {
    mkdirSync(`${folder}/data`);
    symlinkSync(`${folder}/data`, `${folder}/kubelet`);
    const { root, kubelet } = await open({ root: `${folder}/kubelet` });
    expect(root).toBe(`${folder}/data`);
    expect(kubelet.getPodsDir()).toBe(`${folder}/data/pods`);
  });

  const roots: readonly [string, (at: string) => void, string][] = [
    ["is missing", () => undefined, "ENOENT"],
    ["is a file", (at) => writeFileSync(at, ""), "ENOTDIR"],
  ];
  for (const [what, make, code] of roots) {
    it(`refuses a root that ${what}`, async () => {
      make(`${folder}/root`);
      await expect(open({ root: `${folder}/root` })).rejects.toMatchObject({ code });
    });
  }

  it("refuses every change with EROFS and changes nothing", async () => {
    writeFileSync(`${folder}/file`, "");
    const { kubelet } = await open();
    const { files, blockTools } = kubelet.ports;
    const mounter = kubelet.getMounter();
    const path = `${folder}/file`;
    const request = { source: "tmpfs", target: folder, fsType: "tmpfs", options: [] };
    const changes = {
      writeFile: () => files.writeFile(path, "x", 0o600),
      mkdirAll: () => files.mkdirAll(`${folder}/d`, 0o755),
      chmod: () => files.chmod(path, 0o600),
      chown: () => files.chown(path, 0, 0),
      createFile: () => files.createFile(`${folder}/f`, 0o644),
      symlink: () => files.symlink(path, `${folder}/l`),
      rename: () => files.rename(path, `${folder}/g`),
      unlink: () => files.unlink(path),
      rmdir: () => files.rmdir(folder),
      removeAll: () => files.removeAll(path),
      mount: () => mounter?.mount(request),
      unmount: () => mounter?.unmount(folder),
      unmountWithForce: () => mounter?.unmountWithForce?.(folder, 1),
      formatAndMount: () => mounter?.formatAndMount(request),
      format: () => blockTools.format(path, "xfs", []),
      check: () => blockTools.check(path, "xfs"),
      grow: () => blockTools.grow(path, folder),
      deviceOpened: () => kubelet.getHostUtil().deviceOpened("/dev/null"),
    };
    const codes = await Promise.all(Object.entries(changes).map(async ([name, change]) => [name, await orCode(change)]));
    expect(Object.fromEntries(codes)).toEqual(Object.fromEntries(Object.keys(changes).map((name) => [name, "EROFS"])));
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("runs no program", async () => {
    const { ports } = (await open()).kubelet;
    await expect(ports.exec.run("true", [], { timeoutMs: 1000 })).rejects.toMatchObject({ code: "EACCES" });
    await expect(ports.files.usage(folder)).rejects.toMatchObject({ code: "EACCES" });
  });

  it("asks no API", async () => {
    const { kubelet } = await open();
    await expect(kubelet.getKubeClient()?.getSecret("a", "b")).rejects.toThrow("asks no API");
    await expect(kubelet.getNodeLabels()).rejects.toThrow("asks no API");
  });

  it("knows a mount by its real name, and keeps the kernel's line", async () => {
    const line = `2 1 0:2 / ${folder}/a\\012b\\040c rw,relatime shared:7 - tmpfs tmp\\043fs rw,size=4k`;
    const { kubelet } = await open({ mounts: new GivenTable(`1 0 0:1 / / rw - ext4 /dev/vda rw\n${line}\n`) });
    expect((await kubelet.getMounter()?.mountInfo())?.[1]).toMatchObject({ mountPoint: `${folder}/a\nb c`, source: "tmp#fs", line });
  });

  it("does not wait for a mount that hangs", async () => {
    const mounts = new GivenTable(`1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / ${folder}/nfs rw - nfs4 srv:/e rw\n`);
    const silent = [process.execPath, "-e", "process.stdin.resume()"] as const;
    const { kubelet } = await open({ mounts, foreignCommand: silent, foreignTimeoutMs: 50 });
    await expect(kubelet.ports.files.statfs(`${folder}/nfs`)).rejects.toMatchObject({ code: "ETIMEDOUT" });
    await expect(kubelet.ports.files.readDir(`${folder}/nfs/below`)).rejects.toMatchObject({ code: "ETIMEDOUT" });
    expect(await kubelet.getMounter()?.isMountPoint(`${folder}/nfs`)).toBe(true);
  });
});

async function orCode(act: () => Promise<unknown> | undefined): Promise<unknown> {
  try {
    return await act();
  } catch (error) {
    return codeOf(error) ?? error;
  }
}
