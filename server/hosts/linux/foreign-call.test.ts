import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "@/server/hosts/memory";
import { ForeignCalls } from "./foreign-call";
import { recordOf, statOfAnswer } from "./foreign-answers";
import { isolatedFolder, removeFolder } from "./test-folder";

let folder = "";
let calls: ForeignCalls;

beforeEach(() => {
  folder = isolatedFolder();
  calls = new ForeignCalls({ log: new MemoryLog() });
});
afterEach(() => {
  calls.close();
  removeFolder(folder);
});

const ask = (call: string, segments: readonly string[], args: Readonly<Record<string, unknown>> = {}): ReturnType<ForeignCalls["ask"]> =>
  calls.ask({ place: { start: folder, segments }, call, args }, segments.join("/"));

describe("calls in a child", () => {
  it("write, read, stat and list like the calls in this process", async () => {
    expect(await ask("mkdir", ["d"], { mode: 0o750 })).toEqual({ value: undefined });
    await ask("writeFile", ["d", "f"], { data: Buffer.from("hello").toString("base64"), mode: 0o640 });
    expect(readFileSync(join(folder, "d/f"), "utf8")).toBe("hello");
    expect(await ask("readFile", ["d", "f"])).toEqual({ value: Buffer.from("hello").toString("base64") });
    const stat = await ask("lstat", ["d", "f"]);
    expect("value" in stat && statOfAnswer(recordOf(stat.value))).toMatchObject({ kind: "file", mode: 0o640, sizeBytes: 5n });
    expect(await ask("readDir", ["d"])).toMatchObject({ value: [{ name: "f" }] });
    expect(await ask("statfs", ["d"])).toMatchObject({ value: { bsize: expect.stringMatching(/^\d+$/) } });
  });

  it("change names, modes and owners, and remove", async () => {
    writeFileSync(join(folder, "a"), "x");
    await ask("rename", ["a"], { to: { start: folder, segments: ["b"] } });
    await ask("chmod", ["b"], { mode: 0o600 });
    await ask("chown", ["b"], { uid: -1, gid: -1 });
    await ask("symlink", ["l"], { target: "b" });
    expect(await ask("readLink", ["l"])).toEqual({ value: "b" });
    await ask("unlink", ["l"]);
    await ask("unlink", ["b"]);
    expect(await ask("readDir", [])).toEqual({ value: [] });
  });

  it("tell the code of an error", async () => {
    expect(await ask("lstat", ["none"])).toMatchObject({ code: "ENOENT" });
    expect(await ask("rmdir", ["none", "x"])).toMatchObject({ code: "ENOENT" });
  });

  it("follow no link, on the way or at the end", async () => {
    mkdirSync(join(folder, "d"));
    writeFileSync(join(folder, "d/f"), "mine");
    symlinkSync("d", join(folder, "ld"));
    symlinkSync("d/f", join(folder, "lf"));
    expect(await ask("writeFile", ["ld", "f"], { data: "", mode: 0o644 })).toHaveProperty("code");
    expect(await ask("writeFile", ["lf"], { data: "", mode: 0o644 })).toMatchObject({ code: "ELOOP" });
    expect(await ask("chmod", ["lf"], { mode: 0o777 })).toMatchObject({ code: "ELOOP" });
    expect(readFileSync(join(folder, "d/f"), "utf8")).toBe("mine");
  });

  it("use one child for calls in turn, and several for calls at once", async () => {
    await ask("readDir", []);
    await ask("readDir", []);
    expect(calls.children).toBe(1);
    await Promise.all([ask("readDir", []), ask("readDir", []), ask("readDir", [])]);
    expect(calls.children).toBe(3);
  });

  it("carry a file larger than a pipe holds", async () => {
    writeFileSync(join(folder, "big"), Buffer.alloc(1 << 20, 7));
    const answer = await ask("readFile", ["big"]);
    expect("value" in answer && Buffer.from(String(answer.value), "base64").length).toBe(1 << 20);
  });
});

describe("a child's answer", () => {
  it.each([
    ["that is no JSON is an error of the call", String.raw`printf 'nonsense\n'`, { code: "EIO" }],
    ["that is cut within a character is whole again", String.raw`printf '{"value":"\303'; sleep 0.05; printf '\251"}\n'`, { value: "é" }],
  ])("%s", async (_, script, answer) => {
    const odd = new ForeignCalls({ log: new MemoryLog(), command: ["sh", "-c", `read line; ${script}; read line`] });
    expect(await odd.ask({ place: { start: "/", segments: [] }, call: "lstat", args: {} }, "/a")).toMatchObject(answer);
    odd.close();
  });
});

describe("a child that hangs", () => {
  const hanging = (log: MemoryLog, maxChildren: number): ForeignCalls =>
    new ForeignCalls({ log, timeoutMs: 50, maxChildren, command: ["sleep", "1000"] });
  const request = { place: { start: "/", segments: [] }, call: "lstat", args: {} };

  it("is given up after the time limit and reported", async () => {
    const log = new MemoryLog();
    const hung = hanging(log, 8);
    await expect(hung.ask(request, "/mnt/dead")).rejects.toMatchObject({ code: "ETIMEDOUT", path: "/mnt/dead" });
    expect(log.entries).toMatchObject([{ level: "warn", message: expect.stringContaining("hangs") }]);
    hung.close();
  });

  it("does not keep the next call from an answer of its own", async () => {
    const hung = hanging(new MemoryLog(), 8);
    const both = await Promise.allSettled([hung.ask(request, "/a"), hung.ask(request, "/b")]);
    expect(both.map((result) => result.status)).toEqual(["rejected", "rejected"]);
    await ask("readDir", []);
    hung.close();
  });
});
