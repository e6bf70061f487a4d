/** The mount port: one suite for every adapter. */
import { describe, expect } from "vitest";
import type { MountInterface } from "@/server/volume/mount";
import type { Files } from "@/server/volume/ports";
import { casesOf, mebibyte } from "./contract-kit";
import type { Case, ContractFactory, ContractHost } from "./contract-kit";

export function mounterContract(factory: ContractFactory): void {
  describe(`mounter of ${factory.name}`, () => {
    const test = casesOf("mounter", factory, factory.withoutMounts);
    tmpfsCases(test);
    remountCases(test);
    bindCases(test);
    unmountCases(test);
    questionCases(test);
    referenceCases(test);
    refusalCases(test);
  });
}

const tmpfsMagic = 0x01021994n;

/** Mounts a tmpfs on a new folder of the root and gives its path. */
async function tmpfs({ root, mounter, ports: { files } }: ContractHost, name: string, options: readonly string[] = ["size=1m"]): Promise<string> {
  const target = `${root}/${name}`;
  await files.mkdirAll(target, 0o755);
  await mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options });
  return target;
}

function bind(mounter: MountInterface, source: string, target: string): Promise<void> {
  return mounter.mount({ source, target, fsType: "", options: ["bind"] });
}

const sizeOf = async (files: Files, path: string): Promise<bigint> => (await files.statfs(path)).totalBytes;

function tmpfsCases(test: Case): void {
  test("a tmpfs is in the table, once, on its target", async (host) => {
    const target = await tmpfs(host, "t");
    const rows = (await host.mounter.list()).filter((row) => row.path === target);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ device: "tmpfs", type: "tmpfs" });
  });

  test("it has its own device number and magic", async (host) => {
    const target = await tmpfs(host, "t");
    const { files } = host.ports;
    expect((await files.stat(target))?.device).not.toBe((await files.stat(host.root))?.device);
    expect((await files.statfs(target)).type).toBe(tmpfsMagic);
  });

  test("it covers what was there, and gives it back", async (host) => {
    const { root, mounter, ports: { files } } = host;
    await files.mkdirAll(`${root}/t`, 0o755);
    await files.writeFile(`${root}/t/old`, "old", 0o644);
    const target = await tmpfs(host, "t");
    expect(await files.readDir(target)).toEqual([]);
    await files.writeFile(`${target}/new`, "new", 0o644);
    await mounter.unmount(target);
    expect((await files.readDir(target)).map((entry) => entry.name)).toEqual(["old"]);
  });

  test("its root is open to all and sticky, unless a mode is asked", async (host) => {
    const { files } = host.ports;
    expect((await files.stat(await tmpfs(host, "a")))?.mode).toBe(0o1777);
    expect((await files.stat(await tmpfs(host, "b", ["size=1m", "mode=0750"])))?.mode).toBe(0o750);
  });

  test("a size is rounded up to pages", async (host) => {
    expect(await sizeOf(host.ports.files, await tmpfs(host, "t", ["size=10000"]))).toBe(12_288n);
  });

  test("a size may have a unit", async (host) => {
    expect(await sizeOf(host.ports.files, await tmpfs(host, "t", ["size=2m"]))).toBe(2n * mebibyte);
  });

  test("it holds no more than its size", async (host) => {
    const { files } = host.ports;
    const target = await tmpfs(host, "t", ["size=64k"]);
    await expect(files.writeFile(`${target}/f`, new Uint8Array(65_537), 0o644)).rejects.toMatchObject({
      code: "ENOSPC",
      message: `write ${target}/f: no space left on device`,
    });
  });

  test("what is deleted makes room", async (host) => {
    const { files } = host.ports;
    const target = await tmpfs(host, "t", ["size=64k"]);
    await files.writeFile(`${target}/a`, new Uint8Array(49_152), 0o644);
    await files.unlink(`${target}/a`);
    await files.writeFile(`${target}/b`, new Uint8Array(49_152), 0o644);
    expect((await files.stat(`${target}/b`))?.sizeBytes).toBe(49_152n);
  });

  test("options of the mount show in the table", async (host) => {
    const target = await tmpfs(host, "t", ["size=1m", "noexec", "nosuid"]);
    const row = (await host.mounter.mountInfo()).find((each) => each.mountPoint === target);
    expect(row?.mountOptions).toEqual(expect.arrayContaining(["rw", "noexec", "nosuid"]));
    expect(row?.superOptions).toContain("size=1024k");
  });

  test("a read-only tmpfs takes no write", async (host) => {
    const target = await tmpfs(host, "t", ["size=1m", "ro"]);
    await expect(host.ports.files.writeFile(`${target}/f`, "x", 0o644)).rejects.toMatchObject({ code: "EROFS" });
    await expect(host.ports.files.mkdirAll(`${target}/d`, 0o755)).rejects.toMatchObject({ code: "EROFS" });
  });

  test("two on one target lie on one another", async (host) => {
    const { mounter, ports: { files } } = host;
    const target = await tmpfs(host, "t");
    await files.writeFile(`${target}/lower`, "x", 0o644);
    await tmpfs(host, "t");
    expect(await files.readDir(target)).toEqual([]);
    expect((await mounter.list()).filter((row) => row.path === target)).toHaveLength(2);
    await mounter.unmount(target);
    expect((await files.readDir(target)).map((entry) => entry.name)).toEqual(["lower"]);
    expect(await mounter.isMountPoint(target)).toBe(true);
  });

  test("a target with blanks and odd letters", async (host) => {
    const target = await tmpfs(host, "a b\\c\tü");
    expect(await host.mounter.isMountPoint(target)).toBe(true);
    await host.mounter.unmount(target);
    expect(await host.mounter.isMountPoint(target)).toBe(false);
  });
}

