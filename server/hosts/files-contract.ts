/** The Files port: one suite for every adapter. */
import { describe, expect } from "vitest";
import { casesOf } from "./contract-kit";
import type { Case, ContractFactory } from "./contract-kit";

export function filesContract(factory: ContractFactory): void {
  describe(`files of ${factory.name}`, () => {
    const test = casesOf("files", factory, undefined);
    lookingCases(test);
    readingCases(test);
    writingCases(test);
    directoryCases(test);
    ownerCases(test);
    linkCases(test);
    removingCases(test);
    boundaryCases(test);
  });
}

function lookingCases(test: Case): void {
  test("stat and lstat give undefined for what is missing", async ({ root, ports: { files } }) => {
    expect(await files.stat(`${root}/none`)).toBeUndefined();
    expect(await files.lstat(`${root}/none/below`)).toBeUndefined();
  });

  test("stat tells kind, mode, size and device", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "hello", 0o640);
    const stat = await files.stat(`${root}/f`);
    expect(stat).toMatchObject({ kind: "file", mode: 0o640, sizeBytes: 5n });
    expect(stat?.device).toBe((await files.stat(root))?.device);
    expect(stat?.device).toMatch(/^\d+:\d+$/);
  });

  test("stat follows a link, lstat does not", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await files.symlink("f", `${root}/l`);
    expect((await files.stat(`${root}/l`))?.kind).toBe("file");
    expect((await files.lstat(`${root}/l`))?.kind).toBe("symlink");
  });

  test("a link to nothing is there for lstat and not for stat", async ({ root, ports: { files } }) => {
    await files.symlink("gone", `${root}/l`);
    expect(await files.stat(`${root}/l`)).toBeUndefined();
    expect((await files.lstat(`${root}/l`))?.kind).toBe("symlink");
  });

  test("a look below a file is not a directory", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await expect(files.stat(`${root}/f/x`)).rejects.toMatchObject({ code: "ENOTDIR", message: `stat ${root}/f/x: not a directory` });
  });

  test("readDir sorts by name and tells kinds", async (host) => {
    const { root, ports: { files } } = host;
    await files.writeFile(`${root}/b`, "x", 0o644);
    await files.mkdirAll(`${root}/a`, 0o755);
    await files.symlink("b", `${root}/c`);
    await host.putSpecial(`${root}/d`, "fifo");
    expect(await files.readDir(root)).toEqual([
      { name: "a", kind: "directory" },
      { name: "b", kind: "file" },
      { name: "c", kind: "symlink" },
      { name: "d", kind: "fifo" },
    ]);
  });

  test("readDir of what is missing", async ({ root, ports: { files } }) => {
    await expect(files.readDir(`${root}/none`)).rejects.toMatchObject({
      code: "ENOENT",
      message: `open ${root}/none: no such file or directory`,
      path: `${root}/none`,
    });
  });

  test("readDir of a file", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await expect(files.readDir(`${root}/f`)).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("readDir through a link to a folder", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d/x`, 0o755);
    await files.symlink("d", `${root}/l`);
    expect(await files.readDir(`${root}/l`)).toEqual([{ name: "x", kind: "directory" }]);
  });
}

function readingCases(test: Case): void {
  test("readFile of what is missing", async ({ root, ports: { files } }) => {
    await expect(files.readFile(`${root}/none`)).rejects.toMatchObject({ message: `open ${root}/none: no such file or directory` });
  });

  test("readFile of a folder", async ({ root, ports: { files } }) => {
    await expect(files.readFile(root)).rejects.toMatchObject({ code: "EISDIR", message: `read ${root}: is a directory` });
  });

  test("readFile of a pipe ends at once", async (host) => {
    await host.putSpecial(`${host.root}/p`, "fifo");
    await expect(host.ports.files.readFile(`${host.root}/p`)).rejects.toMatchObject({ code: "ENXIO" });
    expect((await host.ports.files.stat(`${host.root}/p`))?.kind).toBe("fifo");
  });

  test("readText through a chain of links", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/..2026`, 0o755);
    await files.writeFile(`${root}/..2026/f`, "deep", 0o644);
    await files.symlink("..2026", `${root}/..data`);
    await files.symlink("..data/f", `${root}/f`);
    expect(await files.readText(`${root}/f`)).toBe("deep");
  });

  test("links in a circle end", async ({ root, ports: { files } }) => {
    await files.symlink("b", `${root}/a`);
    await files.symlink("a", `${root}/b`);
    await expect(files.readText(`${root}/a`)).rejects.toMatchObject({ code: "ELOOP" });
  });

  test("realPath without links, and the missing part in its error", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d/e`, 0o755);
    await files.symlink(`${root}/d`, `${root}/l`);
    expect(await files.realPath(`${root}/l/e`)).toBe(`${root}/d/e`);
    await expect(files.realPath(`${root}/l/none`)).rejects.toMatchObject({ message: `lstat ${root}/d/none: no such file or directory` });
  });

  test("statfs adds up, and speaks Go's bare words", async ({ root, ports: { files } }) => {
    const info = await files.statfs(root);
    expect(info.totalBytes > 0n && info.freeBytes <= info.totalBytes && info.availableBytes <= info.freeBytes).toBe(true);
    await expect(files.statfs(`${root}/none`)).rejects.toMatchObject({ code: "ENOENT", message: "no such file or directory" });
  });

  test("usage counts what is below", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/u/v`, 0o755);
    const before = await files.usage(`${root}/u`);
    await files.writeFile(`${root}/u/v/f`, new Uint8Array(8192).fill(1), 0o644);
    const after = await files.usage(`${root}/u`);
    expect(before.inodesUsed).toBe(2n);
    expect(after).toEqual({ usedBytes: before.usedBytes + 8192n, inodesUsed: 3n });
  });
}

