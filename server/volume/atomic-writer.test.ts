import { describe, expect, it } from "vitest";
import { createMemoryHost, type MemoryHost } from "@/server/hosts/memory";
import { validPayload, writeAtomically, type FileProjection } from "@/server/volume/atomic-writer";

const dir = "/var/lib/kubelet/vol";

const payloadOf = (texts: Record<string, string>): Map<string, FileProjection> =>
  new Map(Object.entries(texts).map(([path, data]) => [path, { data, mode: 0o644 }]));

function start(): MemoryHost {
  return createMemoryHost({ files: { [dir]: { kind: "directory" } } });
}

const write = (memory: MemoryHost, texts: Record<string, string>, setPermissions?: () => Promise<void>) =>
  writeAtomically(memory.ports, { targetDir: dir, payload: payloadOf(texts), setPermissions });

async function seen({ files }: MemoryHost): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const { name, kind } of await files.readDir(dir)) {
    if (kind === "symlink" && !name.startsWith("..")) await read(name);
  }
  return texts;

  async function read(path: string): Promise<void> {
    if ((await files.stat(`${dir}/${path}`))?.kind === "directory") {
      for (const { name } of await files.readDir(`${dir}/${path}`)) await read(`${path}/${name}`);
    } else {
      texts[path] = await files.readText(`${dir}/${path}`);
    }
  }
}

const dataOf = (memory: MemoryHost) => memory.files.readLink(`${dir}/..data`);
const namesOf = async (memory: MemoryHost) => (await memory.files.readDir(dir)).map(({ name }) => name);

describe("paths", () => {
  it.each([
    ["", `invalid path: must not be empty: ""`],
    ["/abs", "invalid path: must be relative path: /abs"],
    ["../x", "invalid path: must not contain '..': ../x"],
    ["a/../b", "invalid path: must not contain '..': a/../b"],
    ["..sneaky", "invalid path: must not start with '..': ..sneaky"],
    ["x".repeat(4097), "invalid path: must be less than or equal to 4096 characters"],
    ["é".repeat(128), "invalid path: filenames must be less than or equal to 255 characters"],
  ])("%.20s is refused", (path, text) => {
    expect(() => validPayload(payloadOf({ [path]: "" }))).toThrow(text);
  });

  it.each(["a", ".dot", "a/..b", "a//b", "x".repeat(255), "__proto__"])("%.20s is allowed", (path) => {
    expect(validPayload(payloadOf({ [path]: "" })).size).toBe(1);
  });
});

describe("write", () => {
  it("touches nothing that a link of somebody else's leads to", async () => {
    const memory = start();
    await memory.files.writeFile("/var/lib/kubelet/other", "theirs", 0o600);
    await memory.files.symlink("../other", `${dir}/..data`);
    await write(memory, { foo: "1" });
    expect(await seen(memory)).toEqual({ foo: "1" });
    expect(await memory.files.readText("/var/lib/kubelet/other")).toBe("theirs");
  });

  it("shows files through links, with their modes", async () => {
    const memory = start();
    await write(memory, { foo: "1", "d/e/bar": "2", ".hidden": "3" });
    expect(await seen(memory)).toEqual({ foo: "1", "d/e/bar": "2", ".hidden": "3" });
    expect(await memory.files.readLink(`${dir}/d`)).toBe("..data/d");
    expect((await memory.files.stat(`${dir}/d/e/bar`))?.mode).toBe(0o644);
  });

  it("writes nothing when nothing changed, and brings back a link that was deleted", async () => {
    const memory = start();
    await write(memory, { foo: "1", bar: "2" });
    const before = await dataOf(memory);
    await memory.files.unlink(`${dir}/foo`);
    let asked = 0;
    await write(memory, { foo: "1", bar: "2" }, async () => void (asked += 1));
    expect(await dataOf(memory)).toBe(before);
    expect(asked).toBe(0);
    expect(await seen(memory)).toEqual({ foo: "1", bar: "2" });
  });

  it.each([
    ["a changed file", { foo: "new", bar: "2" }],
    ["a file more", { foo: "1", bar: "2", more: "3" }],
    ["a file less", { foo: "1" }],
    ["a file that moved into a folder", { foo: "1", "d/bar": "2" }],
    ["nothing at all", {}],
  ])("replaces everything for %s and leaves no old data", async (_, next: Record<string, string>) => {
    const memory = start();
    await write(memory, { foo: "1", bar: "2" });
    memory.clock.advance(1000);
    await write(memory, next);
    expect(await seen(memory)).toEqual(next);
    const tops = new Set(Object.keys(next).map((path) => path.split("/")[0]));
    expect(new Set(await namesOf(memory))).toEqual(new Set([...tops, "..data", await dataOf(memory)]));
  });

  it("keeps the old data when the new can't be owned", async () => {
    const memory = start();
    await write(memory, { foo: "1" });
    await expect(write(memory, { foo: "2" }, () => Promise.reject(new Error("no such group")))).rejects.toThrow("no such group");
    expect(await seen(memory)).toEqual({ foo: "1" });
  });

  it("sets the permissions before anybody sees the files", async () => {
    const memory = start();
    await write(memory, { foo: "1" }, async () => {
      expect(await namesOf(memory)).not.toContain("..data");
    });
    expect(await seen(memory)).toEqual({ foo: "1" });
  });

  it("needs the directory", async () => {
    await expect(write(createMemoryHost(), { foo: "1" })).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("gives a file its owner", async () => {
    const memory = start();
    await writeAtomically(memory.ports, { targetDir: dir, payload: new Map([["f", { data: "x", mode: 0o400, fsUser: 1000 }]]) });
    expect(await memory.files.stat(`${dir}/f`)).toMatchObject({ uid: 1000, mode: 0o400 });
  });
});

describe("after a kill", () => {
  it.each([
    ["before the swap", "..2026_01_01_00_00_00.1", true],
    ["between the rename and the clean-up", "..2026_01_01_00_00_00.1", false],
  ])("%s: the next write ends as if nothing had happened", async (_, leftover, withLink) => {
    const memory = start();
    await write(memory, { foo: "1" });
    memory.files.seed({ [`${dir}/${leftover}/gone`]: "old", [`${dir}/gone`]: { kind: "symlink", target: "..data/gone" } });
    if (withLink) memory.files.seed({ [`${dir}/..data_tmp`]: { kind: "symlink", target: leftover } });

    await write(memory, { foo: "2" });
    expect(await seen(memory)).toEqual({ foo: "2" });
    expect(new Set(await namesOf(memory))).toEqual(new Set(["foo", "..data", await dataOf(memory)]));
  });
});