function remountCases(test: Case): void {
  const remount = (mounter: MountInterface, target: string, size: string): Promise<void> =>
    mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options: ["remount", `size=${size}`] });

  test("a tmpfs grows and keeps its content", async (host) => {
    const { mounter, ports: { files } } = host;
    const target = await tmpfs(host, "t", ["size=64k"]);
    await files.writeFile(`${target}/f`, "kept", 0o644);
    await remount(mounter, target, "2097152");
    expect(await sizeOf(files, target)).toBe(2n * mebibyte);
    expect(await files.readText(`${target}/f`)).toBe("kept");
    expect((await mounter.list()).filter((row) => row.path === target)).toHaveLength(1);
  });

  test("a tmpfs shrinks to what is above its use", async (host) => {
    const target = await tmpfs(host, "t", ["size=4m"]);
    await host.ports.files.writeFile(`${target}/f`, new Uint8Array(4096), 0o644);
    await remount(host.mounter, target, "1048576");
    expect(await sizeOf(host.ports.files, target)).toBe(mebibyte);
  });

  test("a tmpfs does not shrink below its use, and says so as mount(8) does", async (host) => {
    const target = await tmpfs(host, "t", ["size=4m"]);
    await host.ports.files.writeFile(`${target}/f`, new Uint8Array(2 << 20), 0o644);
    await expect(remount(host.mounter, target, "1048576")).rejects.toMatchObject({
      message: expect.stringContaining(
        `mount failed: exit status 32\nMounting command: mount\nMounting arguments:  -t tmpfs -o remount,size=1048576 tmpfs ${target}\nOutput: mount: ${target}: mount point not mounted or bad option.`,
      ),
    });
    expect(await sizeOf(host.ports.files, target)).toBe(4n * mebibyte);
  });

  test("what is not mounted can't be remounted", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await expect(remount(mounter, `${root}/d`, "1m")).rejects.toMatchObject({ code: "volume-error" });
    expect(await mounter.isMountPoint(`${root}/d`)).toBe(false);
  });

  test("a remount makes a mount read-only and writable again", async (host) => {
    const { mounter, ports: { files } } = host;
    const target = await tmpfs(host, "t");
    await mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options: ["remount", "bind", "ro"] });
    await expect(files.writeFile(`${target}/f`, "x", 0o644)).rejects.toMatchObject({ code: "EROFS" });
    await mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options: ["remount", "bind", "rw"] });
    await files.writeFile(`${target}/f`, "x", 0o644);
    expect(await files.readText(`${target}/f`)).toBe("x");
  });
}