function writingCases(test: Case): void {
  test("writeFile makes the exact mode whatever the umask", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o666);
    expect((await files.stat(`${root}/f`))?.mode).toBe(0o666);
  });

  test("writeFile replaces content and mode", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "a long content", 0o644);
    await files.writeFile(`${root}/f`, "short", 0o400);
    expect(await files.readText(`${root}/f`)).toBe("short");
    expect((await files.stat(`${root}/f`))?.mode).toBe(0o400);
  });

  test("bytes come back as they were", async ({ root, ports: { files } }) => {
    const bytes = Uint8Array.from([0, 255, 128, 10, 13]);
    await files.writeFile(`${root}/f`, bytes, 0o600);
    expect(await files.readFile(`${root}/f`)).toEqual(bytes);
  });

  test("writeFile onto a folder", async ({ root, ports: { files } }) => {
    await expect(files.writeFile(root, "x", 0o644)).rejects.toMatchObject({ code: "EISDIR", message: `open ${root}: is a directory` });
  });

  test("createFile makes an empty file with the exact mode", async ({ root, ports: { files } }) => {
    await files.createFile(`${root}/f`, 0o666);
    expect(await files.lstat(`${root}/f`)).toMatchObject({ kind: "file", mode: 0o666, sizeBytes: 0n });
  });

  test("createFile leaves whatever is there", async ({ root, ports: { files } }) => {
    const exists = (path: string) => ({ code: "EEXIST", message: `open ${path}: file exists` });
    await files.writeFile(`${root}/f`, "kept", 0o600);
    await files.mkdirAll(`${root}/d`, 0o755);
    await files.symlink("f", `${root}/l`);
    await files.symlink("none", `${root}/n`);
    for (const name of ["f", "d", "l", "n"]) await expect(files.createFile(`${root}/${name}`, 0o644)).rejects.toMatchObject(exists(`${root}/${name}`));
    expect([await files.readText(`${root}/f`), (await files.stat(`${root}/f`))?.mode]).toEqual(["kept", 0o600]);
    expect(await files.lstat(`${root}/none`)).toBeUndefined();
  });

  test("createFile leads through no link, and into no missing folder", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await files.symlink("d", `${root}/l`);
    await expect(files.createFile(`${root}/l/f`, 0o644)).rejects.toMatchObject({ code: "ELOOP" });
    await expect(files.createFile(`${root}/none/f`, 0o644)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await files.readDir(`${root}/d`)).toEqual([]);
  });

  test("writeFile into a missing folder", async ({ root, ports: { files } }) => {
    await expect(files.writeFile(`${root}/none/f`, "x", 0o644)).rejects.toMatchObject({
      message: `open ${root}/none/f: no such file or directory`,
    });
  });

  test("writeFile follows no link, at the end or on the way", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await files.writeFile(`${root}/d/f`, "mine", 0o644);
    await files.symlink("d", `${root}/ld`);
    await files.symlink("d/f", `${root}/lf`);
    await expect(files.writeFile(`${root}/lf`, "x", 0o644)).rejects.toMatchObject({ code: "ELOOP" });
    await expect(files.writeFile(`${root}/ld/f`, "x", 0o644)).rejects.toMatchObject({ code: "ELOOP" });
    expect(await files.readText(`${root}/d/f`)).toBe("mine");
  });

  test("hostile names are ordinary names", async ({ root, ports: { files } }) => {
    const names = ["__proto__", "constructor", "a b", "line\nbreak", "ü€", "-rf", "...", "..x"];
    for (const name of names) await files.writeFile(`${root}/${name}`, name, 0o644);
    expect((await files.readDir(root)).map((entry) => entry.name).sort()).toEqual([...names].sort());
    for (const name of names) expect(await files.readText(`${root}/${name}`)).toBe(name);
  });

  test("a name of 256 bytes is too long", async ({ root, ports: { files } }) => {
    await expect(files.writeFile(`${root}/${"n".repeat(256)}`, "x", 0o644)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
  });
}

