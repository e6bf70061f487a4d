import { describe, expect, it } from "vitest";
import { MemoryExec } from "@/server/hosts/memory";
import type { Program } from "@/server/hosts/memory";
import { mountCapability } from "./capabilities";

const works: Program = () => "";
const refused: Program = () => ({ exitCode: 1, output: "unshare: write failed /proc/self/uid_map: Operation not permitted\n" });
const noRoot: Program = ({ args }) => (args[0] === "-m" ? refused({ command: "", args, options: { timeoutMs: 1 } }) : "");

describe("what mounts are possible", () => {
  it("none, with the system's own words, when neither way works", async () => {
    expect(await mountCapability(new MemoryExec({ unshare: refused }))).toMatchObject({
      mode: "none",
      blockDevices: false,
      reason: expect.stringContaining("Operation not permitted"),
    });
  });

  it("none when the tool is missing", async () => {
    expect(await mountCapability(new MemoryExec())).toMatchObject({ mode: "none", reason: expect.stringContaining("executable file not found") });
  });

  it("a user namespace when only that works", async () => {
    expect(await mountCapability(new MemoryExec({ unshare: noRoot }))).toMatchObject({ mode: "user-namespace", blockDevices: false });
  });

  it.skipIf(process.geteuid?.() !== 0)("root's own when that works", async () => {
    expect(await mountCapability(new MemoryExec({ unshare: works }))).toMatchObject({ mode: "root" });
  });
});
