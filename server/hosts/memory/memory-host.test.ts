import { describe, expect, it } from "vitest";
import { createMemoryHost, FakeClock, SeededRandom } from "@/server/hosts/memory";

const root = "/var/lib/kubelet";

describe("memory host", () => {
  it("hides what a mount covers and shows it again after the unmount", async () => {
    const { files, mounter } = createMemoryHost({ files: { [`${root}/dir/below`]: "old" } });
    await mounter.mount({ source: "tmpfs", target: `${root}/dir`, fsType: "tmpfs", options: ["size=8192"] });
    expect(await files.readDir(`${root}/dir`)).toEqual([]);
    expect((await files.stat(`${root}/dir`))?.mode).toBe(0o1777);
    await files.writeFile(`${root}/dir/a`, "x".repeat(4096), 0o600);
    await expect(files.writeFile(`${root}/dir/b`, "x".repeat(4097), 0o600)).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(files.removeAll(`${root}/dir`)).rejects.toMatchObject({ code: "EBUSY" });
    await mounter.unmount(`${root}/dir`);
    expect(await files.readText(`${root}/dir/below`)).toBe("old");
  });

  it("records mounts only, without covering anything, when asked to", async () => {
    const { files, mounter } = createMemoryHost({ mounting: "recorded", files: { [`${root}/dir/below`]: "old" } });
    await mounter.mount({ source: "tmpfs", target: `${root}/dir`, fsType: "tmpfs", options: ["noswap"] });
    expect(await mounter.isMountPoint(`${root}/dir`)).toBe(true);
    expect(await files.readText(`${root}/dir/below`)).toBe("old");
    expect(mounter.log.actions).toEqual([
      { op: "mount", source: "tmpfs", target: `${root}/dir`, fsType: "tmpfs", options: ["noswap"] },
    ]);
    await files.removeAll(`${root}/dir`);
    expect(await files.stat(`${root}/dir`)).toBeUndefined();
  });

  it("logs a mount that fails and throws the injected error as it is", async () => {
    const failure = new Error("mount went wrong");
    const { mounter } = createMemoryHost({ mountFailures: { mount: () => failure } });
    await expect(mounter.mount({ source: "a", target: `${root}/x`, fsType: "nfs", options: [] })).rejects.toBe(failure);
    expect(mounter.log.actions).toHaveLength(1);
  });

  it("tells watchers of changes below their folder", async () => {
    const { files, watcher } = createMemoryHost({ files: { [`${root}/w`]: { kind: "directory" } } });
    const seen: string[] = [];
    const handle = await watcher.watch(`${root}/w`, { onEvent: ({ kind, path }) => seen.push(`${kind} ${path}`), onError: () => undefined });
    await files.mkdirAll(`${root}/w/a`, 0o755);
    await files.mkdirAll(`${root}/other`, 0o755);
    await handle.close();
    await files.rmdir(`${root}/w/a`);
    expect(seen).toEqual([`create ${root}/w/a`]);
  });
});

describe("fake clock", () => {
  it("wakes each sleeper at its own time", async () => {
    const clock = new FakeClock(0);
    const woke: number[] = [];
    const twice = async (): Promise<void> => {
      await clock.sleep(10);
      woke.push(clock.nowMs());
      await clock.sleep(10);
      woke.push(clock.nowMs());
    };
    const done = twice();
    await clock.advance(25);
    await done;
    expect(woke).toEqual([10, 20]);
    expect(clock.nowMs()).toBe(25);
  });

  it("ends a sleep by its signal with ABORT_ERR", async () => {
    const clock = new FakeClock(0);
    const stop = new AbortController();
    const sleep = clock.sleep(10, stop.signal);
    stop.abort();
    await expect(sleep).rejects.toMatchObject({ code: "ABORT_ERR" });
    expect(clock.sleeping).toBe(0);
  });
});

describe("seeded random", () => {
  it("gives the same numbers and well formed uuids for the same seed", () => {
    const [a, b] = [new SeededRandom(7), new SeededRandom(7)];
    expect(a.next()).toBe(b.next());
    expect(a.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