function directoryCases(test: Case): void {
  test("mkdirAll makes what is missing, under the umask", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/a/b/c`, 0o777);
    expect((await files.stat(`${root}/a/b`))?.mode).toBe(0o755);
    await files.mkdirAll(`${root}/p`, 0o750);
    expect((await files.stat(`${root}/p`))?.mode).toBe(0o750);
  });

  test("mkdirAll by several at once makes each folder once", async ({ root, ports: { files } }) => {
    const names = Array.from({ length: 12 }, (_, index) => `${root}/shared/deep/${index % 3}/${index}`);
    await Promise.all(names.map((name) => files.mkdirAll(name, 0o750)));
    expect((await files.readDir(`${root}/shared/deep`)).map((entry) => entry.name)).toEqual(["0", "1", "2"]);
  });

  test("mkdirAll leaves what is there", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/a`, 0o700);
    await files.mkdirAll(`${root}/a`, 0o755);
    expect((await files.stat(`${root}/a`))?.mode).toBe(0o700);
  });

  test("mkdirAll onto and below a file", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await expect(files.mkdirAll(`${root}/f`, 0o755)).rejects.toMatchObject({ code: "ENOTDIR", message: `mkdir ${root}/f: not a directory` });
    await expect(files.mkdirAll(`${root}/f/d`, 0o755)).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("mkdirAll takes a link to a folder as there, and makes nothing below it", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await files.symlink("d", `${root}/l`);
    await files.mkdirAll(`${root}/l`, 0o755);
    await expect(files.mkdirAll(`${root}/l/x`, 0o755)).rejects.toMatchObject({ code: "ELOOP" });
    expect(await files.readDir(`${root}/d`)).toEqual([]);
  });

  test("mkdirAll onto a link to nothing", async ({ root, ports: { files } }) => {
    await files.symlink("gone", `${root}/l`);
    await expect(files.mkdirAll(`${root}/l`, 0o755)).rejects.toMatchObject({ code: "EEXIST", message: `mkdir ${root}/l: file exists` });
  });
}

