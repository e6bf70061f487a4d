/** On a file system that is really full; left out where it is not root. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeOf } from "@/lib/errors";
import { openJournal } from "./journal";
import { Operations } from "./operations";
import { input, options, setUp } from "./test-cluster";

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log("a journal on a full disk: skipped: not root");

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}

/** The mount point of a file system of 256 KiB. */
function smallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), "voldeck-small-"));
  run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder);
  onTestFinished(() => {
    run("umount", folder);
    rmdirSync(folder);
  });
  return folder;
}

/** Takes every byte that is left. */
function fill(folder: string): string {
  const path = join(folder, "filling");
  for (const bytes of [4096, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes), { flag: "a" });
    } catch (error) {
      if (codeOf(error) !== "ENOSPC") throw error;
    }
  }
  return path;
}

describe.skipIf(!isRoot)("a journal on a full disk", () => {
  it("takes no intent, so that nothing is sent, and works again when there is room", async () => {
    const { cluster, ports } = setUp();
    const folder = smallDisk();
    const journal = openJournal(join(folder, "journal.sqlite"));
    onTestFinished(() => journal.close());
    const operations = new Operations({ ...ports(), journal });
    const filling = fill(folder);
    const refusal = { code: "precondition", message: "Nothing was sent: the journal of operations can't be written: database or disk is full" };
    await expect(operations.expandClaim(input, options)).rejects.toMatchObject(refusal);
    await expect(operations.expandClaim(input, options)).rejects.toMatchObject(refusal);
    expect(cluster.patches).toEqual([]);
    expect(operations.list("c")).toEqual([]);
    unlinkSync(filling);
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "following" });
    expect(cluster.patches).toHaveLength(1);
  });
});
