import { appendFileSync, chmodSync, mkdirSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { codeOf } from "@/lib/errors";
import type { WatchHandle } from "@/server/volume/ports";
import { Access } from "./access";
import { isolatedFolder, removeFolder } from "./test-folder";
import { LinuxWatcher } from "./watcher";

let folder = "";
let handle: WatchHandle | undefined;
let seen: string[] = [];
let errors: (string | undefined)[] = [];

beforeEach(() => {
  folder = isolatedFolder();
  seen = [];
  errors = [];
});
afterEach(async () => {
  await handle?.close();
  removeFolder(folder);
});

async function watch(options: { rescanMs?: number; inotify?: boolean } = {}): Promise<void> {
  const watcher = new LinuxWatcher({ access: await Access.create({ root: folder }), ...options });
  handle = await watcher.watch(folder, {
    onEvent: ({ kind, path }) => seen.push(`${kind} ${path.slice(folder.length + 1)}`),
    onError: (error) => errors.push(codeOf(error)),
  });
}

const told = (...events: readonly string[]): Promise<void> => vi.waitFor(() => expect(seen).toEqual(expect.arrayContaining([...events])), { timeout: 15_000 });

describe("watcher", () => {
  it("tells of files made, written, changed in mode and removed", async () => {
    await watch();
    writeFileSync(join(folder, "f"), "x");
    await told("create f");
    appendFileSync(join(folder, "f"), "y");
    await told("write f");
    chmodSync(join(folder, "f"), 0o600);
    await told("chmod f");
    unlinkSync(join(folder, "f"));
    await told("remove f");
  });

  it("tells of what was put into a new folder before it could be watched", async () => {
    await watch();
    mkdirSync(join(folder, "a/b/c"), { recursive: true });
    writeFileSync(join(folder, "a/b/c/f"), "x");
    await told("create a", "create a/b", "create a/b/c", "create a/b/c/f");
    writeFileSync(join(folder, "a/b/c/g"), "x");
    await told("create a/b/c/g");
  });

  it.each([true, false])("tells of its own folder's removal after what was in it (inotify: %s)", async (inotify) => {
    mkdirSync(join(folder, "a"));
    await watch({ inotify, rescanMs: 50 });
    removeFolder(folder);
    await told("remove a", "remove ");
    expect(seen.indexOf("remove a")).toBeLessThan(seen.indexOf("remove "));
  });

  it("takes what is there at first for known", async () => {
    writeFileSync(join(folder, "old"), "x");
    await watch();
    writeFileSync(join(folder, "new"), "x");
    await told("create new");
    expect(seen).not.toContain("create old");
  });

  it("tells of a rename as one gone and one come", async () => {
    mkdirSync(join(folder, "a"));
    writeFileSync(join(folder, "a/f"), "x");
    await watch();
    renameSync(join(folder, "a"), join(folder, "b"));
    await told("remove a/f", "remove a", "create b", "create b/f");
  });

  it("tells of a file that another took the place of", async () => {
    writeFileSync(join(folder, "f"), "x");
    await watch();
    writeFileSync(join(folder, "tmp"), "y");
    renameSync(join(folder, "tmp"), join(folder, "f"));
    await told("remove f", "create f");
  });

  it("tells of folders removed", async () => {
    mkdirSync(join(folder, "a/b"), { recursive: true });
    await watch();
    rmdirSync(join(folder, "a/b"));
    rmdirSync(join(folder, "a"));
    await told("remove a/b", "remove a");
  });

  it("finds by a scan what inotify did not tell, and reports the loss", async () => {
    await watch({ rescanMs: 5, inotify: false });
    mkdirSync(join(folder, "a"));
    writeFileSync(join(folder, "a/f"), "x");
    await told("create a", "create a/f");
    await vi.waitFor(() => expect(errors).toContain("EOVERFLOW"), { timeout: 15_000 });
  });

  it("refuses a folder that is missing, or outside", async () => {
    const watcher = new LinuxWatcher({ access: await Access.create({ root: folder }) });
    const handlers = { onEvent: () => undefined, onError: () => undefined };
    await expect(watcher.watch(join(folder, "none"), handlers)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(watcher.watch("/etc", handlers)).rejects.toMatchObject({ code: "EACCES" });
  });

  it("tells nothing after it was closed", async () => {
    await watch();
    await handle?.close();
    writeFileSync(join(folder, "f"), "x");
    await watch();
    writeFileSync(join(folder, "g"), "x");
    await told("create g");
    expect(seen).toEqual(["create g"]);
  });
});