function ownerCases(test: Case): void {
  test("chmod sets every bit, sticky and set-gid too", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await files.chmod(`${root}/d`, 0o3777);
    expect((await files.stat(`${root}/d`))?.mode).toBe(0o3777);
  });

  test("chmod of what is missing", async ({ root, ports: { files } }) => {
    await expect(files.chmod(`${root}/none`, 0o644)).rejects.toMatchObject({ message: `chmod ${root}/none: no such file or directory` });
  });

  test("chmod follows no link", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o600);
    await files.symlink("f", `${root}/l`);
    await expect(files.chmod(`${root}/l`, 0o644)).rejects.toMatchObject({ code: "ELOOP" });
    expect((await files.stat(`${root}/f`))?.mode).toBe(0o600);
  });

  test("chmod of a pipe does not wait for a reader", async (host) => {
    await host.putSpecial(`${host.root}/p`, "fifo");
    await host.ports.files.chmod(`${host.root}/p`, 0o622);
    expect((await host.ports.files.stat(`${host.root}/p`))?.mode).toBe(0o622);
  });

  test("chown with -1 changes nothing", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o640);
    const before = await files.stat(`${root}/f`);
    await files.chown(`${root}/f`, -1, -1);
    expect(await files.stat(`${root}/f`)).toMatchObject({ uid: before?.uid, gid: before?.gid, mode: 0o640 });
  });

  test("chown of what is missing", async ({ root, ports: { files } }) => {
    await expect(files.chown(`${root}/none`, -1, -1)).rejects.toMatchObject({ message: `lchown ${root}/none: no such file or directory` });
  });
}

function linkCases(test: Case): void {
  test("symlink and readLink keep the target as it was written", async ({ root, ports: { files } }) => {
    await files.symlink("../a//b/", `${root}/l`);
    expect(await files.readLink(`${root}/l`)).toBe("../a//b/");
  });

  test("symlink onto something", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await expect(files.symlink("t", `${root}/f`)).rejects.toMatchObject({ code: "EEXIST", message: `symlink t ${root}/f: file exists` });
  });

  test("readLink of a file and of what is missing", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await expect(files.readLink(`${root}/f`)).rejects.toMatchObject({ code: "EINVAL" });
    await expect(files.readLink(`${root}/none`)).rejects.toMatchObject({ message: `readlink ${root}/none: no such file or directory` });
  });

  test("rename replaces a file and a link in one step", async ({ root, ports: { files } }) => {
    await files.symlink("new", `${root}/..data_tmp`);
    await files.symlink("old", `${root}/..data`);
    await files.rename(`${root}/..data_tmp`, `${root}/..data`);
    expect(await files.readLink(`${root}/..data`)).toBe("new");
    expect((await files.readDir(root)).map((entry) => entry.name)).toEqual(["..data"]);
  });

  test("rename of what is missing", async ({ root, ports: { files } }) => {
    await expect(files.rename(`${root}/a`, `${root}/b`)).rejects.toMatchObject({
      code: "ENOENT",
      message: `rename ${root}/a ${root}/b: no such file or directory`,
    });
  });

  test("rename onto a folder with content, and a folder into itself", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/a`, 0o755);
    await files.mkdirAll(`${root}/b/x`, 0o755);
    await expect(files.rename(`${root}/a`, `${root}/b`)).rejects.toMatchObject({ code: "ENOTEMPTY" });
    await expect(files.rename(`${root}/b`, `${root}/b/x/y`)).rejects.toMatchObject({ code: "EINVAL" });
  });

  test("rename leads through no link", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d`, 0o755);
    await files.writeFile(`${root}/f`, "x", 0o644);
    await files.symlink("d", `${root}/l`);
    await expect(files.rename(`${root}/f`, `${root}/l/f`)).rejects.toMatchObject({ code: "ELOOP" });
  });
}

