/** Somebody swaps folders for links, or mounts, while we work. */
import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codeOf } from "@/lib/errors";
import { MemoryLog } from "@/server/hosts/memory";
import type { MountInfo } from "@/server/volume/mount";
import { Access } from "./access";
import { LinuxExec } from "./exec";
import { LinuxFiles } from "./files";
import { ForeignCalls } from "./foreign-call";
import { MountReader } from "./mount-reader";
import { parseMountInfo } from "./mount-table";
import { isolatedFolder, removeFolder } from "./test-folder";

let folder = "";
let outside = "";

beforeEach(() => {
  folder = isolatedFolder();
  outside = join(folder, "outside");
  mkdirSync(outside);
  mkdirSync(join(folder, "data/pods/dir"), { recursive: true });
});
afterEach(() => removeFolder(folder));

async function filesWith(mounts: MountReader, log = new MemoryLog()): Promise<LinuxFiles> {
  const access = await Access.create({ root: join(folder, "data") });
  return new LinuxFiles({ access, mounts, foreignCalls: new ForeignCalls({ log }), exec: new LinuxExec(log), log });
}

describe("a folder that is swapped for a link while files are written", () => {
  it("never leads a write, a new folder or a delete outside", async () => {
    const files = await filesWith(new MountReader());
    const pods = join(folder, "data/pods");
    writeFileSync(join(outside, "precious"), "x");
    symlinkSync(outside, join(pods, "link"));
    const swap = setInterval(() => {
      renameSync(join(pods, "dir"), join(pods, "tmp"));
      renameSync(join(pods, "link"), join(pods, "dir"));
      renameSync(join(pods, "tmp"), join(pods, "link"));
    }, 0);
    const results: PromiseSettledResult<void>[] = [];
    for (let round = 0; round < 150; round += 1) {
      results.push(
        ...(await Promise.allSettled([
          files.writeFile(join(pods, `dir/f${round}`), "x", 0o644),
          files.mkdirAll(join(pods, `dir/d${round}`), 0o755),
          files.removeAll(join(pods, "dir/precious")),
          files.chmod(join(pods, "dir/precious"), 0o777),
        ])),
      );
    }
    clearInterval(swap);
    const codes = new Set(results.map((result) => (result.status === "rejected" ? codeOf(result.reason) : "done")));
    // Both sides were met, or the test proves nothing.
    expect(codes).toContain("done");
    expect(codes).toContain("ELOOP");
    expect(readdirSync(outside)).toEqual(["precious"]);
  });
});

describe("a delete that an earlier process did not finish", () => {
  it("is finished by the next delete beside it", async () => {
    const pods = join(folder, "data/pods");
    mkdirSync(join(pods, ".voldeck-removed-00000000-1111-2222-3333-444444444444/x"), { recursive: true });
    mkdirSync(join(pods, ".voldeck-removed-by-a-person"));
    const files = await filesWith(new MountReader());
    await files.removeAll(join(pods, "gone"));
    expect(readdirSync(pods)).toEqual([".voldeck-removed-by-a-person", "dir"]);
  });
});

describe("a moved tree that can't be deleted", () => {
  const left = ".voldeck-removed-00000000-1111-2222-3333-444444444444";
  /** Shows a mount below what an earlier process left. */
  class MountBelow extends MountReader {
    protected override async table(): Promise<readonly MountInfo[]> {
      return parseMountInfo(`1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / ${folder}/data/pods/${left}/x rw - tmpfs tmpfs rw\n`);
    }
  }

  it("is told in the log, once, and does not fail the delete beside it", async () => {
    const pods = join(folder, "data/pods");
    mkdirSync(join(pods, left, "x"), { recursive: true });
    mkdirSync(join(pods, "other"));
    const log = new MemoryLog();
    const files = await filesWith(new MountBelow(), log);
    await files.removeAll(join(pods, "dir"));
    await files.removeAll(join(pods, "other"));
    expect(readdirSync(pods)).toEqual([left]);
    const path = join(pods, left);
    expect(log.entries).toEqual([
      { level: "warn", message: "a removed folder is left", fields: { path, error: `unlinkat ${path}: device or resource busy` } },
    ]);
  });

  it("is told where it can't be put back", async () => {
    const pods = join(folder, "data/pods");
    mkdirSync(join(pods, "dir/in"));
    /** Shows a mount in what was moved aside, once somebody else has taken its place. */
    class Taken extends MountReader {
      protected override async table(): Promise<readonly MountInfo[]> {
        const aside = readdirSync(pods).find((name) => name.startsWith(".voldeck-removed-"));
        const root = "1 0 0:1 / / rw - ext4 /dev/vda rw\n";
        if (aside === undefined) return parseMountInfo(root);
        mkdirSync(join(pods, "dir/new"), { recursive: true });
        return parseMountInfo(`${root}2 1 0:2 / ${pods}/${aside}/in rw - tmpfs tmpfs rw\n`);
      }
    }
    const log = new MemoryLog();
    const files = await filesWith(new Taken(), log);
    await expect(files.removeAll(join(pods, "dir"))).rejects.toMatchObject({ code: "EBUSY" });
    expect(log.entries).toMatchObject([{ level: "warn", message: "a removed folder is left", fields: { error: expect.stringContaining("ENOTEMPTY") } }]);
  });
});

describe("a mount that comes while a tree is being deleted", () => {
  /** Shows a mount in the tree from the moment that it was moved aside. */
  class LateMount extends MountReader {
    protected override async table(): Promise<readonly MountInfo[]> {
      const aside = readdirSync(join(folder, "data/pods")).find((name) => name.startsWith(".voldeck-removed-"));
      const root = "1 0 0:1 / / rw - ext4 /dev/vda rw\n";
      return parseMountInfo(aside === undefined ? root : `${root}2 1 0:2 / ${folder}/data/pods/${aside}/in rw - tmpfs tmpfs rw\n`);
    }
  }

  it("stops the delete, and everything is where it was", async () => {
    const pods = join(folder, "data/pods");
    mkdirSync(join(pods, "dir/in"));
    writeFileSync(join(pods, "dir/in/f"), "x");
    const files = await filesWith(new LateMount());
    await expect(files.removeAll(join(pods, "dir"))).rejects.toMatchObject({ code: "EBUSY" });
    expect(readdirSync(pods)).toEqual(["dir"]);
    expect(readdirSync(join(pods, "dir/in"))).toEqual(["f"]);
  });
});