function bindCases(test: Case): void {
  test("a bind shows the same folder", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/s`, 0o755);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, `${root}/s`, `${root}/t`);
    await files.writeFile(`${root}/t/f`, "x", 0o644);
    expect(await files.readText(`${root}/s/f`)).toBe("x");
    expect((await files.stat(`${root}/s/f`))?.inode).toBe((await files.stat(`${root}/t/f`))?.inode);
  });

  test("a read-only bind takes no write, its source does", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/s`, 0o755);
    await files.mkdirAll(`${root}/t`, 0o755);
    await mounter.mount({ source: `${root}/s`, target: `${root}/t`, fsType: "", options: ["bind", "ro"] });
    await expect(files.writeFile(`${root}/t/f`, "x", 0o644)).rejects.toMatchObject({ code: "EROFS" });
    await files.writeFile(`${root}/s/f`, "x", 0o644);
    expect(await files.readText(`${root}/t/f`)).toBe("x");
    expect((await mounter.list()).filter((row) => row.path === `${root}/t`)).toHaveLength(1);
  });

  test("a file binds onto a file", async ({ root, mounter, ports: { files } }) => {
    await files.writeFile(`${root}/s`, "source", 0o644);
    await files.writeFile(`${root}/t`, "target", 0o644);
    await bind(mounter, `${root}/s`, `${root}/t`);
    expect(await files.readText(`${root}/t`)).toBe("source");
    expect(await mounter.isMountPoint(`${root}/t`)).toBe(true);
    await mounter.unmount(`${root}/t`);
    expect(await files.readText(`${root}/t`)).toBe("target");
  });

  test("a folder does not bind onto a file", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/s`, 0o755);
    await files.writeFile(`${root}/t`, "target", 0o644);
    await expect(bind(mounter, `${root}/s`, `${root}/t`)).rejects.toMatchObject({ code: "volume-error" });
    expect(await files.readText(`${root}/t`)).toBe("target");
  });

  test("a bind through a link binds where it ends", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/s`, 0o755);
    await files.writeFile(`${root}/s/f`, "x", 0o644);
    await files.symlink("s", `${root}/l`);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, `${root}/l`, `${root}/t`);
    expect(await files.readText(`${root}/t/f`)).toBe("x");
  });

  test("a bind without a source, and one without a target", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await expect(bind(mounter, `${root}/none`, `${root}/d`)).rejects.toMatchObject({
      message: `mount failed: exit status 32\nMounting command: mount\nMounting arguments:  -o bind ${root}/none ${root}/d\nOutput: mount: ${root}/d: special device ${root}/none does not exist.\n`,
    });
    await expect(bind(mounter, `${root}/d`, `${root}/none`)).rejects.toMatchObject({
      message: expect.stringContaining(`mount: ${root}/none: mount point does not exist.`),
    });
  });

  test("a bind of a mount outlives the first unmount", async (host) => {
    const { root, mounter, ports: { files } } = host;
    const source = await tmpfs(host, "s");
    await files.writeFile(`${source}/f`, "x", 0o644);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, source, `${root}/t`);
    await mounter.unmount(source);
    expect(await files.readText(`${root}/t/f`)).toBe("x");
  });

  test("the table shows a bind's place within its file system", async (host) => {
    const { root, mounter, ports: { files } } = host;
    const source = await tmpfs(host, "s");
    await files.mkdirAll(`${source}/a/b`, 0o755);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, `${source}/a/b`, `${root}/t`);
    expect((await mounter.mountInfo()).find((row) => row.mountPoint === `${root}/t`)?.root).toBe("/a/b");
  });
}

