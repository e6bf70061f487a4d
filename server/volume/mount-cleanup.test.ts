import { describe, expect, it } from "vitest";
import { createMemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { cleanupMountPoint, cleanupTools, isCorruptedMount } from "@/server/volume/mount-cleanup";
import { FileError } from "@/server/volume/ports";

const dir = "/var/lib/kubelet/vol";
const folder = { [dir]: { kind: "directory" } } as const;
const tmpfs = { source: "tmpfs", target: dir, fsType: "tmpfs", options: [] };

function start(options: MemoryHostOptions = {}) {
  const memory = createMemoryHost({ files: folder, ...options });
  const unmounts = () => memory.mounter.log.actions.filter(({ op }) => op === "unmount").length;
  return { memory, unmounts, cleanup: (extensive = true) => cleanupMountPoint(cleanupTools(memory.host), dir, { extensive }) };
}

describe.each([true, false])("skipping the check is safe: %s", (skipMountPointCheck) => {
  it.each([true, false])("extensive %s: a mount is taken off, its directory removed, a second time nothing is to do", async (extensive) => {
    const { memory, cleanup } = start({ skipMountPointCheck });
    await memory.mounter.mount(tmpfs);
    await cleanup(extensive);
    expect((await memory.mounter.list()).map(({ path }) => path)).not.toContain(dir);
    expect(await memory.files.lstat(dir)).toBeUndefined();
    await cleanup(extensive);
  });

  it("removes a directory without a mount", async () => {
    const { memory, cleanup } = start({ skipMountPointCheck });
    await cleanup();
    expect(await memory.files.lstat(dir)).toBeUndefined();
  });

  it("never deletes content", async () => {
    const { memory, cleanup } = start({ skipMountPointCheck, files: { [`${dir}/data`]: "precious" } });
    await expect(cleanup()).rejects.toThrow(`remove ${dir}: directory not empty`);
    expect(await memory.files.readText(`${dir}/data`)).toBe("precious");
  });

  it("unmounts a mount whose server is gone without looking into it", async () => {
    const { memory, unmounts, cleanup } = start({ skipMountPointCheck });
    memory.files.failOn("stat", dir, new FileError("ESTALE", "stale", dir));
    await memory.mounter.mount(tmpfs);
    await cleanup().catch(() => undefined);
    expect(unmounts()).toBe(1);
  });
});

it("a path that can't be looked at is an error", async () => {
  const { memory, cleanup } = start();
  memory.files.failOn("stat", dir, new FileError("ELOOP", "stat: too many links", dir));
  await expect(cleanup()).rejects.toThrow("Error checking path: stat: too many links");
});

it("says that a mount is still there after an unmount", async () => {
  const { memory, cleanup } = start({ skipMountPointCheck: false });
  await memory.mounter.mount(tmpfs);
  await memory.mounter.mount(tmpfs);
  await expect(cleanup()).rejects.toThrow(`failed to cleanup mount point ${dir}`);
});

it("forces the unmount where the mounter can and a time is given", async () => {
  const { memory } = start();
  const forced: number[] = [];
  await memory.mounter.mount(tmpfs);
  const mounter = Object.assign(memory.mounter, {
    unmountWithForce: async (target: string, afterMs: number) => {
      forced.push(afterMs);
      await memory.mounter.unmount(target);
    },
  });
  await cleanupMountPoint({ files: memory.files, mounter }, dir, { extensive: true, forceAfterMs: 60_000 });
  expect(forced).toEqual([60_000]);
  expect(await memory.files.lstat(dir)).toBeUndefined();
});

it.each([
  ["ESTALE", true],
  ["ENOTCONN", true],
  ["ETIMEDOUT", true],
  ["ENOENT", false],
])("%s means a broken mount: %s", (code, corrupted) => {
  expect(isCorruptedMount(new FileError(code, "", dir))).toBe(corrupted);
});
