import { describe, expect, it } from "vitest";
import { createMemoryHost } from "@/server/hosts/memory";
import { setVolumeOwnership, type OwnershipChange } from "@/server/volume/volume-ownership";

const dir = "/var/lib/kubelet/vol";

function start() {
  const memory = createMemoryHost({
    files: {
      [dir]: { kind: "directory", mode: 0o755 },
      [`${dir}/sub/file`]: { kind: "file", mode: 0o600 },
      [`${dir}/script`]: { kind: "file", mode: 0o700 },
      "/outside": { kind: "file", mode: 0o600 },
      [`${dir}/link`]: { kind: "symlink", target: "/outside" },
    },
  });
  const change = (more: Partial<OwnershipChange> = {}) => setVolumeOwnership(memory.host, { dir, fsGroup: 2000, readOnly: false, ...more });
  const look = async (path: string) => {
    const stat = await memory.files.lstat(path);
    return stat && { gid: stat.gid, mode: stat.mode.toString(8) };
  };
  return { memory, change, look };
}

describe("setVolumeOwnership", () => {
  it.each([
    [false, "2775", "660", "760"],
    [true, "2755", "640", "740"],
  ])("read-only %s: directories %s, files %s", async (...[readOnly, directory, file, script]) => {
    const { change, look } = start();
    await change({ readOnly });
    expect(await look(dir)).toEqual({ gid: 2000, mode: directory });
    expect(await look(`${dir}/sub`)).toEqual({ gid: 2000, mode: directory });
    expect(await look(`${dir}/sub/file`)).toEqual({ gid: 2000, mode: file });
    expect(await look(`${dir}/script`)).toEqual({ gid: 2000, mode: script });
  });

  it("changes a link and never what it points to", async () => {
    const { change, look } = start();
    await change();
    expect(await look(`${dir}/link`)).toMatchObject({ gid: 2000 });
    expect(await look("/outside")).toEqual({ gid: 0, mode: "600" });
  });

  it("stays out of what is mounted below", async () => {
    const { memory, change, look } = start();
    await memory.mounter.mount({ source: "tmpfs", target: `${dir}/sub`, fsType: "tmpfs", options: ["mode=0755"] });
    await memory.files.writeFile(`${dir}/sub/theirs`, "", 0o600);
    await change();
    expect(await look(`${dir}/sub`)).toEqual({ gid: 0, mode: "755" });
    expect(await look(`${dir}/sub/theirs`)).toEqual({ gid: 0, mode: "600" });
  });

  it("does nothing without a group", async () => {
    const { change, look } = start();
    await change({ fsGroup: undefined });
    expect(await look(dir)).toEqual({ gid: 0, mode: "755" });
  });

  it("logs what refuses and goes on with the rest", async () => {
    const { memory, change, look } = start();
    memory.files.failOn("lchown", `${dir}/script`, new Error("immutable"));
    await change();
    expect(await look(`${dir}/script`)).toEqual({ gid: 0, mode: "760" });
    expect(await look(`${dir}/sub/file`)).toMatchObject({ gid: 2000 });
  });

  it("throws for a volume that is not there", async () => {
    const { change } = start();
    await expect(change({ dir: `${dir}/none` })).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("OnRootMismatch", () => {
  it.each([
    ["the root fits", 2000, 0o2770, "600"],
    ["another group", 3000, 0o2770, "660"],
    ["no set-gid", 2000, 0o770, "660"],
    ["the group may not write", 2000, 0o2750, "660"],
  ])("%s", async (...[, gid, mode, fileMode]) => {
    const { memory, change, look } = start();
    await memory.files.chown(dir, -1, gid);
    await memory.files.chmod(dir, mode);
    await change({ fsGroupChangePolicy: "OnRootMismatch" });
    expect((await look(`${dir}/sub/file`))?.mode).toBe(fileMode);
  });
});