function unmountCases(test: Case): void {
  test("what is not mounted is as good as unmounted", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await mounter.unmount(`${root}/d`);
    expect(await mounter.isMountPoint(`${root}/d`)).toBe(false);
  });

  test("a path where nothing is", async ({ root, mounter }) => {
    await expect(mounter.unmount(`${root}/none`)).rejects.toMatchObject({
      message: `unmount failed: exit status 32\nUnmounting arguments: ${root}/none\nOutput: umount: ${root}/none: no mount point specified.\n`,
    });
  });

  test("a link to a mount point is not unmounted", async (host) => {
    const target = await tmpfs(host, "t");
    await host.ports.files.symlink("t", `${host.root}/l`);
    await host.mounter.unmount(`${host.root}/l`);
    expect(await host.mounter.isMountPoint(target)).toBe(true);
  });

  test("a mount with another below it is busy", async (host) => {
    const outer = await tmpfs(host, "t");
    const inner = await tmpfs(host, "t/in");
    await expect(host.mounter.unmount(outer)).rejects.toMatchObject({ message: expect.stringContaining("target is busy") });
    await host.mounter.unmount(inner);
    await host.mounter.unmount(outer);
    expect(await host.mounter.isMountPoint(outer)).toBe(false);
  });

  test("what is mounted is busy for rmdir and removeAll, and stays whole", async (host) => {
    const { files } = host.ports;
    const target = await tmpfs(host, "d/t");
    await files.writeFile(`${target}/f`, "x", 0o644);
    await expect(files.rmdir(target)).rejects.toMatchObject({ code: "EBUSY" });
    await expect(files.removeAll(target)).rejects.toMatchObject({ code: "EBUSY" });
    await expect(files.removeAll(`${host.root}/d`)).rejects.toMatchObject({ code: "EBUSY" });
    expect(await files.readText(`${target}/f`)).toBe("x");
  });

  test("after the unmount the folder can be removed", async (host) => {
    const target = await tmpfs(host, "d/t");
    await host.mounter.unmount(target);
    await host.ports.files.removeAll(`${host.root}/d`);
    expect(await host.ports.files.readDir(host.root)).toEqual([]);
  });

  test("a mount point can't be renamed", async (host) => {
    const target = await tmpfs(host, "t");
    await expect(host.ports.files.rename(target, `${host.root}/u`)).rejects.toMatchObject({ code: "EBUSY" });
  });

  test("usage stays on its file system", async (host) => {
    const { root, ports: { files } } = host;
    await files.mkdirAll(`${root}/d/in`, 0o755);
    const before = await files.usage(`${root}/d`);
    const target = await tmpfs(host, "d/in");
    await files.writeFile(`${target}/f`, new Uint8Array(8192), 0o644);
    expect((await files.usage(`${root}/d`)).usedBytes <= before.usedBytes).toBe(true);
    expect((await files.usage(target)).usedBytes).toBe(8192n);
  });
}

function questionCases(test: Case): void {
  test("a folder is no mount point, a mount is", async (host) => {
    const { root, mounter, ports: { files } } = host;
    await files.mkdirAll(`${root}/d`, 0o755);
    expect(await mounter.isMountPoint(`${root}/d`)).toBe(false);
    expect(await mounter.isLikelyNotMountPoint(`${root}/d`)).toBe(true);
    const target = await tmpfs(host, "t");
    expect(await mounter.isMountPoint(target)).toBe(true);
    expect(await mounter.isLikelyNotMountPoint(target)).toBe(false);
    expect(await mounter.isMountPoint(`${target}/`)).toBe(true);
  });

  test("a bind within one file system is seen", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/s`, 0o755);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, `${root}/s`, `${root}/t`);
    expect(await mounter.isMountPoint(`${root}/t`)).toBe(true);
    expect(await mounter.isMountPoint(`${root}/s`)).toBe(false);
  });

  test("a folder below a mount is none", async (host) => {
    const target = await tmpfs(host, "t");
    await host.ports.files.mkdirAll(`${target}/d`, 0o755);
    expect(await host.mounter.isMountPoint(`${target}/d`)).toBe(false);
  });

  test("a link to a mount point leads to it", async (host) => {
    await tmpfs(host, "t");
    await host.ports.files.symlink("t", `${host.root}/l`);
    expect(await host.mounter.isMountPoint(`${host.root}/l`)).toBe(true);
  });

  test("a path where nothing is", async ({ root, mounter }) => {
    await expect(mounter.isMountPoint(`${root}/none`)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(mounter.isLikelyNotMountPoint(`${root}/none`)).rejects.toMatchObject({
      code: "ENOENT",
      message: `stat ${root}/none: no such file or directory`,
    });
  });

  test("the table has the root and parents that exist", async ({ mounter }) => {
    const table = await mounter.mountInfo();
    expect(table.some((row) => row.mountPoint === "/")).toBe(true);
    expect(new Set(table.map((row) => row.id)).size).toBe(table.length);
  });

  test("the mount point check can be skipped here", async ({ mounter }) => {
    expect(mounter.canSafelySkipMountPointCheck()).toBe(true);
  });
}

function referenceCases(test: Case): void {
  test("binds of a mount are its references, and it is theirs", async (host) => {
    const { root, mounter, ports: { files } } = host;
    const source = await tmpfs(host, "s");
    await files.mkdirAll(`${root}/a`, 0o755);
    await files.mkdirAll(`${root}/b`, 0o755);
    await bind(mounter, source, `${root}/a`);
    await bind(mounter, source, `${root}/b`);
    expect([...(await mounter.getMountRefs(source))].sort()).toEqual([`${root}/a`, `${root}/b`]);
    expect([...(await mounter.getMountRefs(`${root}/a`))].sort()).toEqual([`${root}/b`, source]);
  });

  test("a folder that is bound has the bind as its reference", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/s`, 0o755);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, `${root}/s`, `${root}/t`);
    expect(await mounter.getMountRefs(`${root}/s`)).toEqual([`${root}/t`]);
  });

  test("a mount of its own has none", async (host) => {
    const a = await tmpfs(host, "a");
    await tmpfs(host, "b");
    expect(await host.mounter.getMountRefs(a)).toEqual([]);
  });

  test("what is missing has none", async ({ root, mounter }) => {
    expect(await mounter.getMountRefs(`${root}/none`)).toEqual([]);
  });

  test("a bind of another folder of the same file system is none", async (host) => {
    const { root, mounter, ports: { files } } = host;
    const source = await tmpfs(host, "s");
    await files.mkdirAll(`${source}/x`, 0o755);
    await files.mkdirAll(`${root}/t`, 0o755);
    await bind(mounter, `${source}/x`, `${root}/t`);
    expect(await mounter.getMountRefs(source)).toEqual([]);
  });
}

