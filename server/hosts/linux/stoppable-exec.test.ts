import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoppableExec } from "@/server/hosts/stoppable-exec";
import { MemoryLog } from "@/server/hosts/memory";
import { LinuxExec } from "./exec";
import { isolatedFolder, removeFolder } from "./test-folder";

let folder = "";
beforeEach(() => {
  folder = isolatedFolder();
});
afterEach(() => removeFolder(folder));

const hanging = (name: string, before = "") => {
  const program = join(folder, name);
  writeFileSync(program, `#!/bin/sh\n${before}\necho begun > "$0.begun"\nwhile :; do sleep 1000; done\n`, { mode: 0o755 });
  return program;
};
const begun = (program: string) => readdirSync(folder).includes(`${program.slice(folder.length + 1)}.begun`);
const running = () =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });

describe("stopping what runs", () => {
  it("ends it, whether it wants or not, before it resolves, and starts nothing after", async () => {
    const exec = new StoppableExec(new LinuxExec(new MemoryLog()));
    const programs = [hanging("polite"), hanging("stubborn", "trap '' TERM")];
    const runs = programs.map((program) => exec.run(program, [], { timeoutMs: 60_000 }).catch((error: unknown) => error));
    await expect.poll(() => programs.every(begun)).toBe(true);
    await exec.stop();
    expect(running()).toEqual([]);
    for (const run of runs) expect(await run).toMatchObject({ code: "ABORT_ERR" });
    await expect(exec.run("true", [], { timeoutMs: 1000 })).rejects.toMatchObject({ code: "ABORT_ERR" });
    await exec.stop();
  });

  it("leaves the signal of a call its part", async () => {
    const exec = new StoppableExec(new LinuxExec(new MemoryLog()));
    const one = new AbortController();
    const program = hanging("polite");
    const run = exec.run(program, [], { timeoutMs: 60_000, signal: one.signal });
    await expect.poll(() => begun(program)).toBe(true);
    one.abort();
    await expect(run).rejects.toMatchObject({ code: "ABORT_ERR" });
    expect(await exec.run("true", [], { timeoutMs: 10_000, signal: new AbortController().signal })).toMatchObject({ exitCode: 0 });
  });
});
