/** Files on a mount that is taken for a foreign one: the calls go through a child. The mount table is given, not real. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "@/server/hosts/memory";
import type { MountInfo } from "@/server/volume/mount";
import { Access } from "./access";
import { LinuxExec } from "./exec";
import { LinuxFiles } from "./files";
import { ForeignCalls } from "./foreign-call";
import { MountReader } from "./mount-reader";
import { parseMountInfo } from "./mount-table";
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
let files: LinuxFiles;
let foreignCalls: ForeignCalls;

beforeEach(async () => {
  folder = isolatedFolder();
  mkdirSync(join(folder, "nfs"));
  const log = new MemoryLog();
  foreignCalls = new ForeignCalls({ log });
  files = new LinuxFiles({
    access: await Access.create({ root: folder }),
    mounts: new GivenTable(`1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / ${folder}/nfs rw - nfs4 srv:/e rw\n`),
    foreignCalls,
    exec: new LinuxExec(log),
    log,
  });
});
afterEach(() => {
  foreignCalls.close();
  removeFolder(folder);
});

describe("files on a foreign mount", () => {
  it("are made, read, listed and changed through a child", async () => {
    const path = `${folder}/nfs/d/f`;
    await files.mkdirAll(`${folder}/nfs/d`, 0o755);
    await files.createFile(path, 0o644);
    await files.writeFile(path, "far", 0o640);
    await expect(files.createFile(path, 0o644)).rejects.toMatchObject({ code: "EEXIST", message: `open ${path}: file exists` });
    await files.chmod(path, 0o600);
    await files.symlink("f", `${folder}/nfs/d/l`);
    expect(await files.readText(path)).toBe("far");
    expect(await files.stat(path)).toMatchObject({ kind: "file", mode: 0o600, sizeBytes: 3n });
    expect(await files.readDir(`${folder}/nfs/d`)).toEqual([{ name: "f", kind: "file" }, { name: "l", kind: "symlink" }]);
    expect((await files.statfs(path)).totalBytes > 0n).toBe(true);
    expect(foreignCalls.children).toBeGreaterThan(0);
    await files.rename(path, `${folder}/nfs/d/g`);
    await files.unlink(`${folder}/nfs/d/g`);
    await files.unlink(`${folder}/nfs/d/l`);
    await files.rmdir(`${folder}/nfs/d`);
    expect(await files.stat(path)).toBeUndefined();
  });

  it("beside it need no child", async () => {
    writeFileSync(join(folder, "near"), "x");
    expect(await files.readText(`${folder}/near`)).toBe("x");
    expect(foreignCalls.children).toBe(0);
  });

  it("are never deleted recursively, and the mount point is busy", async () => {
    await expect(files.removeAll(`${folder}/nfs/d`)).rejects.toMatchObject({ code: "EBUSY" });
    await expect(files.removeAll(`${folder}/nfs`)).rejects.toMatchObject({ code: "EBUSY" });
    await expect(files.rmdir(`${folder}/nfs`)).rejects.toMatchObject({ code: "EBUSY" });
    expect(foreignCalls.children).toBe(0);
  });

  it("are not renamed across its border", async () => {
    writeFileSync(join(folder, "near"), "x");
    await expect(files.rename(`${folder}/near`, `${folder}/nfs/x`)).rejects.toMatchObject({ code: "EXDEV" });
  });
});