function refusalCases(test: Case): void {
  test("a target outside is refused", async ({ outside, mounter }) => {
    const request = { source: "tmpfs", target: outside, fsType: "tmpfs", options: [] };
    await expect(mounter.mount(request)).rejects.toMatchObject({ code: "EACCES" });
    await expect(mounter.unmount(outside)).rejects.toMatchObject({ code: "EACCES" });
    expect((await mounter.list()).some((row) => row.path === outside)).toBe(false);
  });

  test("a bind of what lies outside is refused, through a link too", async ({ root, outside, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/t`, 0o755);
    await files.symlink(outside, `${root}/l`);
    await expect(bind(mounter, outside, `${root}/t`)).rejects.toMatchObject({ code: "EACCES" });
    await expect(bind(mounter, `${root}/l`, `${root}/t`)).rejects.toMatchObject({ code: "EACCES" });
    expect(await mounter.isMountPoint(`${root}/t`)).toBe(false);
  });

  test("a target behind a link is refused", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/d/t`, 0o755);
    await files.symlink("d", `${root}/l`);
    const request = { source: "tmpfs", target: `${root}/l/t`, fsType: "tmpfs", options: [] };
    await expect(mounter.mount(request)).rejects.toMatchObject({ code: "ELOOP" });
    expect(await mounter.isMountPoint(`${root}/d/t`)).toBe(false);
  });

  test("a device nobody allowed is refused", async ({ root, foreignDevice, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/t`, 0o755);
    const request = { source: await foreignDevice(), target: `${root}/t`, fsType: "ext4", options: [] };
    await expect(mounter.mount(request)).rejects.toMatchObject({ code: "EACCES" });
    await expect(mounter.formatAndMount(request)).rejects.toMatchObject({ message: expect.stringContaining("permission denied") });
  });

  test("sensitive options reach mount and are masked in its error", async ({ root, mounter, ports: { files } }) => {
    await files.mkdirAll(`${root}/t`, 0o755);
    const request = { source: "tmpfs", target: `${root}/t`, fsType: "tmpfs", options: ["size=1m"], sensitiveOptions: ["size=secretpassword"] };
    const error: unknown = await mounter.mount(request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining(`Mounting arguments:  -t tmpfs -o size=1m,<masked> tmpfs ${root}/t`) });
    expect(String(error)).not.toContain("secretpassword");
  });
}