function removingCases(test: Case): void {
  test("unlink takes files and links, not folders", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/f`, "x", 0o644);
    await files.symlink("f", `${root}/l`);
    await files.unlink(`${root}/l`);
    expect(await files.readText(`${root}/f`)).toBe("x");
    await expect(files.unlink(root)).rejects.toMatchObject({ code: "EISDIR" });
    await expect(files.unlink(`${root}/none`)).rejects.toMatchObject({ message: `remove ${root}/none: no such file or directory` });
  });

  test("rmdir takes empty folders only", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d/e`, 0o755);
    await expect(files.rmdir(`${root}/d`)).rejects.toMatchObject({ code: "ENOTEMPTY", message: `remove ${root}/d: directory not empty` });
    await files.rmdir(`${root}/d/e`);
    await files.writeFile(`${root}/f`, "x", 0o644);
    await expect(files.rmdir(`${root}/f`)).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("removeAll takes a tree and leaves what its links name", async ({ root, ports: { files } }) => {
    await files.writeFile(`${root}/keep`, "x", 0o644);
    await files.mkdirAll(`${root}/t/a/b`, 0o755);
    await files.writeFile(`${root}/t/a/b/f`, "x", 0o000);
    await files.symlink("../keep", `${root}/t/l`);
    await files.symlink(root, `${root}/t/up`);
    await files.removeAll(`${root}/t`);
    expect((await files.readDir(root)).map((entry) => entry.name)).toEqual(["keep"]);
  });

  test("removeAll of nothing, of a file, of a link", async ({ root, ports: { files } }) => {
    await files.removeAll(`${root}/none`);
    await files.writeFile(`${root}/f`, "x", 0o644);
    await files.symlink("f", `${root}/l`);
    await files.removeAll(`${root}/l`);
    expect(await files.readText(`${root}/f`)).toBe("x");
    await files.removeAll(`${root}/f`);
    expect(await files.readDir(root)).toEqual([]);
  });

  test("removeAll leads through no link", async ({ root, ports: { files } }) => {
    await files.mkdirAll(`${root}/d/e`, 0o755);
    await files.symlink("d", `${root}/l`);
    await expect(files.removeAll(`${root}/l/e`)).rejects.toMatchObject({ code: "ELOOP" });
    expect((await files.stat(`${root}/d/e`))?.kind).toBe("directory");
  });
}

function boundaryCases(test: Case): void {
  test("nothing outside is looked at or changed", async ({ outside, ports: { files } }) => {
    const refused = { code: "EACCES" };
    await expect(files.stat(outside)).rejects.toMatchObject(refused);
    await expect(files.readDir(outside)).rejects.toMatchObject(refused);
    await expect(files.writeFile(`${outside}/x`, "x", 0o644)).rejects.toMatchObject(refused);
    await expect(files.mkdirAll(`${outside}/x`, 0o755)).rejects.toMatchObject(refused);
    await expect(files.removeAll(outside)).rejects.toMatchObject(refused);
    await expect(files.statfs(outside)).rejects.toMatchObject(refused);
  });

  test("the allowed folder itself is never deleted", async ({ allowedRoot, ports: { files } }) => {
    await expect(files.removeAll(allowedRoot)).rejects.toMatchObject({ code: "EBUSY" });
    expect((await files.stat(allowedRoot))?.kind).toBe("directory");
  });

  test("dots and a name that only begins alike lead nowhere", async ({ allowedRoot, ports: { files } }) => {
    await expect(files.stat(`${allowedRoot}/a/../..`)).rejects.toMatchObject({ code: "EACCES" });
    await expect(files.writeFile(`${allowedRoot}-other`, "x", 0o644)).rejects.toMatchObject({ code: "EACCES" });
  });

  test("a link that leads out is not followed", async ({ root, outside, ports: { files } }) => {
    await files.symlink(outside, `${root}/out`);
    await expect(files.readDir(`${root}/out`)).rejects.toMatchObject({ code: "EACCES" });
    await expect(files.stat(`${root}/out`)).rejects.toMatchObject({ code: "EACCES" });
    await files.removeAll(`${root}/out`);
    expect(await files.lstat(`${root}/out`)).toBeUndefined();
  });
}
